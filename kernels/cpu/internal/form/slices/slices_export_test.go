package slices

import (
	"slices"

	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

// Orders returns the two orders of the rows of slices.
func Orders[V sparse.Value](f form.Form[V]) [2][]uint16 {
	s := f.(*slicesForm[V])
	return [2][]uint16{s.order, s.rowOf}
}

// RegularColumns returns the number of consecutive columns and of pairs of columns of slices.
func RegularColumns[V sparse.Value](f form.Form[V]) (consecutive, pairs int) {
	s := f.(*slicesForm[V])
	for n := range slices.Chunk(slices.Concat(s.narrow.Regular, s.wide.Regular), 2) {
		consecutive, pairs = consecutive+int(n[0]), pairs+int(n[1])
	}
	return consecutive, pairs
}

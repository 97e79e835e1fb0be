package slices

import (
	"slices"

	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

// AsksAhead reports whether slices, or those of near-far, prefetch their values and columns.
func AsksAhead[V sparse.Value](f form.Form[V]) bool {
	switch f := f.(type) {
	case *slicesForm[V]:
		return !f.narrow.Near && !f.wide.Near
	case *nearFarForm[V]:
		return !slices.ContainsFunc(f.blocks, func(b nearFarBlock[V]) bool { return !AsksAhead[V](b.slices) })
	}
	panic("neither slices nor near-far")
}

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

// WithLoneCache calls f while near-far fits its blocks to a second-level cache of that many bytes,
// or of an unknown size if negative.
func WithLoneCache(bytes int, f func()) {
	defer func(old int) { loneCache = old }(loneCache)
	loneCache = bytes
	f()
}

// NarrowBlocks returns the number of rows of each block of near-far with columns of 2 bytes.
func NarrowBlocks(f form.Form[float64]) (rows []int) {
	for _, b := range f.(*nearFarForm[float64]).blocks {
		if len(b.slices.wide.Wide) == 0 {
			rows = append(rows, b.slices.rows)
		}
	}
	return rows
}

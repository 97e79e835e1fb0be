package cpu

import (
	"fmt"
	"sort"

	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/csr"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// majorProductFixed runs kernels.MajorProductFixed. The workers divide the rows among them; no row is cut.
func majorProductFixed[V sparse.Value](d *Device, op *kernels.MajorProductFixed[V]) (err error) {
	v := newViews(d)
	defer v.close(&err)
	a := viewCompressed(v, op.A)
	x := view(v, "x", op.X, op.X.Len)
	y := view(v, "y", op.Y, int64(op.A.Part.OwnEnd-op.A.Part.OwnFirst))
	if v.err != nil {
		return v.err
	}
	if !whole(a.ptr, a.part) {
		return fmt.Errorf("%w: part %+v does not hold whole rows", kernels.ErrArgument, a.part)
	}
	n := d.workers(a.part)
	base := a.part.StartIdx
	return d.runPart(a.part, n, func(i int) {
		lo, hi := wholeRows(a.ptr, n, i), wholeRows(a.ptr, n, i+1)
		from, to := a.ptr[lo]-base, a.ptr[hi]-base
		rows := form.Rows[V]{Ptr: a.ptr[lo : hi+1], Idx: a.idx[from:to], Val: a.val[from:to]}
		csr.MultiplyFixed(simd.Default(), rows, op.Short, op.Alpha, op.Beta, x, y[lo:hi])
	})
}

// whole reports whether a part holds all entries of every row of which it holds any.
func whole(ptr []int64, p partition.Part) bool {
	return !p.StartFlag && ptr[0] == p.StartIdx && ptr[len(ptr)-1] == p.EndIdx+1
}

// wholeRows returns the first row of piece i of parts. The pieces have about equal sums of rows and entries, as far
// as whole rows allow.
func wholeRows(ptr []int64, parts, i int) int {
	rows := len(ptr) - 1
	before := func(r int) int64 { return ptr[r] - ptr[0] + int64(r) }
	want := par.Cut(before(rows), parts, i)
	r := sort.Search(rows, func(r int) bool { return before(r) >= want })
	if r > 0 && want-before(r-1) < before(r)-want {
		r--
	}
	return r
}

// wholeParts cuts a part that holds whole rows, with row pointers ptr, into n parts that do.
func wholeParts(ptr []int64, n int) []partition.Part {
	parts := make([]partition.Part, n)
	for i := range parts {
		lo, hi := wholeRows(ptr, n, i), wholeRows(ptr, n, i+1)
		parts[i] = partition.Part{StartIdx: ptr[lo], EndIdx: ptr[hi] - 1, OwnFirst: lo, OwnEnd: hi}
		locate(&parts[i], ptr)
	}
	return parts
}

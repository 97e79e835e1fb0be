package rows

import (
	"fmt"
	"sort"

	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/csr"
	"github.com/msrep-go/msrep/kernels/cpu/internal/memory"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// MajorProductFixed runs kernels.MajorProductFixed. The workers divide the rows among them; no row is cut.
func MajorProductFixed[V sparse.Value](d *memory.Memory, op *kernels.MajorProductFixed[V]) (err error) {
	v := memory.NewViews(d)
	defer v.Close(&err)
	a := viewCompressed(v, op.A)
	x := memory.View(v, "x", op.X, op.X.Len)
	y := memory.View(v, "y", op.Y, int64(op.A.Part.OwnEnd-op.A.Part.OwnFirst))
	if v.Err != nil {
		return v.Err
	}
	if !IsWhole(a.ptr, a.part) {
		return fmt.Errorf("%w: part %+v does not hold whole rows", kernels.ErrArgument, a.part)
	}
	n := d.Pool.For(a.part)
	base := a.part.StartIdx
	return d.Pool.RunPart(a.part, n, func(i int) {
		lo, hi := WholeRows(a.ptr, n, i), WholeRows(a.ptr, n, i+1)
		from, to := a.ptr[lo]-base, a.ptr[hi]-base
		rows := form.Rows[V]{Ptr: a.ptr[lo : hi+1], Idx: a.idx[from:to], Val: a.val[from:to]}
		csr.MultiplyFixed(simd.Default(), rows, op.Short, op.Alpha, op.Beta, x, y[lo:hi])
	})
}

// IsWhole reports whether a part holds all entries of every row of which it holds any.
func IsWhole(ptr []int64, p partition.Part) bool {
	return !p.StartFlag && ptr[0] == p.StartIdx && ptr[len(ptr)-1] == p.EndIdx+1
}

// WholeRows returns the first row of piece i of parts. The pieces have about equal sums of rows and entries, as far
// as whole rows allow.
func WholeRows(ptr []int64, parts, i int) int {
	rows := len(ptr) - 1
	before := func(r int) int64 { return ptr[r] - ptr[0] + int64(r) }
	want := par.Cut(before(rows), parts, i)
	r := sort.Search(rows, func(r int) bool { return before(r) >= want })
	if r > 0 && want-before(r-1) < before(r)-want {
		r--
	}
	return r
}

// CutWhole cuts a part that holds whole rows, with row pointers ptr, into n parts that do.
func CutWhole(ptr []int64, n int) []partition.Part {
	parts := make([]partition.Part, n)
	for i := range parts {
		lo, hi := WholeRows(ptr, n, i), WholeRows(ptr, n, i+1)
		parts[i] = partition.Part{StartIdx: ptr[lo], EndIdx: ptr[hi] - 1, OwnFirst: lo, OwnEnd: hi}
		locate(&parts[i], ptr)
	}
	return parts
}

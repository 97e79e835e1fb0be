// Package rows multiplies parts of a matrix whose rows or entries stay as they are: in CSR, or as coordinates. It cuts
// them among the workers and joins the rows that these share.
package rows

import (
	"fmt"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/kernels/cpu/internal/memory"
	"github.com/msrep-go/msrep/kernels/cpu/internal/workers"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// compressed is kernels.Compressed as slices.
type compressed[V sparse.Value] struct {
	part partition.Part
	ptr  []int64
	idx  []int32
	val  []V
}

// NewCompressed returns a part with these arrays.
func NewCompressed[V sparse.Value](p partition.Part, ptr []int64, idx []int32, val []V) compressed[V] {
	return compressed[V]{p, ptr, idx, val}
}

func viewCompressed[V sparse.Value](v *memory.Views, a kernels.Compressed[V]) compressed[V] {
	p := a.Part
	if v.Err == nil && (p.First() != 0 || p.Majors() < 0 || p.NNZ() < 0) {
		v.Err = fmt.Errorf("%w: part %+v does not count from its first row", kernels.ErrArgument, p)
	}
	return compressed[V]{
		part: p,
		ptr:  memory.View(v, "ptr", a.Ptr, int64(p.Majors())+1),
		idx:  memory.View(v, "idx", a.Idx, p.NNZ()),
		val:  memory.View(v, "val", a.Val, p.NNZ()),
	}
}

// Split cuts the part among the workers of the device.
func (a compressed[V]) Split(pool *workers.Pool) ([]partition.Part, error) {
	n := pool.For(a.part)
	if n == 1 {
		return []partition.Part{a.part}, nil
	}
	return partition.Within(a.ptr, a.part, n)
}

func (a compressed[V]) Columns() (minors []int32, base int64) { return a.idx, a.part.StartIdx }

// coordinate is kernels.Coordinate as slices.
type coordinate[V sparse.Value] struct {
	part         partition.Part
	major, minor []int32
	val          []V
}

func viewCoordinate[V sparse.Value](v *memory.Views, a kernels.Coordinate[V]) coordinate[V] {
	p := a.Part
	if v.Err == nil && (p.StartIdx != 0 || p.Majors() < 0 || p.NNZ() < 0) {
		v.Err = fmt.Errorf("%w: part %+v does not count from its first entry", kernels.ErrArgument, p)
	}
	return coordinate[V]{
		part:  p,
		major: memory.View(v, "major", a.Major, p.NNZ()),
		minor: memory.View(v, "minor", a.Minor, p.NNZ()),
		val:   memory.View(v, "val", a.Val, p.NNZ()),
	}
}

func (a coordinate[V]) Split(pool *workers.Pool) ([]partition.Part, error) {
	n := pool.For(a.part)
	if n == 1 {
		return []partition.Part{a.part}, nil
	}
	return partition.WithinCOO(a.major, a.part, n)
}

func (a coordinate[V]) Columns() (minors []int32, base int64) { return a.minor, 0 }

// PieceRows is the three groups of rows of a piece.
type PieceRows[V sparse.Value] struct {
	Head, Body, Tail form.Rows[V]
}

// CutRows returns the rows of q, a piece of a part whose entries begin at base.
func CutRows[V sparse.Value](q partition.Part, base int64, ptr []int64, idx []int32, val []V, minors int) PieceRows[V] {
	end := q.EndIdx + 1
	rows := func(ptr []int64) form.Rows[V] {
		lo, hi := ptr[0]-base, ptr[len(ptr)-1]-base
		return form.Rows[V]{Ptr: ptr, Idx: idx[lo:hi], Val: val[lo:hi], Cols: minors}
	}
	var out PieceRows[V]
	if q.StartFlag {
		out.Head = rows([]int64{q.StartIdx, min(ptr[q.StartMajor+1], end)})
	}
	last := q.OwnEnd
	if last > q.OwnFirst && ptr[last] > end {
		last--
		out.Tail = rows([]int64{ptr[last], end})
	}
	out.Body = rows(form.Clip(ptr[q.OwnFirst:last+1], q.StartIdx, end))
	return out
}

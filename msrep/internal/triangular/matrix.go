// Package triangular solves systems with a triangular matrix on the devices of a System.
package triangular

import (
	"fmt"
	"slices"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
)

// Matrix is a triangular matrix: its diagonal, and its other entries in rows with increasing columns.
type Matrix[V sparse.Value] struct {
	Upper bool
	N     int
	Ptr   []int64
	Idx   []int32
	Val   []V
	Diag  []V // nil if all elements are 1
}

// Extract returns the lower or the upper triangle of a valid square matrix. It adds duplicates. With unit, the diagonal
// is 1 whatever a has there; otherwise an element of the diagonal that is 0 is a *sparse.InputError.
func Extract[V sparse.Value](a *sparse.CSR[V], upper, unit bool) (*Matrix[V], error) {
	if a.Rows != a.Cols {
		return nil, sparse.Inputf("matrix", "%d rows and %d columns: a triangular matrix is square", a.Rows, a.Cols)
	}
	inside := func(row int, col int32) bool { return upper == (int(col) > row) && int(col) != row }
	n := int64(0)
	for row := range a.Rows {
		for _, col := range a.ColIdx[a.RowPtr[row]:a.RowPtr[row+1]] {
			if inside(row, col) {
				n++
			}
		}
	}
	need := 8*int64(a.Rows+1) + n*(4+mem.Size[V]()) + int64(a.Rows)*mem.Size[V]()
	if have, ok := mem.Fits(need); !ok {
		return nil, &sparse.InputError{Subject: "matrix", Err: kernels.ErrOutOfMemory,
			Msg: fmt.Sprintf("its triangle takes %d bytes, %d are available", need, have)}
	}
	t := &Matrix[V]{Upper: upper, N: a.Rows, Ptr: make([]int64, 1, a.Rows+1), Idx: make([]int32, 0, n), Val: make([]V, 0, n)}
	if !unit {
		t.Diag = make([]V, a.Rows)
	}
	for row := range a.Rows {
		first := len(t.Idx)
		sorted := true
		for k := a.RowPtr[row]; k < a.RowPtr[row+1]; k++ {
			col := a.ColIdx[k]
			switch {
			case inside(row, col):
				sorted = sorted && (len(t.Idx) == first || t.Idx[len(t.Idx)-1] < col)
				t.Idx, t.Val = append(t.Idx, col), append(t.Val, a.Val[k])
			case int(col) == row && !unit:
				t.Diag[row] += a.Val[k]
			}
		}
		if !sorted {
			t.tidy(first)
		}
		t.Ptr = append(t.Ptr, int64(len(t.Idx)))
		if !unit && t.Diag[row] == 0 {
			return nil, sparse.Inputf("matrix", "the diagonal of row %d (counted from 0) is 0 or missing: a triangular matrix with it is singular", row)
		}
	}
	return t, nil
}

// tidy sorts the entries from first on by column and adds duplicates.
func (t *Matrix[V]) tidy(first int) {
	type entry struct {
		col int32
		val V
	}
	row := make([]entry, len(t.Idx)-first)
	for k := range row {
		row[k] = entry{t.Idx[first+k], t.Val[first+k]}
	}
	slices.SortStableFunc(row, func(a, b entry) int { return int(a.col) - int(b.col) })
	t.Idx, t.Val = t.Idx[:first], t.Val[:first]
	for _, e := range row {
		if last := len(t.Idx) - 1; last >= first && t.Idx[last] == e.col {
			t.Val[last] += e.val
			continue
		}
		t.Idx, t.Val = append(t.Idx, e.col), append(t.Val, e.val)
	}
}

// Entries returns the number of stored entries, with a diagonal that is not all ones.
func (t *Matrix[V]) Entries() int64 { return int64(len(t.Idx)) + int64(len(t.Diag)) }

// Levels returns the length of the longest chain of rows in which each depends on the one before.
func (t *Matrix[V]) Levels() int {
	level := make([]int32, t.N)
	most := int32(0)
	for i := range t.N {
		row := i
		if t.Upper {
			row = t.N - 1 - i
		}
		l := int32(0)
		for _, col := range t.Idx[t.Ptr[row]:t.Ptr[row+1]] {
			l = max(l, level[col])
		}
		level[row] = l + 1
		most = max(most, l+1)
	}
	return int(most)
}

// cuts cuts the rows into contiguous blocks with about as many entries each: block i has the rows [cuts[i], cuts[i+1]).
func (t *Matrix[V]) cuts(blocks int) []int {
	cuts := make([]int, blocks+1)
	before := func(row int) int64 { return t.Ptr[row] + int64(row) } // a row counts as an entry, too
	total := before(t.N)
	row := 0
	for i := 1; i < blocks; i++ {
		ideal := total * int64(i) / int64(blocks)
		for row < t.N && before(row) < ideal {
			row++
		}
		if row > cuts[i-1] && ideal-before(row-1) < before(row)-ideal {
			row--
		}
		cuts[i] = row
	}
	cuts[blocks] = t.N
	return cuts
}

// diagonalBlock returns the triangle of the rows and columns [lo, hi), with numbers from 0.
func (t *Matrix[V]) diagonalBlock(lo, hi int, stop func() error) *kernels.TrianglePacking[V] {
	op := &kernels.TrianglePacking[V]{Upper: t.Upper, Stop: stop}
	if t.Diag != nil {
		op.Diag = t.Diag[lo:hi]
	}
	if lo == 0 && hi == t.N {
		op.Ptr, op.Idx, op.Val = t.Ptr, t.Idx, t.Val
		return op
	}
	op.Ptr, op.Idx, op.Val = t.block(lo, hi, lo, hi)
	return op
}

// block returns the entries beside the diagonal in the rows [lo, hi) and the columns [first, end), with numbers from 0.
func (t *Matrix[V]) block(lo, hi, first, end int) (ptr []int64, idx []int32, val []V) {
	ptr = make([]int64, 1, hi-lo+1)
	for row := lo; row < hi; row++ {
		cols := t.Idx[t.Ptr[row]:t.Ptr[row+1]]
		a, _ := slices.BinarySearch(cols, int32(first))
		b, _ := slices.BinarySearch(cols, int32(end))
		for _, col := range cols[a:b] {
			idx = append(idx, col-int32(first))
		}
		val = append(val, t.Val[t.Ptr[row]+int64(a):t.Ptr[row]+int64(b)]...)
		ptr = append(ptr, int64(len(idx)))
	}
	return ptr, idx, val
}

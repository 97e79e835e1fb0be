package sparse

import (
	"sync/atomic"
	"unsafe"

	"github.com/msrep-go/msrep/internal/par"
)

// COO is a sparse matrix as triples (RowIdx[k], ColIdx[k], Val[k]) in any order.
// Triples with the same position add up.
type COO[V Value] struct {
	Rows, Cols int
	RowIdx     []int32 // nnz, each in [0, Rows)
	ColIdx     []int32 // nnz, each in [0, Cols)
	Val        []V     // nnz
}

// NewCOO checks the arrays as Validate does and makes a matrix of them without copying.
func NewCOO[V Value](rows, cols int, rowIdx, colIdx []int32, val []V) (*COO[V], error) {
	m := &COO[V]{rows, cols, rowIdx, colIdx, val}
	if err := m.Validate(); err != nil {
		return nil, err
	}
	return m, nil
}

// Dims gives the number of rows and columns.
func (m *COO[V]) Dims() (rows, cols int) { return m.Rows, m.Cols }

// NNZ is the number of stored entries.
func (m *COO[V]) NNZ() int64 { return int64(len(m.Val)) }

// Format is FormatCOO.
func (m *COO[V]) Format() Format { return FormatCOO }

// Validate checks every length and index, in parallel. The error is a *InputError that
// names the array and the first place at fault.
func (m *COO[V]) Validate() error {
	if m == nil {
		return Inputf("matrix", "is nil")
	}
	if err := checkDim("rows", m.Rows); err != nil {
		return err
	}
	if err := checkDim("columns", m.Cols); err != nil {
		return err
	}
	if len(m.RowIdx) != len(m.Val) || len(m.ColIdx) != len(m.Val) {
		return Inputf("matrix", "%d row indices, %d column indices and %d values: these must be equal", len(m.RowIdx), len(m.ColIdx), len(m.Val))
	}
	if err := checkIndices("row", m.RowIdx, m.Rows); err != nil {
		return err
	}
	return checkIndices("column", m.ColIdx, m.Cols)
}

// Transpose gives the transposed matrix; it shares the arrays.
func (m *COO[V]) Transpose() *COO[V] {
	return &COO[V]{Rows: m.Cols, Cols: m.Rows, RowIdx: m.ColIdx, ColIdx: m.RowIdx, Val: m.Val}
}

// Bytes is the size of the arrays: (8+s) nnz with s the size of a value.
func (m *COO[V]) Bytes() int64 {
	var v V
	return 4*int64(len(m.RowIdx)+len(m.ColIdx)) + int64(unsafe.Sizeof(v))*int64(len(m.Val))
}

// Order says by which index the triples of a COO matrix rise.
type Order string

// The orders of COO triples.
const (
	RowSorted Order = "row"    // RowIdx never falls
	ColSorted Order = "column" // ColIdx never falls
	Unsorted  Order = "none"
)

// Order finds out by which index the triples rise. Where both rise it says
// RowSorted.
func (m *COO[V]) Order() Order {
	switch {
	case rises(m.RowIdx):
		return RowSorted
	case rises(m.ColIdx):
		return ColSorted
	}
	return Unsorted
}

func (m *COO[V]) plain() Matrix[V] { return m }

func rises(idx []int32) bool {
	var falls atomic.Bool
	par.Range(int64(len(idx)), 1<<16, func(lo, hi int64) {
		if lo == 0 {
			lo = 1
		}
		for k := lo; k < hi; k++ {
			if idx[k] < idx[k-1] {
				falls.Store(true)
				return
			}
			if k&0xffff == 0 && falls.Load() {
				return
			}
		}
	})
	return !falls.Load()
}

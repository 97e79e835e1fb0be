package sparse

import (
	"sync/atomic"
	"unsafe"

	"github.com/msrep-go/msrep/internal/par"
)

// COO is a sparse matrix as triples (RowIdx[k], ColIdx[k], Val[k]) in any order. An
// element of the matrix is the sum of all triples with its position.
type COO[V Value] struct {
	Rows, Cols int
	RowIdx     []int32 // nnz, each in [0, Rows)
	ColIdx     []int32 // nnz, each in [0, Cols)
	Val        []V     // nnz
}

// NewCOO validates the arrays and returns a matrix that uses them without a copy.
func NewCOO[V Value](rows, cols int, rowIdx, colIdx []int32, val []V) (*COO[V], error) {
	m := &COO[V]{rows, cols, rowIdx, colIdx, val}
	if err := m.Validate(); err != nil {
		return nil, err
	}
	return m, nil
}

// Dims returns the number of rows and columns.
func (m *COO[V]) Dims() (rows, cols int) { return m.Rows, m.Cols }

// NNZ returns the number of stored entries.
func (m *COO[V]) NNZ() int64 { return int64(len(m.Val)) }

// Format returns FormatCOO.
func (m *COO[V]) Format() Format { return FormatCOO }

// Validate checks every length and index, on several goroutines. The error is a
// *InputError that names the array and the first wrong element.
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

// Transpose returns the transposed matrix. It shares the arrays of m.
func (m *COO[V]) Transpose() *COO[V] {
	return &COO[V]{Rows: m.Cols, Cols: m.Rows, RowIdx: m.ColIdx, ColIdx: m.RowIdx, Val: m.Val}
}

// Bytes returns the size of the arrays, (8+s) nnz bytes, where s is the size of a value.
func (m *COO[V]) Bytes() int64 {
	var v V
	return 4*int64(len(m.RowIdx)+len(m.ColIdx)) + int64(unsafe.Sizeof(v))*int64(len(m.Val))
}

// Order names the index by which the triples of a COO matrix are sorted.
type Order string

// The orders of COO triples.
const (
	RowSorted Order = "row"    // RowIdx never decreases
	ColSorted Order = "column" // ColIdx never decreases
	Unsorted  Order = "none"
)

// Order returns the order of the triples. It returns RowSorted if both indices are sorted.
func (m *COO[V]) Order() Order {
	switch {
	case isSorted(m.RowIdx):
		return RowSorted
	case isSorted(m.ColIdx):
		return ColSorted
	}
	return Unsorted
}

func (m *COO[V]) plain() Matrix[V] { return m }

func isSorted(idx []int32) bool {
	var unsorted atomic.Bool
	par.Range(int64(len(idx)), 1<<16, func(lo, hi int64) {
		if lo == 0 {
			lo = 1
		}
		for k := lo; k < hi; k++ {
			if idx[k] < idx[k-1] {
				unsorted.Store(true)
				return
			}
			if k&0xffff == 0 && unsorted.Load() {
				return
			}
		}
	})
	return !unsorted.Load()
}

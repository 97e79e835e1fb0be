package sparse

// CSC is a sparse matrix with compressed columns: the entries of column j are
// RowIdx[k], Val[k] for ColPtr[j] <= k < ColPtr[j+1]. It is the CSR of the
// transposed matrix.
type CSC[V Value] struct {
	Rows, Cols int
	ColPtr     []int64 // Cols+1, from 0 to nnz, never falling
	RowIdx     []int32 // nnz, each in [0, Rows)
	Val        []V     // nnz
}

// NewCSC checks the arrays as Validate does and makes a matrix of them without copying.
func NewCSC[V Value](rows, cols int, colPtr []int64, rowIdx []int32, val []V) (*CSC[V], error) {
	m := &CSC[V]{rows, cols, colPtr, rowIdx, val}
	if err := m.Validate(); err != nil {
		return nil, err
	}
	return m, nil
}

// Dims gives the number of rows and columns.
func (m *CSC[V]) Dims() (rows, cols int) { return m.Rows, m.Cols }

// NNZ is the number of stored entries.
func (m *CSC[V]) NNZ() int64 { return int64(len(m.Val)) }

// Format is FormatCSC.
func (m *CSC[V]) Format() Format { return FormatCSC }

// Validate checks every length, pointer and index, in parallel. The error is a *InputError that
// names the array and the first place at fault.
func (m *CSC[V]) Validate() error {
	if m == nil {
		return Inputf("matrix", "is nil")
	}
	return validateCompressed("column", "row", m.Cols, m.Rows, m.ColPtr, m.RowIdx, len(m.Val))
}

// Transpose gives the transposed matrix as CSR; it shares the arrays.
func (m *CSC[V]) Transpose() *CSR[V] {
	return &CSR[V]{Rows: m.Cols, Cols: m.Rows, RowPtr: m.ColPtr, ColIdx: m.RowIdx, Val: m.Val}
}

// Bytes is the size of the arrays: 8(n+1) + (4+s) nnz with s the size of a value.
func (m *CSC[V]) Bytes() int64 { return compressedBytes(m.ColPtr, m.RowIdx, m.Val) }

func (m *CSC[V]) plain() Matrix[V] { return m }

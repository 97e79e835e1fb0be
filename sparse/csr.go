package sparse

// CSR is a sparse matrix with compressed rows: row i has the column indices ColIdx[k] and
// the values Val[k] for RowPtr[i] <= k < RowPtr[i+1].
//
// Readers of files return rows with sorted columns and no duplicates. Products need
// neither.
type CSR[V Value] struct {
	Rows, Cols int
	RowPtr     []int64 // Rows+1, from 0 to nnz, never decreasing
	ColIdx     []int32 // nnz, each in [0, Cols)
	Val        []V     // nnz
}

// NewCSR validates the arrays and returns a matrix that uses them without a copy.
func NewCSR[V Value](rows, cols int, rowPtr []int64, colIdx []int32, val []V) (*CSR[V], error) {
	m := &CSR[V]{rows, cols, rowPtr, colIdx, val}
	if err := m.Validate(); err != nil {
		return nil, err
	}
	return m, nil
}

// Dims returns the number of rows and columns.
func (m *CSR[V]) Dims() (rows, cols int) { return m.Rows, m.Cols }

// NNZ returns the number of stored entries.
func (m *CSR[V]) NNZ() int64 { return int64(len(m.Val)) }

// Format returns FormatCSR.
func (m *CSR[V]) Format() Format { return FormatCSR }

// Validate checks every length, pointer and index, on several goroutines. The error is a
// *InputError that names the array and the first wrong element.
func (m *CSR[V]) Validate() error {
	if m == nil {
		return Inputf("matrix", "is nil")
	}
	return validateCompressed("row", "column", m.Rows, m.Cols, m.RowPtr, m.ColIdx, len(m.Val))
}

// Transpose returns the transposed matrix as CSC. It shares the arrays of m.
func (m *CSR[V]) Transpose() *CSC[V] {
	return &CSC[V]{Rows: m.Cols, Cols: m.Rows, ColPtr: m.RowPtr, RowIdx: m.ColIdx, Val: m.Val}
}

// Bytes returns the size of the arrays, 8(m+1) + (4+s) nnz bytes, where s is the size of
// a value.
func (m *CSR[V]) Bytes() int64 { return compressedBytes(m.RowPtr, m.ColIdx, m.Val) }

func (m *CSR[V]) plain() Matrix[V] { return m }

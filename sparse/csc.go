package sparse

// CSC is a sparse matrix with compressed columns: column j has the row indices RowIdx[k]
// and the values Val[k] for ColPtr[j] <= k < ColPtr[j+1]. The same arrays are the CSR of
// the transposed matrix.
type CSC[V Value] struct {
	Rows, Cols int
	ColPtr     []int64 // Cols+1, from 0 to nnz, never decreasing
	RowIdx     []int32 // nnz, each in [0, Rows)
	Val        []V     // nnz
}

// NewCSC validates the arrays and returns a matrix that uses them without a copy.
func NewCSC[V Value](rows, cols int, colPtr []int64, rowIdx []int32, val []V) (*CSC[V], error) {
	m := &CSC[V]{rows, cols, colPtr, rowIdx, val}
	if err := m.Validate(); err != nil {
		return nil, err
	}
	return m, nil
}

// Dims returns the number of rows and columns.
func (m *CSC[V]) Dims() (rows, cols int) { return m.Rows, m.Cols }

// NNZ returns the number of stored entries.
func (m *CSC[V]) NNZ() int64 { return int64(len(m.Val)) }

// Format returns FormatCSC.
func (m *CSC[V]) Format() Format { return FormatCSC }

// Validate checks every length, pointer and index, on several goroutines. The error is a
// *InputError that names the array and the first wrong element.
func (m *CSC[V]) Validate() error {
	if m == nil {
		return Inputf("matrix", "is nil")
	}
	return validateCompressed("column", "row", m.Cols, m.Rows, m.ColPtr, m.RowIdx, len(m.Val))
}

// Transpose returns the transposed matrix as CSR. It shares the arrays of m.
func (m *CSC[V]) Transpose() *CSR[V] {
	return &CSR[V]{Rows: m.Cols, Cols: m.Rows, RowPtr: m.ColPtr, ColIdx: m.RowIdx, Val: m.Val}
}

// Bytes returns the size of the arrays, 8(n+1) + (4+s) nnz bytes, where s is the size of
// a value.
func (m *CSC[V]) Bytes() int64 { return compressedBytes(m.ColPtr, m.RowIdx, m.Val) }

func (m *CSC[V]) plain() Matrix[V] { return m }

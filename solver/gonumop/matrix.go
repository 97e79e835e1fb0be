package gonumop

import (
	"gonum.org/v1/gonum/mat"

	"github.com/msrep-go/msrep/internal/given"
	"github.com/msrep-go/msrep/sparse"
)

// Matrix is a CSR matrix as a mat.Matrix, for printing, tests and conversion. It is slow to compute with; see
// the package documentation.
type Matrix struct{ A *sparse.CSR[float64] }

var _ mat.Matrix = Matrix{}

// Dims returns the number of rows and columns.
func (m Matrix) Dims() (rows, cols int) { return m.A.Dims() }

// At returns element (i, j), the sum of the entries at that place. It reads all entries of row i. As everywhere
// in gonum, an index out of range panics.
func (m Matrix) At(i, j int) (sum float64) {
	if uint(i) >= uint(m.A.Rows) {
		panic(mat.ErrRowAccess)
	}
	if uint(j) >= uint(m.A.Cols) {
		panic(mat.ErrColAccess)
	}
	for k := m.A.RowPtr[i]; k < m.A.RowPtr[i+1]; k++ {
		if int(m.A.ColIdx[k]) == j {
			sum += m.A.Val[k]
		}
	}
	return sum
}

// T returns the transposed matrix.
func (m Matrix) T() mat.Matrix { return mat.Transpose{Matrix: m} }

// ToDense copies a to a dense matrix and adds up entries at the same place. A matrix of more than maxElements
// elements, or without rows or columns, which gonum does not support, is a *sparse.InputError.
func ToDense(a *sparse.CSR[float64], maxElements int) (*mat.Dense, error) {
	if a == nil {
		return nil, sparse.Inputf("matrix", "is nil")
	}
	if err := a.Validate(); err != nil {
		return nil, err
	}
	if a.Rows == 0 || a.Cols == 0 {
		return nil, sparse.Inputf("matrix", "%d x %d: a dense matrix of gonum has at least one element", a.Rows, a.Cols)
	}
	if maxElements/a.Cols < a.Rows {
		return nil, sparse.Inputf("matrix", "%d x %d: more than the %d elements that a dense copy may have", a.Rows, a.Cols, maxElements)
	}
	d := mat.NewDense(a.Rows, a.Cols, nil)
	for i := range a.Rows {
		row := d.RawRowView(i)
		for k := a.RowPtr[i]; k < a.RowPtr[i+1]; k++ {
			row[a.ColIdx[k]] += a.Val[k]
		}
	}
	return d, nil
}

// FromDense returns a CSR matrix with the nonzero elements of d. A nil d or a dimension above sparse.MaxDim is a
// *sparse.InputError.
func FromDense(d mat.Matrix) (*sparse.CSR[float64], error) {
	if err := given.Check("matrix", d); err != nil {
		return nil, err
	}
	rows, cols := d.Dims()
	if rows > sparse.MaxDim || cols > sparse.MaxDim {
		return nil, sparse.Inputf("matrix", "%d x %d: no dimension may be more than %d", rows, cols, sparse.MaxDim)
	}
	ptr := make([]int64, 1, rows+1)
	var idx []int32
	var val []float64
	for i := range rows {
		for j := range cols {
			if v := d.At(i, j); v != 0 {
				idx, val = append(idx, int32(j)), append(val, v)
			}
		}
		ptr = append(ptr, int64(len(idx)))
	}
	return sparse.NewCSR(rows, cols, ptr, idx, val)
}

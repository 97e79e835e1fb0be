package cluster

import (
	"errors"

	"github.com/msrep-go/msrep/solver"
	"github.com/msrep-go/msrep/sparse"
)

// Jacobi is solver.Jacobi for this rank's rows of a square matrix. Errors name rows of the whole matrix.
func Jacobi(m *Matrix[float64]) (solver.Preconditioner, error) {
	if err := m.square(1); err != nil {
		return nil, err
	}
	p, err := solver.Jacobi(m.diagonal(1))
	return p, m.inWhole(err)
}

// BlockJacobi is solver.BlockJacobi for this rank's rows of a square matrix. The first row of each rank must be a
// multiple of size (see Align). Errors name rows of the whole matrix.
func BlockJacobi(m *Matrix[float64], size int) (solver.Preconditioner, error) {
	if err := m.square(size); err != nil {
		return nil, err
	}
	p, err := solver.BlockJacobi(m.diagonal(max(size, 1)), size)
	return p, m.inWhole(err)
}

// Schwarz returns the preconditioner that build makes of the diagonal block of this rank's rows and columns, such as
// factor.NewILUT: over all ranks the additive Schwarz method without overlap, block Jacobi with one block for each rank.
// A *solver.DiagonalError names rows of the whole matrix.
func Schwarz(m *Matrix[float64], build func(block *sparse.CSR[float64]) (solver.Preconditioner, error)) (solver.Preconditioner, error) {
	if err := m.square(1); err != nil {
		return nil, err
	}
	p, err := build(m.diagonal(max(m.Part.Rows, 1)))
	return p, m.inWhole(err)
}

// square checks that m is square, and that this rank's first row is a multiple of size.
func (m *Matrix[V]) square(size int) error {
	switch {
	case m == nil || m.Part == nil:
		return errNoPart
	case m.Rows != m.Cols:
		return sparse.Inputf("matrix", "%d x %d: a preconditioner needs a square one", m.Rows, m.Cols)
	case size > 1 && m.Part.Rows > 0 && m.First()%size != 0:
		return sparse.Inputf("block size", "%d: the first row of rank %d is %d, which must be a multiple of it", size, m.rank, m.First())
	}
	return nil
}

// inWhole adds this rank's first row to the rows that err names.
func (m *Matrix[V]) inWhole(err error) error {
	var d *solver.DiagonalError
	if errors.As(err, &d) {
		d.First, d.Last = d.First+m.First(), d.Last+m.First()
	}
	return err
}

// diagonal returns the size x size blocks on the diagonal in this rank's rows, as a square matrix with one row and one
// column for each of these rows, numbered from 0.
func (m *Matrix[V]) diagonal(size int) *sparse.CSR[V] {
	a, first := m.Part, m.First()
	d := &sparse.CSR[V]{Rows: a.Rows, Cols: a.Rows, RowPtr: make([]int64, a.Rows+1), ColIdx: []int32{}, Val: []V{}}
	for i := range a.Rows {
		for k := a.RowPtr[i]; k < a.RowPtr[i+1]; k++ {
			if j := int(a.ColIdx[k]) - first; j >= 0 && j < a.Rows && j/size == i/size {
				d.ColIdx, d.Val = append(d.ColIdx, int32(j)), append(d.Val, a.Val[k])
			}
		}
		d.RowPtr[i+1] = int64(len(d.Val))
	}
	return d
}

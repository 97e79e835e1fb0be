package solver

import (
	"fmt"
	"math"

	"github.com/msrep-go/msrep/internal/given"
	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/solver/internal/space"
	"github.com/msrep-go/msrep/sparse"
)

// Preconditioner is an approximate inverse M of a matrix. For CG, M must be symmetric and positive definite.
//
// With a Distributed operator, a Preconditioner whose processes exchange messages in Apply has a method Collective() bool that
// returns true, as cluster.AMG has. All processes then call Apply, also after an error in one of them.
type Preconditioner interface {
	// Size returns the number of rows and columns of M.
	Size() int
	// Apply computes z = M r. r and z have Size elements and do not overlap. An error of Apply ends the solve.
	Apply(r, z []float64) error
}

func checkPrecond(m Preconditioner, n int) error {
	if m != nil && given.Nothing(m) {
		return sparse.Inputf("preconditioner", "is a nil %T: for none leave it out", m)
	}
	if m != nil && m.Size() != n {
		return sparse.Inputf("preconditioner", "made for %d equations: the system has %d", m.Size(), n)
	}
	return nil
}

// checkApply checks that r and z have n elements.
func checkApply(n int, r, z []float64) error {
	for _, v := range []struct {
		name string
		n    int
	}{{"r", len(r)}, {"z", len(z)}} {
		if v.n != n {
			return sparse.Inputf(v.name, "%d elements: the preconditioner has %d equations", v.n, n)
		}
	}
	return nil
}

// applyGrain is the least number of elements for a goroutine.
const applyGrain = 1 << 15

// DiagonalError is the error of Jacobi and BlockJacobi for rows First to Last: their element or block on the diagonal
// cannot be inverted.
type DiagonalError struct {
	First, Last int
	what        string
}

// Error says which element or block it is.
func (e *DiagonalError) Error() string {
	if e.First == e.Last {
		return fmt.Sprintf("its diagonal element in row %d %s", e.First, e.what)
	}
	return fmt.Sprintf("its diagonal block in rows %d to %d %s", e.First, e.Last, e.what)
}

type jacobi struct{ inverse []float64 }

// Jacobi returns the preconditioner that divides by the diagonal of a square matrix: z[i] = r[i] / a_ii. Entries
// at the same place are added up first. A diagonal element that is missing, zero or not finite is a
// *sparse.InputError with a *DiagonalError. Of a matrix over several processes, see cluster.Jacobi.
func Jacobi(a sparse.Matrix[float64]) (Preconditioner, error) {
	m, err := square(a)
	if err != nil {
		return nil, err
	}
	if err := vectorsFit("preconditioner", "the inverse of the diagonal takes", 8*int64(m.Rows), m.Rows); err != nil {
		return nil, err
	}
	inverse := make([]float64, m.Rows)
	for i := range inverse {
		var d float64
		for k := m.RowPtr[i]; k < m.RowPtr[i+1]; k++ {
			if int(m.ColIdx[k]) == i {
				d += m.Val[k]
			}
		}
		inverse[i] = 1 / d
		if !space.Finite(d) || !space.Finite(inverse[i]) {
			return nil, &sparse.InputError{Subject: "matrix", Err: &DiagonalError{First: i, Last: i, what: fmt.Sprintf("is %g: Jacobi divides by it; use another preconditioner or none", d)}}
		}
	}
	return &jacobi{inverse}, nil
}

// Diagonal returns the factors, which spaces fuse with other operations.
func (j *jacobi) Diagonal() []float64 { return j.inverse }

func (j *jacobi) Size() int { return len(j.inverse) }

func (j *jacobi) Apply(r, z []float64) error {
	if err := checkApply(len(j.inverse), r, z); err != nil {
		return err
	}
	par.Range(int64(len(r)), applyGrain, func(lo, hi int64) {
		d, r, z := j.inverse[lo:hi], r[lo:hi], z[lo:hi]
		for i := range z {
			z[i] = d[i] * r[i]
		}
	})
	return nil
}

// ColumnScaling returns the preconditioner of LSMR that divides each column of the matrix by its 2-norm: a diagonal matrix
// with one row for each column of a, whose elements are 1/|a_j|, and 1 where column j is zero. (For van der Sluis, Numer.
// Math. 14, 1969, it is the best diagonal but for a factor: the condition number is at most sqrt(n) times the least one.)
// It copies what it needs of a.
func ColumnScaling(a sparse.Matrix[float64]) (Preconditioner, error) {
	if err := given.Check("matrix", a); err != nil {
		return nil, err
	}
	if err := a.Validate(); err != nil {
		return nil, err
	}
	_, cols := a.Dims()
	if err := vectorsFit("preconditioner", "the lengths of the columns take", 8*int64(cols), cols); err != nil {
		return nil, err
	}
	m := sparse.ToCSR(a)
	scale := make([]float64, cols)
	for k, j := range m.ColIdx {
		scale[j] = hypot(scale[j], m.Val[k])
	}
	for j, length := range scale {
		inverse := 1 / length
		switch {
		case length == 0:
			inverse = 1
		case !(inverse > 0 && inverse <= math.MaxFloat64):
			return nil, sparse.Inputf("matrix", "the length of column %d is %g: its inverse is not a finite positive number", j, length)
		}
		scale[j] = inverse
	}
	return &jacobi{scale}, nil
}

// square checks that a is valid and square, and returns it in CSR.
func square(a sparse.Matrix[float64]) (*sparse.CSR[float64], error) {
	if err := given.Check("matrix", a); err != nil {
		return nil, err
	}
	if err := a.Validate(); err != nil {
		return nil, err
	}
	if rows, cols := a.Dims(); rows != cols {
		return nil, sparse.Inputf("matrix", "%d x %d: a preconditioner needs a square one", rows, cols)
	}
	return sparse.ToCSR(a), nil
}

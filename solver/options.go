package solver

import (
	"cmp"
	"math"
	"time"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
)

// Operator is the matrix of a solver, for example a *msrep.Plan[float64]. Solvers call SpMV with msrep.NoTrans,
// LSMR also with msrep.Trans, any alpha, and beta = 0 or 1, from one goroutine at a time.
type Operator = msrep.Operator[float64]

// These are the defaults of Options.
const (
	DefaultTol     = 1e-8
	DefaultRestart = 30
)

// MaxRestart is the largest Options.Restart. GMRES keeps a vector for each iteration before a restart, FGMRES two.
const MaxRestart = 10_000

// Options controls a solve. The zero value suits most systems.
type Options struct {
	// Tol is the relative residual to reach, above 0 and below 1: |b - A x| <= Tol*|b| in the 2-norm. 0 means
	// DefaultTol.
	Tol float64
	// MaxIter is the largest number of iterations; 0 means 10 n, but at least 1000.
	MaxIter int
	// Restart is the number of iterations after which GMRES and FGMRES restart; 0 means DefaultRestart. Other
	// methods do not use it.
	Restart int
	// Basis is how GMRES and FGMRES store their basis; "" means BasisFloat64. BasisInt32 halves the memory traffic of the
	// basis, which limits the speed for large systems. It needs vectors in host memory, so CPU devices. Where 32 bits would
	// cost accuracy or iterations, the basis is float64 nevertheless (Result.WidenedAt). Other methods do not use it.
	Basis Basis
	// Precond is the preconditioner; nil means none.
	Precond Preconditioner
	// Damping is for LSMR, which minimises |b - A x|^2 + Damping^2*|x - x0|^2; 0 or a positive number. Other
	// methods do not use it.
	Damping float64
	// Progress, unless nil, is called after each iteration with the relative residual from the recurrence of
	// the method. A panic in Progress or in a Preconditioner reaches the caller of the method, after the
	// method has freed its memory.
	Progress func(iteration int, residual float64)
}

// fill sets the defaults and checks the options for a system of n equations.
func (o *Options) fill(n int) error {
	o.Basis = cmp.Or(o.Basis, BasisFloat64)
	o.Tol, o.Restart, o.MaxIter = cmp.Or(o.Tol, DefaultTol), cmp.Or(o.Restart, DefaultRestart), cmp.Or(o.MaxIter, max(10*n, 1000))
	if !(o.Tol > 0 && o.Tol < 1) {
		return sparse.Inputf("tolerance", "%g: use a number between 0 and 1", o.Tol)
	}
	if o.MaxIter < 0 {
		return sparse.Inputf("max iterations", "%d: use a positive number, or 0 for 10 n", o.MaxIter)
	}
	if !(o.Damping >= 0 && o.Damping <= math.MaxFloat64) {
		return sparse.Inputf("damping", "%g: use 0 or a positive number", o.Damping)
	}
	if err := o.Basis.check(); err != nil {
		return err
	}
	if o.Restart < 1 || o.Restart > MaxRestart {
		return sparse.Inputf("restart", "%d: use 1 to %d", o.Restart, MaxRestart)
	}
	return nil
}

// Result describes a solve. Methods return it also with a *ConvergenceError.
type Result struct {
	Converged  bool // Residual <= Tol; after LSMR also where LeastSquares is true
	Iterations int
	Products   int     // number of products with the matrix
	Residual   float64 // |b - A x| / |b|, computed from x itself
	// LeastSquares reports that no x reaches the tolerance and that x minimises |b - A x|; see LSMR and MINRES.
	LeastSquares bool
	// These are of GMRES and FGMRES. Basis is Options.Basis. WidenedAt is the iteration from which on BasisFloat64
	// replaced BasisInt32 for good; 0 means never. BasisBytes is the number of bytes of basis vectors that this process
	// read and wrote.
	Basis      Basis
	WidenedAt  int
	BasisBytes int64
	// History holds the relative residual before the first iteration and after each iteration, from the
	// recurrence of the method.
	History []float64
	Timing  Timing
}

// Timing is the time of a solve, by kind of work. The rest of Total is operations on vectors.
type Timing struct {
	Plan     time.Duration // the plan of the matrix, which only Solve makes
	Products time.Duration // products with the matrix
	Precond  time.Duration // preconditioner, in Solve with its construction, but not Jacobi in CG on CPU devices, which is fused with operations on vectors
	Total    time.Duration
}

// checkSystem checks the shapes and the elements of a system A x = b or, for an eigenvalue, A x = lambda x, which has no
// b. Errors number elements from first.
func checkSystem(a Operator, b, x []float64, m method, first int) error {
	rows, cols := a.Dims()
	_, several := a.(Distributed)
	switch {
	case rows == cols:
	case !m.transposed:
		return sparse.Inputf("matrix", "%d x %d: a system that is solved by %s is square", rows, cols, m.name)
	case several:
		return sparse.Inputf("matrix", "%d x %d in this process: over several processes, a system that is solved is square", rows, cols)
	}
	if !m.eigen && len(b) != rows {
		return sparse.Inputf("b", "%d elements: the matrix has %d rows", len(b), rows)
	}
	if len(x) != cols {
		return sparse.Inputf("x", "%d elements: the matrix has %d columns", len(x), cols)
	}
	return checkVectors(b, x, first)
}

// checkVectors checks that b and x share no memory and that their elements, numbered from first, are finite.
func checkVectors(b, x []float64, first int) error {
	if mem.Overlap(b, x) {
		return sparse.Inputf("x", "shares memory with b: the method would overwrite it")
	}
	for _, v := range []struct {
		name string
		data []float64
	}{{"b", b}, {"x", x}} {
		for i, e := range v.data {
			if math.IsNaN(e) || math.IsInf(e, 0) {
				return sparse.Inputf(v.name, "element %d is %g: all must be finite", first+i, e)
			}
		}
	}
	return nil
}

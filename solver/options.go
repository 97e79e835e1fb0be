package solver

import (
	"cmp"
	"math"
	"time"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
)

// Operator is the matrix of a solver. A *msrep.Plan[float64] is one. Solvers call SpMV with
// msrep.NoTrans, beta = 0 or 1 and any alpha, from one goroutine at a time.
type Operator = msrep.Operator[float64]

// Defaults of Options.
const (
	DefaultTol     = 1e-8
	DefaultRestart = 30
)

// MaxRestart bounds Options.Restart: GMRES keeps as many vectors.
const MaxRestart = 10_000

// Options says when a method ends. The zero value is right for most.
type Options struct {
	// Tol is the relative residual to reach: |b - A x| <= Tol*|b| in the 2-norm. 0
	// means DefaultTol.
	Tol float64
	// MaxIter bounds the iterations; 0 means 10 n, at least 1000.
	MaxIter int
	// Restart is after how many iterations GMRES begins anew; 0 means
	// DefaultRestart. Others do not use it.
	Restart int
	// Precond is the preconditioner; nil means none.
	Precond Preconditioner
	// Progress, unless nil, is called with the relative residual after each iteration, as
	// the recurrence of the method gives it. A panic of it, as of a Preconditioner, goes on to
	// the caller of the method, which frees what it has made before.
	Progress func(iteration int, residual float64)
}

// fill checks the options for a system of n equations.
func (o *Options) fill(n int) error {
	o.Tol, o.Restart, o.MaxIter = cmp.Or(o.Tol, DefaultTol), cmp.Or(o.Restart, DefaultRestart), cmp.Or(o.MaxIter, max(10*n, 1000))
	if !(o.Tol > 0 && o.Tol < 1) {
		return sparse.Inputf("tolerance", "%g: use a number between 0 and 1", o.Tol)
	}
	if o.MaxIter < 0 {
		return sparse.Inputf("max iterations", "%d: use a positive number, or 0 for 10 n", o.MaxIter)
	}
	if o.Restart < 1 || o.Restart > MaxRestart {
		return sparse.Inputf("restart", "%d: use 1 to %d", o.Restart, MaxRestart)
	}
	return nil
}

// Result is how a solve went. It comes with a *ConvergenceError as well.
type Result struct {
	Converged  bool // Residual <= Tol, computed from x itself
	Iterations int
	Products   int     // by the matrix
	Residual   float64 // |b - A x| / |b|, computed from x itself
	// History is the relative residual before the first and after each iteration, as
	// the recurrence of the method gives it.
	History []float64
	Timing  Timing
}

// Timing is where the time of a solve went.
type Timing struct {
	Products time.Duration // by the matrix
	Precond  time.Duration // that of Jacobi in CG on CPU devices counts as operations on vectors
	Total    time.Duration // the rest is operations on vectors
}

// checkSystem checks the shapes and the numbers of a system A x = b, or of A x =
// lambda x, which has no b. Errors count elements from first on.
func checkSystem(a Operator, b, x []float64, eigen bool, first int) error {
	rows, cols := a.Dims()
	if rows != cols {
		return sparse.Inputf("matrix", "%d x %d: a system that is solved is square", rows, cols)
	}
	if !eigen && len(b) != rows {
		return sparse.Inputf("b", "%d elements: the matrix has %d rows", len(b), rows)
	}
	if len(x) != rows {
		return sparse.Inputf("x", "%d elements: the matrix has %d columns", len(x), rows)
	}
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

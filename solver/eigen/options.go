package eigen

import (
	"cmp"
	"math"
	"time"

	"github.com/msrep-go/msrep/solver"
	"github.com/msrep-go/msrep/sparse"
)

// Which names the eigenvalues to find.
type Which string

// The values of Which.
const (
	Largest   Which = "largest"   // the largest, as numbers: 3 before 1 before -5
	Smallest  Which = "smallest"  // the smallest, as numbers: -5 before 1 before 3
	Magnitude Which = "magnitude" // the largest magnitudes: -5 before 3 before 1
	Near      Which = "near"      // nearest to Options.Sigma; of Solve only
)

// The methods, as Options.Method and Result.Method name them.
const (
	MethodLanczos = "lanczos"
	MethodLOBPCG  = "lobpcg"

	methodBidiagonal = "golub-kahan-lanczos" // of Info.Method and errors
)

// These are the defaults of Options.
const (
	DefaultCount = 6
	DefaultTol   = 1e-10
)

// leastTol is the smallest tolerance: rounding errors alone make residuals almost as large.
const leastTol = 1e-14

// Options states what to find. The zero value finds the six largest eigenvalues or singular values.
type Options struct {
	// Count is the number of eigenvalues or singular values to find, at most the size of the matrix; 0 means DefaultCount,
	// or all if there are fewer.
	Count int
	// Which says which ones to find; "" means Largest.
	Which Which
	// Sigma is the number to which the eigenvalues are nearest, for Near.
	Sigma float64
	// Tol is the largest residual of a result, relative to the norm of the matrix: |A v - lambda v| <= Tol*Result.Norm.
	// It is at least 1e-14 and below 1; 0 means DefaultTol. The error of an eigenvalue is at most its residual.
	Tol float64
	// MaxIter limits the iterations: the products of Lanczos with one vector, or the products of LOBPCG with a block.
	// 0 means 10 n, but at least 10,000.
	MaxIter int
	// Basis is the number of vectors of the basis of Lanczos, above Count; 0 begins with a few more than 2 Count and
	// grows the basis while that reduces the work. LOBPCG does not use it.
	Basis int
	// Start is the first vector of Lanczos, not zero; nil means a random vector. A vector with large components along the
	// eigenvectors that are to be found saves iterations.
	Start []float64
	// Seed selects the random vectors. The same seed, operator and number of devices give the same result.
	Seed uint64
	// SkipCheck states that no copy of a multiple eigenvalue may be missing, or that it may: Lanczos then omits the search
	// for missed copies.
	SkipCheck bool
	// Precond is the preconditioner of LOBPCG, symmetric and positive definite; nil means none.
	Precond solver.Preconditioner
	// Method is MethodLanczos or MethodLOBPCG, for Solve; "" means MethodLanczos.
	Method string
	// Deterministic gives the same bits on any devices with any number of threads, for Solve and SolveSingular.
	Deterministic bool
	// Progress, unless nil, is called after each restart of Lanczos and each iteration of LOBPCG.
	Progress func(Step)
}

// Step describes the state of a run.
type Step struct {
	Iteration int
	Converged int     // eigenvalues or singular values that are within the tolerance
	Residual  float64 // largest residual of those to find, relative to the norm of the matrix
}

// Info describes a run and the accuracy of its results.
type Info struct {
	// Residuals has the residual of each result, computed from the result itself: |A v - lambda v|, or the larger of
	// |A v - sigma u| and |A'u - sigma v|.
	Residuals []float64
	// Norm is an estimate of the 2-norm of A, at most the norm itself but for Tol.
	Norm       float64
	Converged  bool // all residuals are at most Tol*Norm
	Method     string
	Iterations int
	Products   int // products with the matrix, or solves with its factors
	Restarts   int
	// Copies is the number of results that only the search for missed copies has found.
	Copies int
	// Timing.Precond is the time of the preconditioner of LOBPCG, or of factors and solves with them.
	Timing solver.Timing
}

// Result is eigenvalues and their vectors.
type Result struct {
	// Values has the eigenvalues in the order of Options.Which: the largest first with Largest, the nearest to Sigma first
	// with Near.
	Values []float64
	// Vectors has the eigenvector of each value, of length 1. The vectors are orthogonal to each other. Of an operator over
	// several processes they are the pieces of this process.
	Vectors [][]float64
	Info
}

// SVD is singular values and their vectors: A V = U S, A'U = V S with a diagonal matrix S.
type SVD struct {
	// Values has the singular values, the largest first with Largest, the smallest first with Smallest.
	Values []float64
	// U and V have the left and the right singular vector of each value, of length 1, orthogonal to each other.
	U, V [][]float64
	Info
}

// fill sets the defaults and checks the options for a matrix with n eigenvalues or singular values, and vectors whose
// piece in this process has piece elements.
func (o *Options) fill(n, piece int) error {
	if o.Count == 0 {
		o.Count = min(DefaultCount, n)
	}
	o.Which, o.Tol, o.MaxIter = cmp.Or(o.Which, Largest), cmp.Or(o.Tol, DefaultTol), cmp.Or(o.MaxIter, 10*max(n, 1000))
	switch {
	case o.Count < 0 || o.Count > n:
		return sparse.Inputf("k", "%d: use 1 to %d", o.Count, n)
	case o.Which != Largest && o.Which != Smallest && o.Which != Magnitude && o.Which != Near:
		return sparse.Inputf("which", "%q is not known: use %s, %s, %s or %s", o.Which, Largest, Smallest, Magnitude, Near)
	case math.IsNaN(o.Sigma) || math.IsInf(o.Sigma, 0):
		return sparse.Inputf("sigma", "%g: use a finite number", o.Sigma)
	case !(o.Tol >= leastTol && o.Tol < 1):
		return sparse.Inputf("tol", "%g: use %g to 1", o.Tol, leastTol)
	case o.MaxIter < 0:
		return sparse.Inputf("max-iter", "%d: use a positive number, or 0 for the default", o.MaxIter)
	case o.Basis != 0 && o.Basis <= o.Count && o.Basis < n:
		return sparse.Inputf("basis", "%d: use more than the %d eigenvalues to find", o.Basis, o.Count)
	case o.Start != nil && len(o.Start) != piece:
		return sparse.Inputf("start", "%d elements: the matrix has %d", len(o.Start), piece)
	case o.Method != "" && o.Method != MethodLanczos && o.Method != MethodLOBPCG:
		return sparse.Inputf("method", "%q is not known: use %s or %s", o.Method, MethodLanczos, MethodLOBPCG)
	}
	for i, e := range o.Start {
		if math.IsNaN(e) || math.IsInf(e, 0) {
			return sparse.Inputf("start", "element %d is %g: all must be finite", i, e)
		}
	}
	return nil
}

// report calls Progress.
func (o *Options) report(s Step) {
	if o.Progress != nil {
		o.Progress(s)
	}
}

// since returns the time from begin on as the total of timing.
func since(timing solver.Timing, begin time.Time) solver.Timing {
	timing.Total = time.Since(begin)
	return timing
}

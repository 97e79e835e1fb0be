package solver

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/msrep-go/msrep/internal/given"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
)

// Choice names a way to solve a system. Solve chooses the fields that are empty, but with a method and no preconditioner it
// uses none.
type Choice struct {
	Method  string // one of Methods
	Precond string // one of Preconditioners; "block-jacobi:N" has blocks of N rows
	Order   string // one of Orders: the elimination order of rows and columns for factors
}

// SolveOptions controls Solve. The zero value suits most systems.
type SolveOptions struct {
	// Choice forces what it names: Solve then makes one attempt.
	Choice
	// Tol is the relative residual |b - A x|/|b| to reach; 0 means DefaultTol.
	Tol float64
	// MaxIter bounds the iterations of each attempt, and Restart those of GMRES and FGMRES between restarts. The defaults
	// are those of Options.
	MaxIter, Restart int
	// Basis is Options.Basis for GMRES and FGMRES. "" means BasisInt32 if the basis is in host memory and larger than the
	// caches of most processors, else BasisFloat64.
	Basis Basis
	// Time bounds the time of all attempts; 0 means no bound. Neither it nor MaxBytes may be negative.
	Time time.Duration
	// MaxBytes bounds the memory of factors, in bytes; 0 means the available memory.
	MaxBytes int64
	// Deterministic makes x the same, bit by bit, on any devices with any number of threads.
	Deterministic bool
	// Progress, unless nil, is called at the start of each attempt and after each iteration. A panic in Progress reaches
	// the caller of Solve.
	Progress func(Step)
}

// Step is the progress of Solve.
type Step struct {
	Attempt   int // from 1
	Choice    Choice
	Iteration int     // 0 at the start of an attempt
	Residual  float64 // relative residual that the method reports; 1 at the start of an attempt
}

// Attempt describes one attempt of Solve.
type Attempt struct {
	Choice
	Iterations int
	Products   int
	Residual   float64       // |b - A x| / |b|, computed from x; NaN where there is no x
	History    []float64     // relative residuals that the method reported, one for each iteration
	Time       time.Duration // of the whole attempt, Setup included
	Setup      time.Duration // for the plan, the order, and the factors or the preconditioner
	Why        string        // why this attempt was made
	Err        error         // why the residual is above the tolerance; nil if it is not
}

// Solution is the result of Solve.
type Solution struct {
	Result
	Choice             // of the attempt that gave x
	Attempts []Attempt // in the order in which they were made
	// Diagnosis says what is wrong with the system; nil unless there is no solution within the tolerance.
	Diagnosis *Diagnosis
}

// Solve solves A x = b for an m x n matrix A, with m elements in b and n in x. It makes attempts from a list that depends
// on the matrix, each with a method, a preconditioner and an order, until one reaches the tolerance. x is the first guess of
// iterative methods, and Solve overwrites it with the x of the least residual that it found. A first guess whose
// residual is larger than that of x = 0 is replaced by 0.
//
// docs/solve.md has the list. Iterative methods come first where they may be faster than factors: Solve follows their
// residual and ends an attempt that is expected to take more than twice as long as the next one. Complete factors follow,
// and LSMR for singular and rectangular matrices.
//
// If no attempt reaches the tolerance, or a limit of opt ends the search, the error is a *SystemError, and the Solution has
// its Diagnosis. If opt forces a choice, it is the error of that attempt, such as a *ConvergenceError. An invalid argument is
// a *sparse.InputError. Errors of devices and of ctx are returned unchanged. When ctx ends, x becomes the last iterate if its
// method reported a smaller residual than that of the best x before.
func Solve(ctx context.Context, sys *msrep.System, a sparse.Matrix[float64], b, x []float64, opt SolveOptions) (*Solution, error) {
	begin := time.Now()
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	s, err := newSearch(ctx, sys, a, b, x, opt)
	if err != nil {
		return nil, err
	}
	defer s.close()
	err = s.run()
	s.sol.Timing.Total = time.Since(begin)
	var unsolved *SystemError
	var gaveUp *ConvergenceError
	if err != nil && !errors.As(err, &unsolved) && !errors.As(err, &gaveUp) {
		return nil, err
	}
	return s.sol, err
}

// These are the names of a Choice. "auto" is the same as "".
var (
	Methods         = []string{"auto", "cg", "minres", "bicgstab", "gmres", "fgmres", "idr", "lsmr", "direct"}
	Preconditioners = []string{"auto", "none", "jacobi", "block-jacobi:N", "ilu", "ic", "ilut", "amg", "chebyshev"}
	Orders          = []string{"auto", "none", "rcm", "amd"}
)

// Check checks the names and whether they fit together. Its errors name the flag of the command without dashes, such as
// method.
func (c Choice) Check() error {
	for _, v := range []struct {
		name, value string
		known       []string
	}{{"method", c.Method, Methods}, {"precond", c.Precond, Preconditioners}, {"order", c.Order, Orders}} {
		blocks := v.name == "precond" && strings.HasPrefix(v.value, "block-jacobi:")
		if v.value != "" && !blocks && !slices.Contains(v.known, v.value) {
			return sparse.Inputf(v.name, "%q is not known: use %s", v.value, oneOf(v.known))
		}
	}
	if _, err := c.BlockSize(); err != nil {
		return err
	}
	c = c.forced()
	switch {
	case c.Precond != "" && c.Precond != "none" && (c.Method == "direct" || c.Method == "lsmr"):
		return sparse.Inputf("precond", "%q: %s takes no preconditioner", c.Precond, c.Method)
	case c.Order != "" && !c.hasFactors():
		return sparse.Inputf("order", "%q: %s has no factors to order", c.Order, c)
	}
	return nil
}

// hasFactors reports whether c may have factors to order.
func (c Choice) hasFactors() bool {
	switch c.Precond {
	case "ilu", "ic", "ilut":
		return true
	case "", "none":
		return c.Method == "" || c.Method == "direct"
	}
	return false
}

// oneOf lists words: "a, b or c".
func oneOf(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// forced returns c with "" instead of "auto".
func (c Choice) forced() Choice {
	for _, s := range []*string{&c.Method, &c.Precond, &c.Order} {
		if *s == "auto" {
			*s = ""
		}
	}
	return c
}

// BlockSize returns N of block-jacobi:N, or 0 for another preconditioner.
func (c Choice) BlockSize() (int, error) {
	text, ok := strings.CutPrefix(c.Precond, "block-jacobi:")
	if !ok {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > MaxBlockSize {
		return 0, sparse.Inputf("precond", "%q: give the size of the blocks, block-jacobi:1 to block-jacobi:%d", c.Precond, MaxBlockSize)
	}
	return n, nil
}

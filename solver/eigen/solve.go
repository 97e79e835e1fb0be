package eigen

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/msrep-go/msrep/internal/given"
	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/solver/internal/probe"
	"github.com/msrep-go/msrep/solver/internal/space"
	"github.com/msrep-go/msrep/sparse"
)

// Solve finds eigenvalues of a symmetric matrix on the devices of sys: by Symmetric or LOBPCG with a plan of the matrix, or,
// for Near, by Symmetric with factors of A - Sigma*I (see Options). Smallest magnitudes are those near 0.
//
// With Near, Lanczos finds the largest magnitudes of the eigenvalues 1/(lambda - Sigma) of the inverse of A - Sigma*I. The
// factors, of package factor, take much more memory than the matrix. They are those of NewCholesky where A - Sigma*I or its
// negative is positive definite, else of NewLU. A Sigma that is an eigenvalue is moved by a millionth of the norm or less.
//
// A matrix that is not square, or in which a_ij and a_ji differ by more than rounding, is a *sparse.InputError that names
// the entry. Other errors are those of Symmetric and LOBPCG, of factors and of devices.
func Solve(ctx context.Context, sys *msrep.System, a sparse.Matrix[float64], opt Options) (*Result, error) {
	begin := time.Now()
	if err := cmp.Or(given.Context(ctx), given.Check("system", sys, "matrix", a)); err != nil {
		return nil, err
	}
	m, err := probe.Tidy(a)
	if err != nil {
		return nil, err
	}
	if err := checkSymmetric(m); err != nil {
		return nil, err
	}
	m, exp := inRange(m)
	sigma := opt.Sigma
	if opt.Sigma = math.Ldexp(sigma, -exp); space.Finite(sigma) && !space.Finite(opt.Sigma) {
		return nil, sparse.Inputf("sigma", "%g: it is too large beside the elements of the matrix, of at most %g", sigma, math.Ldexp(space.LargestOf(m.Val), exp))
	}
	var res *Result
	switch {
	case opt.Which != Near:
		res, err = solvePlan(ctx, sys, m, opt)
	case opt.Method == MethodLOBPCG:
		return nil, sparse.Inputf("method", "%s: does not find eigenvalues near a number; use %s", MethodLOBPCG, MethodLanczos)
	default:
		res, err = near(ctx, m, opt)
	}
	if res != nil {
		res.Timing = since(res.Timing, begin)
		if e := res.multiply(res.Values, exp); e != nil {
			return nil, e
		}
	}
	return res, err
}

// inRange returns a divided by 2^exp, so that no sum of products of two elements overflows or underflows, for exp of 0 where
// this holds for a itself.
func inRange(a *sparse.CSR[float64]) (scaled *sparse.CSR[float64], exp int) {
	n := int64(len(a.Val))
	largest := make([]float64, par.Workers(n, 1<<15))
	par.Do(len(largest), func(i int) {
		largest[i] = space.LargestOf(a.Val[par.Cut(n, len(largest), i):par.Cut(n, len(largest), i+1)])
	})
	if exp = space.Exponent(space.LargestOf(largest)); exp == 0 {
		return a, 0
	}
	m := *a
	m.Val = slices.Clone(a.Val)
	space.ScaleBy(m.Val, -exp)
	return &m, exp
}

// multiply makes values and i the results of a matrix that is 2^exp times as large. It returns an error where a value overflows.
func (i *Info) multiply(values []float64, exp int) error {
	space.ScaleBy(values, exp)
	space.ScaleBy(i.Residuals, exp)
	i.Norm = math.Ldexp(i.Norm, exp)
	if exp != 0 && !space.Finite(i.Norm) {
		return sparse.Inputf("matrix", "its norm exceeds the largest float64: divide its elements by a number first")
	}
	return nil
}

// products is the number of products that plans are told to expect.
const products = 300

// solvePlan finds eigenvalues with a plan of the matrix.
func solvePlan(ctx context.Context, sys *msrep.System, a *sparse.CSR[float64], opt Options) (res *Result, err error) {
	begin := time.Now()
	if err := (&run{n: a.Rows}).check(a.Rows, a.Cols, nil, opt); err != nil { // before the work for the plan
		return nil, err
	}
	plan, err := msrep.NewPlan(ctx, sys, a, msrep.PlanOptions{Deterministic: opt.Deterministic, SkipValidation: true, Storage: storage(sys, a, opt, false), Expected: msrep.Expected{Products: products}})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, plan.Close()) }()
	planned := time.Since(begin)
	method := Symmetric
	if opt.Method == MethodLOBPCG {
		method = LOBPCG
	}
	res, err = method(ctx, plan, opt)
	if res != nil {
		res.Timing.Plan = planned
	}
	return res, err
}

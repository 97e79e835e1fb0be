package solver

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/msrep-go/msrep/solver/factor"
	"github.com/msrep-go/msrep/solver/internal/probe"
	"github.com/msrep-go/msrep/solver/internal/refine"
	"github.com/msrep-go/msrep/sparse/order"
)

// costError is the error of an attempt whose complete factors would cost more than attempt.cost.
type costError struct {
	factor.Info
	seconds float64 // cost by the model of strategy.go
}

func (e *costError) Error() string {
	return fmt.Sprintf("put off: %.2g entries of factors take %.2g operations", float64(e.NNZ), e.Work)
}

// completeFactors has the methods that factor.LU and factor.Cholesky share.
type completeFactors interface {
	Preconditioner
	Info() factor.Info
	Condition() float64
}

// direct solves with complete factors.
func (t *trial) direct() (*Result, error) {
	begin := time.Now()
	f, err := t.factors(orders[t.Order])
	t.report.Setup = time.Since(begin)
	t.sol.Timing.Precond += t.report.Setup
	if err != nil {
		return nil, err
	}
	return t.refine(f)
}

// orders has the orders of factors by the names of Orders.
var orders = map[string]factor.Order{"": nil, "auto": nil, "none": factor.Natural, "rcm": order.RCM[float64], "amd": order.AMD[float64]}

// factors computes complete factors in the order by; nil means the default order of package factor.
func (t *trial) factors(by factor.Order) (completeFactors, error) {
	accept := func(i factor.Info) error {
		if cost := t.floorOf() + factorCost*i.Work + storeCost*float64(i.NNZ); t.cost > 0 && cost > t.cost {
			return &costError{i, cost}
		}
		return nil
	}
	if t.cholesky {
		a := t.a
		if !t.traits.Exact {
			a = probe.Mean(a)
		}
		return factor.NewCholesky(t.ctx, a, factor.CholeskyOptions{Order: by, MaxBytes: t.opt.MaxBytes, Accept: accept})
	}
	return factor.NewLU(t.ctx, t.a, factor.LUOptions{Order: by, MaxBytes: t.opt.MaxBytes, Accept: accept})
}

// refine solves with factors and improves x by package refine.
func (t *trial) refine(f completeFactors) (*Result, error) {
	begin := time.Now()
	res := &Result{History: []float64{1}}
	y := refine.System{A: t.a, B: t.b, Norm: t.norm, Tol: t.opt.Tol}
	y.Apply = func(r, z []float64) error {
		begin := time.Now()
		defer func() { res.Timing.Precond += time.Since(begin) }()
		var inaccurate *factor.AccuracyError
		if err := f.Apply(r, z); !errors.As(err, &inaccurate) { // refine finds out itself
			return err
		}
		return nil
	}
	y.Progress = func(step int, residual float64) {
		res.History = append(res.History, residual)
		t.progress(step, residual)
	}
	out, err := y.Solve(t.ctx, t.x)
	if err != nil {
		return nil, err
	}
	res.Residual, res.Iterations, res.Products = out.Residual, out.Steps, out.Steps
	res.Timing.Products = time.Since(begin) - res.Timing.Precond
	if res.Converged = out.Residual <= t.opt.Tol; res.Converged {
		return res, nil
	}
	return res, &accuracyError{
		ConvergenceError{Method: "direct", Iterations: out.Steps, Residual: out.Residual, Err: ErrStagnation}, f.Condition(), out.Rounded,
	}
}

// accuracyError is the error of a direct solution whose residual is above the tolerance.
type accuracyError struct {
	ConvergenceError
	condition float64
	rounded   bool // refine.Outcome.Rounded
}

func (e *accuracyError) Error() string {
	return e.ConvergenceError.Error() + ": " + e.text()
}

// leastCondition is the condition from which a matrix is called singular to working precision.
const leastCondition = 1e10

func (e *accuracyError) singular() bool { return !(e.condition < leastCondition) }

func (e *accuracyError) text() string {
	text := fmt.Sprintf("the condition of the matrix is about %.1e", e.condition)
	if e.singular() {
		text = fmt.Sprintf("the matrix is singular to working precision: its condition is about %.1e", e.condition)
	}
	if e.rounded {
		text += ", and x in float64 rounds to this residual"
	}
	return text
}

func (e *accuracyError) Unwrap() error { return &e.ConvergenceError }

// factorsFailed reports whether err says that a factorisation is impossible or costs too much.
func factorsFailed(err error) bool {
	var singular *factor.SingularError
	var cost *costError
	var inaccurate *factor.AccuracyError
	return errors.As(err, &singular) || errors.As(err, &inaccurate) || errors.As(err, &cost) || errors.Is(err, factor.ErrNotPositiveDefinite)
}

// memoryOf returns the *factor.MemoryError in err, or nil.
func memoryOf(err error) *factor.MemoryError {
	var m *factor.MemoryError
	errors.As(err, &m)
	return m
}

// singularOf returns the diagnosis of a *factor.SingularError in err, and whether there is one.
func singularOf(err error) (Diagnosis, bool) {
	var singular *factor.SingularError
	switch {
	case errors.As(err, &singular) && singular.Structural:
		return Diagnosis{StructurallySingular, structure(singular)}, true
	case errors.As(err, &singular):
		return Diagnosis{Singular, singular.Error()}, true
	}
	return Diagnosis{}, false
}

// structure names rows of a structurally singular matrix that cannot be matched with columns.
func structure(e *factor.SingularError) string {
	const most = 8
	var rows []string
	for _, i := range e.Rows[:min(len(e.Rows), most)] {
		rows = append(rows, strconv.Itoa(i))
	}
	if len(e.Rows) > most {
		rows = append(rows, "...")
	}
	return fmt.Sprintf("the matrix is structurally singular: no columns are left for %d of its rows: %s", len(e.Rows), strings.Join(rows, ", "))
}

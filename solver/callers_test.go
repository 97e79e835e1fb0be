package solver

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/devvec"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/solver/internal/space"
)

// panicking is a preconditioner that panics.
type panicking struct{ n int }

func (p panicking) Size() int { return p.n }

func (panicking) Apply(_, _ []float64) error { panic("mine") }

// panickingOperator is a plan on devices that panics in product number at.
type panickingOperator struct {
	*msrep.Plan[float64]
	at int
}

func (o *panickingOperator) Apply(ctx context.Context, op msrep.Transpose, alpha float64, x *msrep.Vector[float64], beta float64, y *msrep.Vector[float64]) error {
	if o.at--; o.at < 0 {
		panic("mine")
	}
	return o.Plan.Apply(ctx, op, alpha, x, beta, y)
}

func (o *panickingOperator) RowVector() (*msrep.Vector[float64], error) {
	if o.at--; o.at < 0 {
		panic("mine")
	}
	return o.Plan.RowVector()
}

// panickingContext panics in call n of Err.
type panickingContext struct {
	context.Context
	n int
}

func (c *panickingContext) Err() error {
	if c.n--; c.n < 0 {
		panic("mine")
	}
	return nil
}

// constant is a preconditioner that sets every element of z to v.
type constant struct {
	n int
	v float64
}

func (c constant) Size() int { return c.n }

func (c constant) Apply(_, z []float64) error {
	for i := range z {
		z[i] = c.v
	}
	return nil
}

func TestSingularAndInfinitePreconditionersGiveAnError(t *testing.T) {
	a := laplacian(t, "stencil:n=12,points=5")
	for _, devices := range []string{"cpu:1", "sim:1"} {
		plan := planOn(t, devices, a)
		for name, method := range methods {
			for _, v := range []float64{0, 1, math.NaN(), math.Inf(1)} {
				res, err := method(t.Context(), plan, sines(a.Rows), make([]float64, a.Rows), Options{Precond: constant{a.Rows, v}, MaxIter: 200})
				var failed *ConvergenceError
				require.ErrorAs(t, err, &failed, "%s, %g on %s", name, v, devices)
				require.False(t, res.Converged)
				require.False(t, res.Residual <= DefaultTol)
				if name == "cg" && !space.Finite(v) {
					require.ErrorContains(t, err, "the preconditioner is not finite")
				}
			}
		}
		for _, v := range []float64{0, 1, math.NaN(), math.Inf(1)} {
			b := msrep.MultiVectorByRow(sines(2*a.Rows), 2)
			res, err := CGMany(t.Context(), plan, b, msrep.MultiVectorByRow(make([]float64, 2*a.Rows), 2), Options{Precond: constant{a.Rows, v}, MaxIter: 200})
			var failed *ConvergenceError
			require.ErrorAs(t, err, &failed, "many, %g on %s", v, devices)
			require.False(t, res[0].Converged || res[1].Converged)
		}
	}
}

func TestConcurrentSolvesWithOnePlanFindTheSameSolutions(t *testing.T) {
	a := laplacian(t, "stencil:n=80,points=5") // more than a block
	sys := open(t, "cpu:1")
	plan := planOf(t, sys, a, msrep.PlanOptions{Deterministic: true})
	jacobi, err := Jacobi(a)
	require.NoError(t, err)
	solve := func(name string, scale float64) []float64 {
		b, x := sines(a.Rows), make([]float64, a.Rows)
		for i := range b {
			b[i] *= scale + float64(i%7)
		}
		_, err := methods[name](t.Context(), plan, b, x, Options{Precond: jacobi})
		require.NoError(t, err, name)
		return x
	}
	var all sync.WaitGroup
	for name := range methods {
		for scale := range 3 {
			want := solve(name, float64(scale))
			all.Go(func() {
				for range 3 {
					if !slices.Equal(want, solve(name, float64(scale))) {
						t.Errorf("%s: other bits beside other solves", name)
					}
				}
			})
		}
	}
	all.Wait()
}

func TestAPanicOfTheCallerFreesTheDeviceMemoryOfTheSolve(t *testing.T) {
	a := laplacian(t, "stencil:n=5,points=5")
	used := func(sys *msrep.System) (bytes int64) {
		for i := range sys.Devices() {
			bytes += devvec.Device(sys, i).InUse()
		}
		return bytes
	}
	for _, devices := range []string{"cpu:1", "sim:1", "sim:2"} {
		sys := openAs(t, msrep.Config{Devices: devices})
		plan := planOf(t, sys, a, msrep.PlanOptions{})
		callers := map[string]func() (context.Context, Operator, Options){
			"progress": func() (context.Context, Operator, Options) {
				return t.Context(), plan, Options{Progress: func(int, float64) { panic("mine") }}
			},
			"preconditioner": func() (context.Context, Operator, Options) {
				return t.Context(), plan, Options{Precond: panicking{a.Rows}}
			},
			"context": func() (context.Context, Operator, Options) {
				return &panickingContext{t.Context(), 11}, plan, Options{}
			},
		}
		if plan.Resident(msrep.NoTrans) {
			for _, at := range []int{0, 1, 3, 6, 9} { // from the first vector to a product
				callers[fmt.Sprint("operator ", at)] = func() (context.Context, Operator, Options) {
					return t.Context(), &panickingOperator{plan, at}, Options{}
				}
			}
		}
		for name, method := range methods {
			for turn := range 2 { // what a plan keeps for vectors is there from the first solve on
				x := make([]float64, a.Rows)
				_, err := method(t.Context(), plan, sines(a.Rows), x, Options{Precond: identity{a.Rows}})
				require.NoError(t, err, "%s on %s, turn %d", name, devices, turn)
				require.LessOrEqual(t, trueResidual(t, a, sines(a.Rows), x), 1.01*DefaultTol)
				before := used(sys)
				for caller, of := range callers {
					ctx, op, opt := of()
					func() {
						defer func() { _ = recover() }() // a product makes an error of it
						_, err := method(ctx, op, sines(a.Rows), make([]float64, a.Rows), opt)
						require.ErrorContains(t, err, "mine", "%s, %s on %s", name, caller, devices)
					}()
					require.Equal(t, before, used(sys), "%s, %s on %s", name, caller, devices)
				}
			}
		}
		require.NoError(t, sys.Close(), "%s: which counts what was not freed", devices)
	}
}

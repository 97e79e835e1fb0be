package solver

import (
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/msrep"
)

// constant is a preconditioner that gives the same number for whatever it is applied to.
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

func TestPreconditionersThatAreSingularOrNotFiniteEndInAnHonestError(t *testing.T) {
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
				if name == "cg" && !finite(v) {
					require.ErrorContains(t, err, "the preconditioner is not finite")
				}
			}
		}
		for _, v := range []float64{0, 1, math.NaN(), math.Inf(1)} {
			b := msrep.ByRow(sines(2*a.Rows), 2)
			res, err := CGMany(t.Context(), plan, b, msrep.ByRow(make([]float64, 2*a.Rows), 2), Options{Precond: constant{a.Rows, v}, MaxIter: 200})
			var failed *ConvergenceError
			require.ErrorAs(t, err, &failed, "many, %g on %s", v, devices)
			require.False(t, res[0].Converged || res[1].Converged)
		}
	}
}

func TestSolvesThatShareAPlanFindWhatEachFindsAlone(t *testing.T) {
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

func TestAPanicInProgressLeavesThePlanToTheNextSolve(t *testing.T) {
	a := laplacian(t, "stencil:n=12,points=5")
	for _, devices := range []string{"cpu:1", "sim:1"} {
		for name, method := range methods {
			sys := openAs(t, msrep.Config{Devices: devices})
			plan := planOf(t, sys, a, msrep.PlanOptions{})
			require.PanicsWithValue(t, "mine", func() {
				_, _ = method(t.Context(), plan, sines(a.Rows), make([]float64, a.Rows), Options{Progress: func(int, float64) { panic("mine") }})
			})
			x := make([]float64, a.Rows)
			_, err := method(t.Context(), plan, sines(a.Rows), x, Options{})
			require.NoError(t, err, "%s on %s afterwards", name, devices)
			require.LessOrEqual(t, trueResidual(t, a, sines(a.Rows), x), 1.01*DefaultTol)
			require.NoError(t, sys.Close(), "%s on %s: which counts what was not freed", name, devices)
		}
	}
}

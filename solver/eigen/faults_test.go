package eigen

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/solver"
	"github.com/msrep-go/msrep/sparse"
)

var errBroken = errors.New("broken")

// fragile is an operator whose products from number after on fail, or are NaN if nan is set.
type fragile struct {
	solver.Operator
	after int
	nan   bool
}

func (f *fragile) SpMV(ctx context.Context, op msrep.Transpose, alpha float64, x []float64, beta float64, y []float64) error {
	if f.after--; f.after <= 0 {
		if !f.nan {
			return errBroken
		}
		for i := range y {
			y[i] = math.NaN()
		}
		return nil
	}
	return f.Operator.SpMV(ctx, op, alpha, x, beta, y)
}

func TestAnErrorOfAnyProductEndsTheRun(t *testing.T) {
	plan := planOf(t, "cpu:1", generated(t, "stencil:dims=2,n=15,points=5"))
	methods := map[string]func(solver.Operator) error{
		"lanczos": func(a solver.Operator) error {
			_, err := Symmetric(t.Context(), a, Options{Count: 3})
			return err
		},
		"lobpcg": func(a solver.Operator) error {
			_, err := LOBPCG(t.Context(), a, Options{Count: 3})
			return err
		},
		"singular": func(a solver.Operator) error {
			_, err := Singular(t.Context(), a, Options{Count: 3})
			return err
		},
	}
	for name, method := range methods {
		count := 1
		for ; ; count++ {
			err := method(&fragile{Operator: plan, after: count})
			if err == nil {
				break
			}
			require.ErrorIs(t, err, errBroken, "%s, product %d", name, count)
		}
		require.Greater(t, count, 40, name)
		for at := range count - 1 {
			err := method(&fragile{Operator: plan, after: at + 1, nan: true})
			var gaveUp *solver.ConvergenceError
			require.ErrorAs(t, err, &gaveUp, "%s, product %d", name, at+1)
		}
	}
}

// broken is a preconditioner that fails.
type broken struct{ n int }

func (b broken) Size() int { return b.n }

func (b broken) Apply(_, _ []float64) error { return errBroken }

func TestAnErrorOfThePreconditionerEndsLOBPCG(t *testing.T) {
	a := generated(t, "stencil:dims=2,n=15,points=5")
	_, err := LOBPCG(t.Context(), planOf(t, "cpu:1", a), Options{Count: 3, Precond: broken{a.Rows}})
	require.ErrorIs(t, err, errBroken)
}

// vast is an operator with many rows.
type vast struct{ solver.Operator }

func (vast) Dims() (rows, cols int) { return 1 << 26, 1 << 26 }

func TestABasisThatDoesNotFitInMemoryIsRefused(t *testing.T) {
	defer mem.SetAvailable(1e9)()
	_, err := Symmetric(t.Context(), vast{}, Options{Count: 3})
	require.ErrorContains(t, err, "k: 3: the 26 vectors of 67108864 elements that lanczos keeps take 13958643712 bytes, 1000000000 are available")
	require.True(t, sparse.IsInput(err))
	_, err = LOBPCG(t.Context(), vast{}, Options{Count: 3})
	require.ErrorContains(t, err, "that lobpcg keeps take")
	_, err = Singular(t.Context(), vast{}, Options{Count: 3})
	require.ErrorContains(t, err, "that golub-kahan-lanczos keeps take")
}

func TestAFactorThatDoesNotExistIsReplaced(t *testing.T) {
	sys := openOn(t, "cpu:1")
	for name, a := range cases(t) {
		if name == "tiny values" || name == "huge values" { // gonum computes with squares
			continue
		}
		all := denseEigenvalues(t, a, Magnitude)
		for _, k := range []int{1, 3} { // the smallest magnitudes; half of the cases are singular
			if k > a.Rows {
				continue
			}
			res, err := Solve(t.Context(), sys, a, Options{Count: k, Which: Near})
			require.NoError(t, err, "%s, %d", name, k)
			for i, v := range res.Values {
				require.InDelta(t, math.Abs(all[len(all)-1-i]), math.Abs(v), 1e-9*max(res.Norm, 1e-300), "%s, %d", name, k)
			}
			requirePairs(t, a, res.Values, res, 1e-9)
			small, err := SolveSingular(t.Context(), sys, a, Options{Count: k, Which: Smallest})
			require.NoError(t, err, "%s, %d", name, k)
			for i, v := range small.Values {
				require.InDelta(t, math.Abs(all[len(all)-1-i]), v, 1e-9*max(res.Norm, 1e-300), "%s, %d", name, k)
			}
			requireTriples(t, a, small.Values, small, 1e-9)
		}
	}
}

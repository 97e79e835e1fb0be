package solver

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/sparse"
)

// changing is a preconditioner that multiplies by other numbers in each call.
type changing struct {
	diagonal []float64
	calls    int
}

func (c *changing) Size() int { return len(c.diagonal) }

func (c *changing) Apply(r, z []float64) error {
	c.calls++
	for i, d := range c.diagonal {
		z[i] = r[i] / d * (1 + 0.5*math.Sin(float64(7*c.calls+i)))
	}
	return nil
}

// unsymmetric is the 5-point stencil of diffusion with convection, with rows of different sizes.
func unsymmetric(t require.TestingT, spec string) *sparse.CSR[float64] {
	a := laplacian(t, spec)
	for i := range a.Rows {
		for k := a.RowPtr[i]; k < a.RowPtr[i+1]; k++ {
			if int(a.ColIdx[k]) > i {
				a.Val[k] *= 0.3
			}
			a.Val[k] *= 1 + float64(i%7)
		}
	}
	return a
}

func TestFGMRESConvergesWithAPreconditionerThatChanges(t *testing.T) {
	for devices, spec := range map[string]string{"cpu:1": "stencil:n=30,points=5", "cpu:3": "stencil:n=30,points=5", "sim:1": "stencil:n=4,points=5", "sim:2": "stencil:n=4,points=5", "sim:6": "stencil:n=4,points=5"} {
		a := unsymmetric(t, spec)
		plan, b := planOn(t, devices, a), sines(a.Rows)
		m := &changing{diagonal: make([]float64, a.Rows)}
		for i := range m.diagonal {
			m.diagonal[i] = 4.1 * (1 + float64(i%7))
		}
		x := make([]float64, a.Rows)
		res, err := FGMRES(t.Context(), plan, b, x, Options{Tol: 1e-10, Precond: m})
		require.NoError(t, err, devices)
		require.LessOrEqual(t, trueResidual(t, a, b, x), 1.01e-10, devices)
		require.InDelta(t, res.Residual, res.History[res.Iterations], 1e-12, "the recurrence gives the residual")
		require.Equal(t, res.Iterations, m.calls)

		m.calls = 0
		_, err = GMRES(t.Context(), plan, b, make([]float64, a.Rows), Options{Tol: 1e-10, Precond: m, MaxIter: res.Iterations})
		require.Error(t, err, "GMRES takes it for a fixed one")
	}
}

// inner is a preconditioner that solves with the same matrix.
type inner struct {
	a      Operator
	solve  Method
	ctx    context.Context
	opt    Options
	n      int
	solves int
}

func (s *inner) Size() int { return s.n }

func (s *inner) Apply(r, z []float64) error {
	s.solves++
	clear(z)
	res, err := s.solve(s.ctx, s.a, r, z, s.opt)
	if res != nil {
		return nil // it need not converge
	}
	return err
}

func TestThePreconditionerOfFGMRESMayBeASolve(t *testing.T) {
	a := unsymmetric(t, "stencil:n=40,points=5")
	plan, b := planOn(t, "cpu:2", a), sines(a.Rows)
	for name, method := range map[string]Method{"gmres": GMRES, "bicgstab": BiCGSTAB} {
		m := &inner{a: plan, solve: method, ctx: t.Context(), n: a.Rows, opt: Options{MaxIter: 12, Tol: 0.1}}
		x := make([]float64, a.Rows)
		res, err := FGMRES(t.Context(), plan, b, x, Options{Tol: 1e-12, Precond: m})
		require.NoError(t, err, name)
		require.LessOrEqual(t, trueResidual(t, a, b, x), 1.01e-12, name)
		require.Less(t, res.Iterations, 40, name)
		require.Equal(t, res.Iterations, m.solves)
	}
}

// With a preconditioner that stays the same, FGMRES computes the iterates of GMRES.
func TestFGMRESIsGMRESWithAFixedPreconditioner(t *testing.T) {
	a := unsymmetric(t, "stencil:n=20,points=5")
	m, err := Jacobi(a)
	require.NoError(t, err)
	plan, b := planOn(t, "cpu:1", a), sines(a.Rows)
	for _, opt := range []Options{{Restart: 10}, {Restart: 10, Precond: m}} {
		x, y := make([]float64, a.Rows), make([]float64, a.Rows)
		one, err := GMRES(t.Context(), plan, b, x, opt)
		require.NoError(t, err)
		two, err := FGMRES(t.Context(), plan, b, y, opt)
		require.NoError(t, err)
		require.InDeltaSlice(t, one.History, two.History, 1e-12)
		require.InDeltaSlice(t, x, y, 1e-12)
	}
}

func TestFGMRESNamesASingularMatrixOrPreconditioner(t *testing.T) {
	a := unsymmetric(t, "stencil:n=8,points=5")
	_, err := FGMRES(t.Context(), planOn(t, "cpu:1", a), sines(a.Rows), make([]float64, a.Rows), Options{Precond: constant{a.Rows, 0}})
	require.ErrorIs(t, err, ErrBreakdown)
	require.ErrorContains(t, err, "the matrix or the preconditioner is singular")
	turn := dense(t, []float64{0, 1}, []float64{0, 0})
	_, err = FGMRES(t.Context(), planOn(t, "cpu:1", turn), []float64{1, 1}, make([]float64, 2), Options{Precond: identity{2}})
	require.ErrorIs(t, err, ErrBreakdown)
}

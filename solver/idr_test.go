package solver

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/solver/internal/space"
	"github.com/msrep-go/msrep/sparse"
)

func TestIDRSolvesUnsymmetricAndIndefiniteSystems(t *testing.T) {
	for devices, spec := range map[string]string{"cpu:1": "stencil:n=30,points=5", "cpu:3": "stencil:n=30,points=5", "sim:1": "stencil:n=4,points=5", "sim:2": "stencil:n=4,points=5", "sim:6": "stencil:n=4,points=5"} {
		for name, a := range map[string]*sparse.CSR[float64]{"unsymmetric": unsymmetric(t, spec), "indefinite": shifted(t, spec, 1.23)} {
			m := &jacobi{make([]float64, a.Rows)}
			for i := range m.inverse {
				m.inverse[i] = 1 / (1 + float64(i%5))
			}
			if devices[:3] == "sim" && name == "indefinite" {
				continue // slow
			}
			for _, precond := range []Preconditioner{nil, m} {
				b, x := sines(a.Rows), make([]float64, a.Rows)
				res, err := IDR(t.Context(), planOn(t, devices, a), b, x, Options{Tol: 1e-9, Precond: precond})
				require.NoError(t, err, "%s on %s", name, devices)
				require.LessOrEqual(t, trueResidual(t, a, b, x), 1.01e-9, "%s on %s", name, devices)
				require.Len(t, res.History, res.Iterations+1)
			}
		}
	}
}

// BiCGSTAB divides by r'A r, which is 0 for a skew-symmetric matrix.
func TestIDRSolvesSkewSymmetricSystems(t *testing.T) {
	a := laplacian(t, "stencil:n=10,points=5")
	for i := range a.Rows {
		for k := a.RowPtr[i]; k < a.RowPtr[i+1]; k++ {
			j := int(a.ColIdx[k])
			a.Val[k] = float64(j-i) * (1 + float64((i+j)%3)) // 0 on the diagonal
		}
	}
	plan, b, x := planOn(t, "cpu:1", a), sines(a.Rows), make([]float64, a.Rows)
	_, err := BiCGSTAB(t.Context(), plan, b, x, Options{})
	require.ErrorIs(t, err, ErrBreakdown)
	clear(x)
	res, err := IDR(t.Context(), plan, b, x, Options{})
	require.NoError(t, err)
	require.LessOrEqual(t, trueResidual(t, a, b, x), 1.01e-8)
	t.Logf("%d iterations", res.Iterations)
}

// In exact arithmetic, IDR(s) ends after at most n + n/s products.
func TestIDREndsInItsKrylovSpace(t *testing.T) {
	for n := 1; n <= 20; n++ {
		rows := make([][]float64, n)
		for i := range rows {
			rows[i] = make([]float64, n)
			for j := range rows[i] {
				rows[i][j] = math.Sin(float64(1 + 3*i + 7*j*j))
			}
			rows[i][i] += 3
		}
		a := dense(t, rows...)
		b, x := sines(n), make([]float64, n)
		res, err := IDR(t.Context(), planOn(t, "cpu:1", a), b, x, Options{})
		require.NoError(t, err, n)
		require.LessOrEqual(t, trueResidual(t, a, b, x), 1.01e-8, n)
		require.LessOrEqual(t, res.Iterations, n+(n+idrSpace-1)/idrSpace+5, n)
	}
}

func TestIDRSaysThatItBreaksDown(t *testing.T) {
	for name, a := range map[string]*sparse.CSR[float64]{
		"zero":      dense(t, []float64{0, 0}, []float64{0, 0}),
		"singular":  dense(t, []float64{1, 1}, []float64{1, 1}),
		"nilpotent": dense(t, []float64{0, 1, 0}, []float64{0, 0, 1}, []float64{0, 0, 0}),
	} {
		res, err := IDR(t.Context(), planOn(t, "cpu:1", a), []float64{1, 2, 3}[:a.Rows], make([]float64, a.Rows), Options{})
		require.ErrorIs(t, err, ErrBreakdown, name)
		require.False(t, res.Converged)
	}
}

// The random vectors do not depend on where they are, and are not correlated.
func TestRandomVectorsAreTheSameInSeveralProcesses(t *testing.T) {
	a := laplacian(t, "stencil:n=100,points=5")
	draw := func(s space.Space, n int, seed uint64) []float64 {
		x := make([]float64, n)
		_, v := s.Load(nil, x)
		s.Random(v, seed)
		require.NoError(t, s.Fetch())
		return x
	}
	whole := draw(space.NewHost(t.Context(), planOn(t, "cpu:2", a), nil, nil), a.Rows, 5)
	for _, m := range members(t, a, false, 3000, 7000) {
		all, err := space.NewProcesses(m)
		require.NoError(t, err)
		require.Equal(t, whole[m.first:m.first+m.n], draw(space.NewHost(t.Context(), m, nil, all), m.n, 5))
	}
	plan := planOn(t, "sim:2", laplacian(t, "stencil:n=10,points=5"))
	require.Equal(t, whole[:100], draw(space.NewDevice(t.Context(), plan, nil, nil), 100, 5))
	other := draw(space.NewHost(t.Context(), planOn(t, "cpu:2", a), nil, nil), a.Rows, 6)
	var mean, square, both float64
	for i, v := range whole {
		mean, square, both = mean+v, square+v*v, both+v*other[i]
	}
	n := float64(a.Rows)
	require.InDelta(t, 0, mean/n, 3/math.Sqrt(3*n), fmt.Sprint(mean))
	require.InDelta(t, 1.0/3, square/n, 0.01)
	require.InDelta(t, 0, both/n, 3/(3*math.Sqrt(n)))
}

package solver

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/msrep-go/msrep/sparse"
)

// single32 is the inverse of a matrix in float32. It stands for a factor in float32.
type single32 struct {
	n       int
	inverse []float32
}

func newSingle32(t require.TestingT, a *sparse.CSR[float64]) *single32 {
	m := mat.NewDense(a.Rows, a.Rows, nil)
	for i := range a.Rows {
		for k := a.RowPtr[i]; k < a.RowPtr[i+1]; k++ {
			m.Set(i, int(a.ColIdx[k]), a.Val[k])
		}
	}
	var inverse mat.Dense
	require.NoError(t, inverse.Inverse(m))
	s := &single32{n: a.Rows}
	for _, v := range inverse.RawMatrix().Data {
		s.inverse = append(s.inverse, float32(v))
	}
	return s
}

func (s *single32) Size() int { return s.n }

func (s *single32) Apply(r, z []float64) error {
	for i := range z {
		var sum float32
		for j, v := range s.inverse[i*s.n : (i+1)*s.n] {
			sum += v * float32(r[j])
		}
		z[i] = float64(sum)
	}
	return nil
}

func TestRefinementWithAFactorInFloat32ReachesFloat64(t *testing.T) {
	for _, devices := range []string{"cpu:1", "cpu:3", "sim:1", "sim:2", "sim:6"} {
		a := unsymmetric(t, "stencil:n=6,points=5")
		m := newSingle32(t, a)
		plan := planOn(t, devices, a)
		for _, exp := range []int{0, -800, 800} {
			b, x := sines(a.Rows), make([]float64, a.Rows)
			var heard []float64
			res, err := Richardson(t.Context(), plan, scaledBy(b, exp), x, Options{Tol: 1e-14, Precond: m, Progress: func(_ int, rel float64) { heard = append(heard, rel) }})
			require.NoError(t, err, devices)
			require.LessOrEqual(t, trueResidual(t, a, b, scaledBy(x, -exp)), 1.1e-14, devices)
			require.LessOrEqual(t, res.Iterations, 4, devices)
			require.Len(t, res.History, res.Iterations+1)
			require.Equal(t, res.History[1:], heard, "residuals of x")
			if exp == 0 {
				require.Equal(t, res.Iterations+1, res.Products)
			}
		}
		x := make([]float64, a.Rows)
		res, err := FGMRES(t.Context(), plan, sines(a.Rows), x, Options{Tol: 1e-14, Precond: m})
		require.NoError(t, err, devices)
		require.LessOrEqual(t, res.Iterations, 4, devices)
	}
}

// Where the condition number exceeds the precision of float32, Richardson gives up, and FGMRES does not.
func TestRefinementWithAPoorFactorSaysSo(t *testing.T) {
	rows := make([][]float64, 12)
	for i := range rows {
		rows[i] = make([]float64, len(rows))
		for j := range rows {
			rows[i][j] = 1 / float64(i+j+1) // a Hilbert matrix with a larger diagonal: condition 1e9
		}
		rows[i][i] += 1e-9
	}
	a := dense(t, rows...)
	m := newSingle32(t, a)
	plan, b, x := planOn(t, "cpu:1", a), make([]float64, a.Rows), make([]float64, a.Rows)
	require.NoError(t, plan.SpMV(t.Context(), false, 1, sines(a.Rows), 0, b))
	res, err := Richardson(t.Context(), plan, b, x, Options{Tol: 1e-12, Precond: m})
	require.ErrorIs(t, err, ErrStagnation)
	require.False(t, res.Converged)
	clear(x)
	_, err = FGMRES(t.Context(), plan, b, x, Options{Tol: 1e-12, Precond: m})
	require.NoError(t, err)

	clear(x)
	_, err = Richardson(t.Context(), plan, b, x, Options{Precond: constant{a.Rows, math.NaN()}})
	require.ErrorIs(t, err, ErrBreakdown)
}

func TestRefinementOverProcessesHasTheBitsOfOne(t *testing.T) {
	a := laplacian(t, "stencil:n=100,points=5")
	for i := range a.Rows { // the diagonal alone is a good preconditioner
		for k := a.RowPtr[i]; k < a.RowPtr[i+1]; k++ {
			if int(a.ColIdx[k]) == i {
				a.Val[k] = 20
			}
		}
	}
	b := sines(a.Rows)
	run := func(cuts ...int) ([]float64, []*Result) {
		x, res, errs := together(members(t, a, true, cuts...), b, func(m *member, b, x []float64) (*Result, error) {
			d := make([]float64, len(b))
			for i := range d {
				d[i] = 1.0 / 20
			}
			return Richardson(t.Context(), m, b, x, Options{Precond: &jacobi{d}})
		})
		for _, err := range errs {
			require.NoError(t, err)
		}
		return x, res
	}
	want, one := run()
	x, res := run(SumChunk, 2*SumChunk)
	require.Equal(t, want, x)
	require.Equal(t, one[0].History, res[2].History)
	require.LessOrEqual(t, trueResidual(t, a, b, x), 1.01e-8)
}

package refine

import (
	"context"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/sparse"
)

func dense(n int, at func(i, j int) float64) *sparse.CSR[float64] {
	m := &sparse.CSR[float64]{Rows: n, Cols: n, RowPtr: []int64{0}}
	for i := range n {
		for j := range n {
			m.ColIdx, m.Val = append(m.ColIdx, int32(j)), append(m.Val, at(i, j))
		}
		m.RowPtr = append(m.RowPtr, int64(len(m.Val)))
	}
	return m
}

func number(v float64) *big.Float { return new(big.Float).SetPrec(400).SetFloat64(v) }

// exact returns b - A (high + low), and its length over that of b, computed with 400 bits.
func exact(a *sparse.CSR[float64], b, high, low []float64) ([]float64, float64) {
	r, rr, bb := make([]float64, len(b)), number(0), number(0)
	for i := range b {
		sum := number(b[i])
		bb.Add(bb, number(0).Mul(sum, sum))
		for k := a.RowPtr[i]; k < a.RowPtr[i+1]; k++ {
			j := a.ColIdx[k]
			x := number(0).Add(number(high[j]), number(low[j]))
			sum.Sub(sum, x.Mul(x, number(a.Val[k])))
		}
		r[i], _ = sum.Float64()
		rr.Add(rr, number(0).Mul(sum, sum))
	}
	rel, _ := rr.Sqrt(rr.Quo(rr, bb)).Float64()
	return r, rel
}

// inverse returns a solve with the matrix by elimination with 400 bits, rounded to the given number of bits at the end.
func inverse(a *sparse.CSR[float64], bits uint) func(r, z []float64) error {
	n := a.Rows
	return func(r, z []float64) error {
		m := make([][]*big.Float, n)
		for i := range m {
			m[i] = make([]*big.Float, n+1)
			for j := range n {
				m[i][j] = number(a.Val[i*n+j])
			}
			m[i][n] = number(r[i])
		}
		for k := range n {
			p := k
			for i := k; i < n; i++ {
				if number(0).Abs(m[i][k]).Cmp(number(0).Abs(m[p][k])) > 0 {
					p = i
				}
			}
			m[k], m[p] = m[p], m[k]
			for i := range n {
				if i == k {
					continue
				}
				f := number(0).Quo(m[i][k], m[k][k])
				for j := k; j <= n; j++ {
					m[i][j] = number(0).Sub(m[i][j], number(0).Mul(f, m[k][j]))
				}
			}
		}
		for i := range n {
			z[i], _ = number(0).SetPrec(bits).Quo(m[i][n], m[i][i]).Float64()
		}
		return nil
	}
}

func norm(b []float64) float64 {
	s := 0.0
	for _, v := range b {
		s += v * v
	}
	return math.Sqrt(s)
}

func ones(n int) []float64 {
	b := make([]float64, n)
	for i := range b {
		b[i] = 1
	}
	return b
}

func TestMisfitsHaveTwiceTheDigits(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	const n = 30
	a := dense(n, func(_, _ int) float64 { return random.NormFloat64() * math.Exp2(float64(random.IntN(20))) })
	high, low, b := make([]float64, n), make([]float64, n), make([]float64, n)
	for j := range high {
		high[j] = random.NormFloat64()
		low[j] = high[j] * random.NormFloat64() * 0x1p-54
	}
	for i := range b { // b is nearly A x, so that nearly all digits of b - A x cancel
		for j := range n {
			b[i] += a.Val[i*n+j] * high[j]
		}
	}
	want, rel := exact(a, b, high, low)
	s := System{A: a, B: b, Norm: norm(b)}
	r := make([]float64, n)
	require.InEpsilon(t, rel, s.extendedMisfit(high, low, r), 1e-9)
	for i := range want {
		require.InDelta(t, want[i], r[i], 1e-24*math.Abs(b[i])+1e-9*math.Abs(want[i]), i)
	}
	plain := make([]float64, n)
	s.misfit(high, plain)
	wrong := 0.0
	for i := range want {
		wrong = max(wrong, math.Abs(plain[i]-want[i])/math.Abs(want[i]))
	}
	require.Greater(t, wrong, 0.01, "float64 is too coarse for these")

	_, rel = exact(a, b, high, make([]float64, n))
	require.InEpsilon(t, rel, Residual(a, b, high, norm(b)), 1e-9)
	high[3] = math.NaN()
	require.Equal(t, math.Inf(1), Residual(a, b, high, norm(b)))
}

func TestSumsAreExact(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 1000 {
		a, b := random.NormFloat64()*math.Exp2(float64(random.IntN(200)-100)), random.NormFloat64()
		sum, err := twoSum(a, b)
		require.Equal(t, a+b, sum)
		require.Zero(t, number(0).Add(number(a), number(b)).Cmp(number(0).Add(number(sum), number(err))))
	}
}

func TestAWellConditionedSystemTakesOneStep(t *testing.T) {
	a := dense(20, func(i, j int) float64 {
		if i == j {
			return 4
		}
		return 1 / float64(1+i+j)
	})
	b, x := ones(20), make([]float64, 20)
	var steps []float64
	s := System{A: a, B: b, Norm: norm(b), Tol: 1e-8, Apply: inverse(a, 53), Progress: func(_ int, rel float64) { steps = append(steps, rel) }}
	out, err := s.Solve(t.Context(), x)
	require.NoError(t, err)
	require.Equal(t, 1, out.Steps)
	require.Len(t, steps, 1)
	_, rel := exact(a, b, x, make([]float64, 20))
	require.InEpsilon(t, rel, out.Residual, 1e-6)
	require.LessOrEqual(t, rel, 1e-15)
}

func TestCoarseFactorsTakeSeveralSteps(t *testing.T) {
	a := dense(20, func(i, j int) float64 {
		if i == j {
			return 4
		}
		return 1 / float64(1+i+j)
	})
	b, x := ones(20), make([]float64, 20)
	s := System{A: a, B: b, Norm: norm(b), Tol: 1e-13, Apply: inverse(a, 10)}
	out, err := s.Solve(t.Context(), x)
	require.NoError(t, err)
	require.Greater(t, out.Steps, 3)
	_, rel := exact(a, b, x, make([]float64, 20))
	require.LessOrEqual(t, rel, 1e-13)
}

// hilbert has a condition of about 1e16 for n = 12. Its right-hand side makes x large.
func hilbert(n int) *sparse.CSR[float64] {
	return dense(n, func(i, j int) float64 { return 1 / float64(1+i+j) })
}

func TestRoundingLetsErrorsCancel(t *testing.T) {
	const n = 12
	a, b, x := hilbert(n), ones(n), make([]float64, n)
	s := System{A: a, B: b, Norm: norm(b), Tol: 1e-30, Apply: inverse(a, 53)}
	out, err := s.Solve(t.Context(), x)
	require.NoError(t, err)
	require.True(t, out.Rounded)
	_, rel := exact(a, b, x, make([]float64, n))
	require.InEpsilon(t, rel, out.Residual, 1e-6)

	nearest := make([]float64, n)
	require.NoError(t, inverse(a, 53)(b, nearest))
	_, plain := exact(a, b, nearest, make([]float64, n))
	require.Greater(t, plain, 1e-11, "the exact solution, rounded")
	require.Less(t, rel, plain/3)
	for j := range x { // no more than rounding
		require.InEpsilon(t, nearest[j], x[j], 1e-9)
	}
}

// b is lost in the rounding errors of A x: a float64 residual is 0.
func TestALargeXDoesNotPassForASolution(t *testing.T) {
	a, b, x := dense(2, func(_, _ int) float64 { return 1 }), []float64{1, -1}, make([]float64, 2)
	s := System{A: a, B: b, Norm: norm(b), Tol: 1e-8, Apply: func(r, z []float64) error {
		z[0], z[1] = 0x1p60*r[0], -0x1p60*r[0]
		return nil
	}}
	out, err := s.Solve(t.Context(), x)
	require.NoError(t, err)
	require.GreaterOrEqual(t, out.Residual, 0.99)
}

func TestRefinementEndsWithItsContextAndWithErrors(t *testing.T) {
	a := hilbert(12)
	ctx, cancel := context.WithCancel(t.Context())
	count := 0
	solve := inverse(a, 20)
	s := System{A: a, B: ones(12), Norm: norm(ones(12)), Tol: 1e-30, Apply: func(r, z []float64) error {
		if count++; count == 3 {
			cancel()
		}
		return solve(r, z)
	}}
	_, err := s.Solve(ctx, make([]float64, 12))
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, 3, count)
	s.Apply = func(_, _ []float64) error { return sparse.Inputf("r", "is odd") }
	_, err = s.Solve(t.Context(), make([]float64, 12))
	require.True(t, sparse.IsInput(err))
}

func TestTriangleHasTheLengthsOfTheMatrix(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	const n = 25
	columns, kept := make([][]float64, n), make([][]float64, n)
	for j := range columns {
		columns[j] = make([]float64, n)
		for i := range columns[j] {
			if j != 7 { // a zero column
				columns[j][i] = random.NormFloat64()
			}
		}
		kept[j] = append([]float64{}, columns[j]...)
	}
	require.NoError(t, triangularise(t.Context(), columns))
	for range 10 { // |R e| = |A e|
		e := make([]float64, n)
		for j := range e {
			e[j] = random.NormFloat64()
		}
		var ae, re [n]float64
		for j := range e {
			for i := range n {
				ae[i] += kept[j][i] * e[j]
				if i <= j {
					re[i] += columns[j][i] * e[j]
				}
			}
		}
		require.InEpsilon(t, norm(ae[:]), norm(re[:]), 1e-12)
	}
}

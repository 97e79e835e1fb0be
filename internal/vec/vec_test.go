package vec

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// waves returns n numbers between -1 and 1.
func waves(n int, phase float64) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = math.Sin(float64(i) + phase)
	}
	return v
}

func TestLoopsFollowTheirFormulasAtEveryLength(t *testing.T) {
	for n := range 12 {
		p, q, x, r := waves(n, 1), waves(n, 2), waves(n, 3), waves(n, 4)
		var pq, pp, qq, d float64
		for i := range p {
			pq, pp = pq+p[i]*q[i], pp+p[i]*p[i]
			d += (q[i] - 0.5*p[i]) * (q[i] - 0.5*p[i])
			qq += (q[i] + 2*p[i]) * (q[i] + 2*p[i])
		}
		require.InDelta(t, pq, Dot(p, q), 1e-14)
		var xy, xx Sum
		AddDots(p, q, &xy, &xx)
		require.InDelta(t, pq, xy.Total(), 1e-14)
		require.InDelta(t, pp, xx.Total(), 1e-14)
		require.InDelta(t, d, Misfit(q, 0.5, p), 1e-13)
		require.InDelta(t, qq, Axpy(2, p, q), 1e-13)
		for i := range q {
			require.InDelta(t, math.Sin(float64(i)+2)+2*p[i], q[i], 1e-14)
		}
		rr := 0.0
		for i := range r {
			e := r[i] - 0.5*q[i]
			rr += e * e
		}
		require.InDelta(t, rr, CGStep(0.5, p, q, x, r), 1e-13)
		for i := range x {
			require.InDelta(t, math.Sin(float64(i)+3)+0.5*p[i], x[i], 1e-14)
			require.InDelta(t, math.Sin(float64(i)+4)-0.5*q[i], r[i], 1e-14)
		}
	}
}

func TestLoopsWithoutSumsGiveTheBitsOfTheirFormulas(t *testing.T) {
	for n := range 4 {
		p, q, r := waves(n, 1), waves(n, 2), waves(n, 3)
		y := make([]float64, n)
		check := func(formula string, want func(i int) float64) {
			t.Helper()
			for i := range y {
				require.Equal(t, want(i), y[i], "%s, element %d of %d", formula, i, n)
			}
		}
		ScaleTo(3, p, y)
		check("3p", func(i int) float64 { return 3 * p[i] })
		copy(y, q)
		Xpby(p, 0.3, y)
		check("p+0.3q", func(i int) float64 { return p[i] + float64(0.3*q[i]) })
		for _, f := range [][2]float64{{0.7, 0.3}, {1, 0.3}, {0.7, 1}} {
			copy(y, q)
			Axpby(f[0], p, f[1], y)
			check("ap+bq", func(i int) float64 { return float64(f[0]*p[i]) + float64(f[1]*q[i]) })
		}
		for i := range y {
			y[i] = math.NaN()
		}
		Axpby(0.7, p, 0, y)
		check("0.7p", func(i int) float64 { return 0.7 * p[i] })
		Multiply(p, q, y)
		check("pq", func(i int) float64 { return p[i] * q[i] })
		copy(y, q)
		x := append([]float64(nil), r...)
		UpdateDirection(0.7, 0.3, p, y, x)
		check("p+0.3q", func(i int) float64 { return p[i] + float64(0.3*q[i]) })
		copy(y, x)
		check("r+0.7q", func(i int) float64 { return r[i] + float64(0.7*q[i]) })
		copy(y, q)
		copy(x, r)
		UpdateDirectionScaled(0.7, 0.3, p, r, y, x)
		check("pr+0.3q", func(i int) float64 { return float64(p[i]*r[i]) + float64(0.3*q[i]) })
		copy(y, x)
		check("r+0.7q", func(i int) float64 { return r[i] + float64(0.7*q[i]) })
		copy(y, p)
		BiCGSTABDirection(r, 0.3, 0.7, q, y)
		check("r+0.3(p-0.7q)", func(i int) float64 { return r[i] + float64(0.3*(p[i]-float64(0.7*q[i]))) })
	}
}

func TestStepsOfMINRESAndLSMRRoundEachProduct(t *testing.T) {
	for n := range 12 {
		z, u, w, x := waves(n, 1), waves(n, 2), waves(n, 3), waves(n, 4)
		MINRESStep(0.7, z, -0.3, u, 0.9, w, 1.1, x)
		for i := range n {
			require.Equal(t, waves(n, 4)[i]+float64(1.1*u[i]), x[i])
			require.Equal(t, float64(0.7*z[i])+float64(-0.3*u[i])+float64(0.9*waves(n, 3)[i]), w[i])
		}
		v, h := waves(n, 1), waves(n, 2)
		w, x = waves(n, 3), waves(n, 4)
		LSMRStep(0.7, w, -0.3, x, 0.9, v, 1.1, h)
		for i := range n {
			require.Equal(t, waves(n, 2)[i]-float64(0.7*waves(n, 3)[i]), w[i])
			require.Equal(t, waves(n, 4)[i]+float64(-0.3*w[i]), x[i])
			require.Equal(t, float64(0.9*v[i])-float64(1.1*waves(n, 2)[i]), h[i])
		}
	}
}

func TestStepsOfChebyshevRoundEachProduct(t *testing.T) {
	for n := range 12 {
		m, b, d, x, r := waves(n, 1), waves(n, 2), waves(n, 3), waves(n, 4), waves(n, 5)
		ChebyshevStart(0.7, m, b, d, x, r)
		require.Equal(t, b, r)
		require.Equal(t, d, x)
		for i := range n {
			require.Equal(t, float64(0.7*float64(m[i]*b[i])), d[i])
		}
		d, x = waves(n, 3), waves(n, 4)
		ChebyshevStep(-0.3, 0.7, m, r, d, x)
		for i := range n {
			require.Equal(t, float64(-0.3*waves(n, 3)[i])+float64(0.7*float64(m[i]*r[i])), d[i])
			require.Equal(t, waves(n, 4)[i]+d[i], x[i])
		}
	}
}

func TestScaledAxpySumsBothSquares(t *testing.T) {
	for n := range 12 {
		x, y, d := waves(n, 1), waves(n, 2), waves(n, 3)
		var yy, ydy float64
		for i := range x {
			e := y[i] - 0.5*x[i]
			yy, ydy = yy+e*e, ydy+d[i]*e*e
		}
		var s, scaled Sum
		AddAxpyScaled(-0.5, x, y, d, &s, &scaled)
		require.InDelta(t, yy, s.Total(), 1e-13)
		require.InDelta(t, ydy, scaled.Total(), 1e-13)
		for i := range y {
			require.InDelta(t, math.Sin(float64(i)+2)-0.5*x[i], y[i], 1e-14)
		}
	}
}

func TestBiCGSTABStepMayUseOneVectorAsRAndS(t *testing.T) {
	for n := range 4 {
		for _, same := range []bool{false, true} {
			p, q, c := waves(n, 1), waves(n, 2), waves(n, 3)
			x, r, s := waves(n, 4), waves(n, 5), waves(n, 6)
			if same {
				s = r
			}
			var rr, cr float64
			wantX, wantR := make([]float64, n), make([]float64, n)
			for i := range n {
				wantX[i] = x[i] + 0.7*p[i] + 0.3*s[i]
				wantR[i] = r[i] - 0.3*q[i]
				rr, cr = rr+wantR[i]*wantR[i], cr+c[i]*wantR[i]
			}
			var gotRR, gotCR Sum
			AddBiCGSTABStep(0.7, p, 0.3, s, x, q, r, c, &gotRR, &gotCR)
			require.InDeltaSlice(t, wantX, x, 1e-14)
			require.InDeltaSlice(t, wantR, r, 1e-14)
			require.InDeltaSlice(t, []float64{rr, cr}, []float64{gotRR.Total(), gotCR.Total()}, 1e-13)
		}
	}
}

func TestLoopsOverSeveralVectorsGiveTheResultsOfEach(t *testing.T) {
	const n = 37
	for _, m := range []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 17, 24, 256, 257, 272} {
		p, q, x, r := waves(n*m, 1), waves(n*m, 2), waves(n*m, 3), waves(n*m, 4)
		column := func(v []float64, j int) []float64 {
			out := make([]float64, n)
			for i := range out {
				out[i] = v[i*m+j]
			}
			return out
		}
		a, b, d := waves(m, 5), waves(m, 6), waves(n, 7)
		z := make([]float64, n*m)
		ScaleMany(m, d, r, z)
		dots, squares := make([]float64, Parts(m)), make([]float64, Parts(m))
		dots[0], squares[m-1] = 1, 2 // what is there is added to
		DotMany(p, q, dots)
		sums := make([]float64, m)
		Totals(dots, sums)
		var wantX, wantR, wantP [][]float64
		for j := range m {
			x, r, p := column(x, j), column(r, j), column(p, j)
			want := Dot(p, column(q, j))
			if j == 0 {
				want++
			}
			require.InDelta(t, want, sums[j], 1e-13, "%d of %d", j, m)
			for i, v := range column(z, j) {
				require.Equal(t, d[i]*r[i], v)
			}
			Axpy(a[j], column(q, j), r)
			UpdateDirection(a[j], b[j], r, p, x)
			wantX, wantR, wantP = append(wantX, x), append(wantR, r), append(wantP, p)
		}
		AxpyMany(Repeat(a), q, r, squares)
		UpdateDirectionMany(Repeat(a), Repeat(b), r, p, x)
		Totals(squares, sums)
		for j := range m {
			want := Dot(wantR[j], wantR[j])
			if j == m-1 {
				want += 2
			}
			require.InDelta(t, want, sums[j], 1e-13, "%d of %d", j, m)
			require.Equal(t, wantX[j], column(x, j))
			require.Equal(t, wantR[j], column(r, j))
			require.Equal(t, wantP[j], column(p, j))
		}
	}
}

func TestPartsIsAMultipleOfTheVectorsAndOfTheSIMDWidth(t *testing.T) {
	for m := 1; m < 10_000; m++ {
		p := Parts(m)
		require.Zero(t, p%m)
		require.True(t, p%16 == 0 || p == m)
		require.LessOrEqual(t, p, max(m, 4096))
		require.True(t, m > 256 || p%16 == 0, "%d", m)
	}
}

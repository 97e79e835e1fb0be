package vec

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// waves is n numbers of about 1.
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
		xy, xx := Dots(p, q)
		require.InDelta(t, pq, xy, 1e-14)
		require.InDelta(t, pp, xx, 1e-14)
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
		require.InDelta(t, rr, Step(0.5, p, q, x, r), 1e-13)
		for i := range x {
			require.InDelta(t, math.Sin(float64(i)+3)+0.5*p[i], x[i], 1e-14)
			require.InDelta(t, math.Sin(float64(i)+4)-0.5*q[i], r[i], 1e-14)
		}
	}
}

func TestSeveralVectorsAreTreatedAsEachAlone(t *testing.T) {
	const n = 13
	for m := 1; m <= 9; m++ {
		p, q, x, r := waves(n*m, 1), waves(n*m, 2), waves(n*m, 3), waves(n*m, 4)
		column := func(v []float64, j int) []float64 {
			out := make([]float64, n)
			for i := range out {
				out[i] = v[i*m+j]
			}
			return out
		}
		f := waves(m, 5)
		dots, steps := make([]float64, m), make([]float64, m)
		for j := range m {
			dots[j], steps[j] = 1, 2 // what is there is added to
		}
		DotMany(p, q, dots)
		wantX, wantR, wantP := make([][]float64, m), make([][]float64, m), make([][]float64, m)
		for j := range m {
			require.InDelta(t, 1+Dot(column(p, j), column(q, j)), dots[j], 1e-13)
			wantX[j], wantR[j], wantP[j] = column(x, j), column(r, j), column(p, j)
			steps[j] -= Step(f[j], column(p, j), column(q, j), wantX[j], wantR[j])
			Xpby(wantR[j], f[j], wantP[j])
		}
		StepMany(f, p, q, x, r, steps)
		XpbyMany(r, f, p)
		for j := range m {
			require.InDelta(t, 2, steps[j], 1e-13)
			require.InDeltaSlice(t, wantX[j], column(x, j), 1e-14)
			require.InDeltaSlice(t, wantR[j], column(r, j), 1e-14)
			require.InDeltaSlice(t, wantP[j], column(p, j), 1e-14)
		}
	}
}

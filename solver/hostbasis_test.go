package solver

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/vec"
)

// The fused passes over a basis give the same bits as plain loops over one vector after the other.
func TestFusedPassesOverABasisHaveTheBitsOfPlainLoops(t *testing.T) {
	const n = 2*SumChunk + 1003
	plan := planOn(t, "cpu:1", laplacian(t, "stencil:n=3,points=5")) // for its workers only
	for _, m := range []int{1, 4, 11, 38, 140} {
		s := newHostSpace(t.Context(), plan, nil, nil, n)
		s.load(make([]float64, n), make([]float64, n))
		v, g, h := make([]vector, m), make([]float64, m), make([]float64, m+1)
		for j := range v {
			v[j], g[j], h[j] = s.zero(), math.Cos(float64(j)), math.Sin(float64(j))
			for i := range n {
				s.v[v[j]][i] = math.Sin(float64(i*j + i + j))
			}
		}
		h[m] = -0.3
		u, w := s.zero(), s.zero()
		copy(s.v[u], sines(n))
		copy(s.v[w], s.v[v[m-1]])
		wantU, wantW := sines(n), slices.Clone(s.v[w])
		check := func() {
			t.Helper()
			require.True(t, slices.Equal(wantU, s.v[u]), "u, %d vectors", m)
			require.True(t, slices.Equal(wantW, s.v[w]), "w, %d vectors", m)
		}
		dot := func(x, y []float64) (sum float64) {
			for lo := 0; lo < n; lo += SumChunk {
				hi := min(lo+SumChunk, n)
				sum += vec.Dot(x[lo:hi], y[lo:hi])
			}
			return sum
		}
		gotG, gotH := s.project(v, u, w)
		for j := range v {
			require.Equal(t, dot(s.v[v[j]], wantU), gotG[j], "vector %d of %d and u", j, m)
			require.Equal(t, dot(s.v[v[j]], wantW), gotH[j], "vector %d of %d and w", j, m)
		}
		require.Equal(t, dot(wantU, wantW), gotH[m], "%d vectors", m)
		check()
		square := s.subtractProjection(g, h, v, u, w)
		for j := range v {
			vec.Axpy(-g[j], s.v[v[j]], wantU)
			vec.Axpy(-h[j], s.v[v[j]], wantW)
		}
		vec.Axpy(-h[m], wantU, wantW)
		check()
		require.Equal(t, dot(wantW, wantW), square, "%d vectors", m)
		s.add(0.5, h[:m], v, w)
		for j := range v {
			vec.Axpy(0.5*h[j], s.v[v[j]], wantW)
		}
		check()
		require.NoError(t, s.failed())
	}
}

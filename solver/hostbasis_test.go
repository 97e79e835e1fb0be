package solver

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/vec"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/solver/internal/space"
)

// resized is a plan that states another size.
type resized struct {
	*msrep.Plan[float64]
	n int
}

func (r resized) Dims() (rows, cols int) { return r.n, r.n }

// The fused passes over a basis give the same bits as plain loops over one vector after the other.
func TestFusedPassesOverABasisHaveTheBitsOfPlainLoops(t *testing.T) {
	const n = 2*SumChunk + 1003
	plan := resized{planOn(t, "cpu:1", laplacian(t, "stencil:n=3,points=5")), n} // for its workers only
	for _, m := range []int{1, 4, 11, 38, 140} {
		s := space.NewHost(t.Context(), plan, nil, nil)
		s.Load(make([]float64, n), make([]float64, n))
		v, g, h := make([]space.Vector, m), make([]float64, m), make([]float64, m+1)
		for j := range v {
			v[j], g[j], h[j] = s.Zero(), math.Cos(float64(j)), math.Sin(float64(j))
			for i := range n {
				s.V[v[j]][i] = math.Sin(float64(i*j + i + j))
			}
		}
		h[m] = -0.3
		u, w := s.Zero(), s.Zero()
		copy(s.V[u], sines(n))
		copy(s.V[w], s.V[v[m-1]])
		wantU, wantW := sines(n), slices.Clone(s.V[w])
		check := func() {
			t.Helper()
			require.True(t, slices.Equal(wantU, s.V[u]), "u, %d vectors", m)
			require.True(t, slices.Equal(wantW, s.V[w]), "w, %d vectors", m)
		}
		dot := func(x, y []float64) (sum float64) {
			for lo := 0; lo < n; lo += SumChunk {
				hi := min(lo+SumChunk, n)
				sum += vec.Dot(x[lo:hi], y[lo:hi])
			}
			return sum
		}
		gotG, gotH := s.Project(v, u, w)
		for j := range v {
			require.Equal(t, dot(s.V[v[j]], wantU), gotG[j], "vector %d of %d and u", j, m)
			require.Equal(t, dot(s.V[v[j]], wantW), gotH[j], "vector %d of %d and w", j, m)
		}
		require.Equal(t, dot(wantU, wantW), gotH[m], "%d vectors", m)
		check()
		square := s.SubtractProjection(g, h, v, u, w)
		for j := range v {
			vec.Axpy(-g[j], s.V[v[j]], wantU)
			vec.Axpy(-h[j], s.V[v[j]], wantW)
		}
		vec.Axpy(-h[m], wantU, wantW)
		check()
		require.Equal(t, dot(wantW, wantW), square, "%d vectors", m)
		s.Add(0.5, h[:m], v, w)
		for j := range v {
			vec.Axpy(0.5*h[j], s.V[v[j]], wantW)
		}
		check()
		require.NoError(t, s.Failed())
	}
}

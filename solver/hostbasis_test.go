package solver

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/vec"
)

// What is done with the vectors of a basis in one pass has the bits of plain loops, one after the
// other, also where a block is cut into tiles.
func TestPassesOverABasisHaveTheBitsOfLoopsOverItsVectors(t *testing.T) {
	const n = 2*SumBlock + 1003
	plan := planOn(t, "cpu:1", laplacian(t, "stencil:n=3,points=5")) // for its workers only
	for _, m := range []int{1, 4, 11, 38, 140} {
		s, _, _ := newHostSpace(t.Context(), plan, nil, nil, make([]float64, n), make([]float64, n))
		v, h := make([]vector, m), make([]float64, m)
		for j := range v {
			v[j], h[j] = s.zero(), math.Sin(float64(j))
			for i := range n {
				s.v[v[j]][i] = math.Sin(float64(i*j + i + j))
			}
		}
		w := s.zero()
		copy(s.v[w], sines(n))
		want := sines(n)
		plain := func(a float64) {
			for j := range v {
				vec.Axpy(a*h[j], s.v[v[j]], want)
			}
		}
		dot := func(x []float64) (sum float64) {
			for lo := 0; lo < n; lo += SumBlock {
				hi := min(lo+SumBlock, n)
				sum += vec.Dot(x[lo:hi], want[lo:hi])
			}
			return sum
		}
		check := func(got []float64) {
			t.Helper()
			for j := range v {
				require.Equal(t, dot(s.v[v[j]]), got[j], "vector %d of %d", j, m)
			}
			require.True(t, slices.Equal(want, s.v[w]), "%d vectors", m)
		}
		got := make([]float64, m)
		s.project(got, v, w)
		check(got)
		s.remove(h, v, w, got)
		plain(-1)
		check(got)
		s.add(0.5, h, v, w)
		plain(0.5)
		square := s.combine(-0.3, h, v, w)
		plain(-0.3)
		require.Equal(t, dot(want), square, "%d vectors", m)
		require.True(t, slices.Equal(want, s.v[w]), "%d vectors", m)
		require.NoError(t, s.failed())
	}
}

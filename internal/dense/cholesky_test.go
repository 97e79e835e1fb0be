package dense_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/dense"
	"github.com/msrep-go/msrep/sparse"
)

func TestCholeskyGivesTheMatrixBack(t *testing.T) {
	eachLevel(t, testCholesky[float64], testCholesky[float32])
}

func testCholesky[V sparse.Value](t *testing.T) {
	random := rand.New(rand.NewPCG(19, 20))
	for range rounds() / 2 {
		n := dimension(random)
		a := newRandom[V](random, n, n, lower)
		for i := range n {
			a.set(i, i, V(1+float64(n)/4))
		}
		l := a.clone()
		require.Equal(t, -1, dense.Cholesky(n, l.val, l.ld))
		a.sameElsewhere(t, l, lower, "upper triangle of %d", n)
		for j := range n {
			for i := j; i < n; i++ {
				want, size := 0.0, 0.0
				for p := range j + 1 {
					x := float64(l.at(i, p)) * float64(l.at(j, p))
					want += x
					size += math.Abs(x)
				}
				near(t, want, size, a.at(i, j), j+3, "%d, element %d %d", n, i, j)
			}
		}
		if n == 0 {
			continue
		}
		bad := random.IntN(n)
		for _, v := range []float64{0, -1, math.NaN()} {
			b := a.clone()
			b.set(bad, bad, V(v))
			require.Equal(t, bad, dense.Cholesky(n, b.val, b.ld), "pivot %v of %d", v, n)
			for i := range bad {
				require.Equal(t, l.at(i, i), b.at(i, i))
			}
		}
	}
}

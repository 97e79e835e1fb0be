package cuda_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/kernels/internal/ptx"
	"github.com/msrep-go/msrep/merge"
	"github.com/msrep-go/msrep/sparse"
)

var lengths = []int{0, 1, 31, 32, 33, 255, 256, 257, 1000}

func TestPartialVectorsAreSummedAsMergeDoes(t *testing.T) {
	t.Run("float64", func(t *testing.T) { sumsPartials[float64](t) })
	t.Run("float32", func(t *testing.T) { sumsPartials[float32](t) })
}

func sumsPartials[V sparse.Value](t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, count := rapid.SampledFrom(lengths).Draw(t, "n"), rapid.IntRange(1, 8).Draw(t, "count")
		beta := rapid.SampledFrom([]V{0, 1, -1, 0.5}).Draw(t, "beta")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		g := newGPU(t)
		g.blocks = rapid.Int64Range(0, 2).Draw(t, "blocks")
		want := random[V](r, n)
		y := result(g, beta, want)
		args := []any{y.addr}
		partials := make([][]V, count)
		for i := range 8 {
			var a ptx.Addr
			if i < count {
				partials[i] = random[V](r, n)
				a = upload(g, "p", partials[i])
			}
			args = append(args, a)
		}
		g.launch(named[V]("msrep_sum_partials"), int64(n), append(args, int64(count), int64(n), beta)...)
		g.ok()
		// beta is a power of two, so a fused product gives the same bits.
		require.NoError(t, merge.Sum(want, beta, partials))
		require.Equal(t, want, y.read())
	})
}

func TestVectorOperationsFollowTheirFormulas(t *testing.T) {
	t.Run("float64", func(t *testing.T) { operates[float64](t) })
	t.Run("float32", func(t *testing.T) { operates[float32](t) })
}

func operates[V sparse.Value](t *testing.T) {
	for _, n := range lengths {
		for _, blocks := range []int64{0, 1} {
			r := rand.New(rand.NewPCG(2, uint64(n)))
			x, y := random[V](r, n), random[V](r, n)
			for i := range x {
				// The numbers have few bits, so nothing is rounded.
				x[i], y[i] = V(math.Round(float64(x[i])*64)), V(math.Round(float64(y[i])*64))
			}
			for _, beta := range []V{0, 1, 0.5} {
				g := newGPU(t)
				g.blocks = blocks
				a, b := result(g, beta, y), result(g, beta, y)
				d := array[V](g, "d", n)
				dx := upload(g, "x", x)
				g.launch(named[V]("msrep_axpby"), int64(n), dx, a.addr, int64(n), V(-2), beta)
				g.launch(named[V]("msrep_scale"), int64(n), b.addr, int64(n), beta)
				g.launch(named[V]("msrep_fill"), int64(n), d, int64(n), V(3))
				g.ok()
				axpby, scale := make([]V, n), make([]V, n)
				for i := range x {
					axpby[i], scale[i] = -2*x[i]+beta*y[i], beta*y[i]+0
				}
				require.Equal(t, axpby, a.read())
				require.Equal(t, scale, b.read())
				require.Equal(t, slices.Repeat([]V{3}, n), download[V](g, d, n))
			}
		}
	}
}

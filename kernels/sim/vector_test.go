package sim_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/devicetest"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/sim"
	"github.com/msrep-go/msrep/sparse"
)

func vectorOps[V sparse.Value](t *rapid.T) {
	d, err := sim.Open(sim.Config{Blocks: rapid.SampledFrom([]int64{0, 1, 3}).Draw(t, "blocks")})
	require.NoError(t, err)
	devicetest.VectorOps[V](t, d)
	require.NoError(t, d.Close())
}

func TestVectorOperationsFollowTheirFormulas(t *testing.T) {
	t.Run("float64", func(t *testing.T) { rapid.Check(t, vectorOps[float64]) })
	t.Run("float32", func(t *testing.T) { rapid.Check(t, vectorOps[float32]) })
}

func TestTheScalarsOfCGFollowTheLoopOfTheHost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, err := sim.Open(sim.Config{})
		require.NoError(t, err)
		devicetest.CGScalars(t, d)
		require.NoError(t, d.Close())
	})
}

func TestSumsOfManyBlocksAreAllCounted(t *testing.T) {
	const n = 300_000 // more blocks than the limit of partial sums
	d, s := open(t, sim.Config{Unchecked: true})
	ones := make([]float64, n)
	for i := range ones {
		ones[i] = 1
	}
	x, sums := upload(t, s, d, ones), upload(t, s, d, make([]float64, 2))
	require.NoError(t, s.Launch(&kernels.Project[float64]{V: []kernels.Array[float64]{x, x}, W: x, Sums: sums}))
	require.Equal(t, []float64{n, n}, download(t, s, sums))
	require.NoError(t, x.Free())
	require.NoError(t, sums.Free())
	require.NoError(t, d.Close())
}

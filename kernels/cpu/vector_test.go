package cpu

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/devicetest"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
)

func vectorOps[V sparse.Value](t *rapid.T) {
	d := open(t, Config{Threads: rapid.IntRange(1, 3).Draw(t, "threads"), NUMANode: -1})
	devicetest.VectorOps[V](t, d)
	require.NoError(t, d.Close())
}

func TestVectorOperationsFollowTheirFormulas(t *testing.T) {
	t.Run("float64", func(t *testing.T) { rapid.Check(t, vectorOps[float64]) })
	t.Run("float32", func(t *testing.T) { rapid.Check(t, vectorOps[float32]) })
}

func TestSumsDoNotDependOnTheNumberOfWorkers(t *testing.T) {
	x := make([]float64, 5*sumBlock+77)
	for i := range x {
		x[i] = math.Sin(float64(i))
	}
	var first float64
	for threads := 1; threads < 5; threads++ {
		d := open(t, Config{Threads: threads, NUMANode: -1})
		s, err := d.NewStream()
		require.NoError(t, err)
		sum := []float64{0}
		ax := kernels.AdoptArray(d, x)
		require.NoError(t, s.Launch(&kernels.Project[float64]{V: []kernels.Array[float64]{ax}, W: ax, Sums: kernels.AdoptArray(d, sum)}))
		if threads == 1 {
			first = sum[0]
		}
		require.Equal(t, math.Float64bits(first), math.Float64bits(sum[0]))
		require.NoError(t, d.Close())
	}
}

func TestVectorsOfDifferentLengthsAreRefused(t *testing.T) {
	d := open(t, Config{Threads: 1, NUMANode: -1})
	s, err := d.NewStream()
	require.NoError(t, err)
	short, long := kernels.AdoptArray(d, make([]float64, 2)), kernels.AdoptArray(d, make([]float64, 3))
	one := kernels.AdoptArray(d, make([]float64, 1))
	for _, op := range []kernels.Operation{
		&kernels.Axpby[float64]{X: short, Y: long},
		&kernels.Elementwise[float64]{Formula: kernels.CGStep, Numbers: []float64{1}, Vectors: []kernels.Array[float64]{long, long, long, short}, Sums: one},
		&kernels.Combine[float64]{H: nil, V: []kernels.Array[float64]{long}, W: long, Sums: one},
		&kernels.Combine[float64]{W: long, Sums: one},
		&kernels.AddCarries[float64]{Row: kernels.AdoptArray(d, []int32{3}), Val: one, Y: long},
	} {
		require.ErrorIs(t, s.Launch(op), kernels.ErrArgument, op.Name())
	}
}

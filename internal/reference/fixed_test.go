package reference_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/reference"
	"github.com/msrep-go/msrep/kernels"
)

func TestAFixedSumIsInTheOrderOfTheEntries(t *testing.T) {
	x := []float64{1, 1e16, -1e16}
	val := []float64{1, 1, 1, 1}
	require.Equal(t, 1.0, reference.FixedSum([]int32{1, 2, 0}, val[:3], x))
	require.Equal(t, 0.0, reference.FixedSum([]int32{0, 1, 2}, val[:3], x))
	require.True(t, math.Signbit(reference.FixedSum([]int32{0}, []float64{-1e-200}, []float64{1e-200})), "one chunk is not added to anything")
}

// The second chunk is added to the stripe after the last stripe of the first chunk.
func TestChunksOfALongRowGoToTheStripesRoundRobin(t *testing.T) {
	n := kernels.FixedChunk * (kernels.FixedStripes + 1)
	idx, val := make([]int32, n), make([]float64, n)
	val[0], val[kernels.FixedChunk], val[n-1] = 1e16, 1, -1e16
	require.Equal(t, 1.0, reference.FixedSum(idx, val, []float64{1}))
	val[n-1], val[kernels.FixedChunk*2] = 0, -1e16
	require.Equal(t, 1.0, reference.FixedSum(idx, val, []float64{1}))
	val[kernels.FixedChunk*2], val[kernels.FixedChunk*16] = 0, -1e16 // the tree adds stripes 0 and 16 first
	require.Equal(t, 1.0, reference.FixedSum(idx, val, []float64{1}))
	val[kernels.FixedChunk*16], val[kernels.FixedChunk*17] = 0, -1e16 // and 1 and 17
	require.Equal(t, 0.0, reference.FixedSum(idx, val, []float64{1}))
}

func TestFMARoundsOnceInBothTypes(t *testing.T) {
	const e = 1.0 / (1 << 12)
	require.Equal(t, float32(e*e), reference.FMA[float32](1+e, 1-e, -1)*-1)
	require.Equal(t, float32(math.Inf(1)), reference.FMA(float32(math.Inf(1)), 2, 3))
	require.True(t, math.Signbit(float64(reference.FMA[float32](0, -1, float32(math.Copysign(0, -1))))))
	require.Equal(t, math.FMA(0.1, 0.2, 0.3), reference.FMA(0.1, 0.2, 0.3))
}

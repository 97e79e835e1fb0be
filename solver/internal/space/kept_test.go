package space

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestVectorsInKeptMemoryAreZeroAndApart(t *testing.T) {
	for range 3 { // the second time in memory that was in use
		var k kept
		k.Reserve(3, 5000)
		var all [][]float64
		for i := range 6 { // more than there is memory for
			v := k.take(5000 + i)
			require.Len(t, v, 5000+i)
			for _, e := range v {
				require.Zero(t, e)
			}
			for e := range v {
				v[e] = float64(i + 1)
			}
			all = append(all, v)
		}
		for i, v := range all {
			for _, e := range v {
				require.Equal(t, float64(i+1), e)
			}
		}
		require.NoError(t, k.free())
		require.Nil(t, k.room)
		require.NoError(t, k.free())
	}
	require.Positive(t, spareVectors.Bytes())
}

func TestFewAndManyElementsAreNotReserved(t *testing.T) {
	for _, length := range []int{0, mostKept / 8} {
		var k kept
		k.Reserve(1, length)
		require.Nil(t, k.region)
		require.Len(t, k.take(length), length)
	}
}

package saturate

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSumsAndProductsEndAtTheLargestInteger(t *testing.T) {
	const most int64 = math.MaxInt64
	require.EqualValues(t, 42, Mul(6, 7))
	require.EqualValues(t, 0, Mul(0, most))
	require.EqualValues(t, most, Mul(1, most))
	require.EqualValues(t, most, Mul(2, most/2+1), "2^63")
	require.EqualValues(t, most, Mul(1<<32, 1<<32), "2^64")
	require.EqualValues(t, most-1, Mul(2, most/2))
	require.EqualValues(t, 13, Add(6, 7))
	require.EqualValues(t, most, Add(most, 0))
	require.EqualValues(t, most, Add(most, 1))
	require.EqualValues(t, most, Add(most, most))
}

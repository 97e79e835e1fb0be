package form

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/simd"
)

func TestValuesIn57BitsAreTheSame(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	const n = 8 * 500
	for _, low := range []int{0, 1, 1000, 2032} {
		val := make([]float64, n)
		for i := range val {
			b := r.Uint64()&^(0x7FF<<52) | uint64(low+r.IntN(codes57))<<52
			if r.IntN(100) == 0 {
				b = r.Uint64() // any, also NaN
			}
			val[i] = math.Float64frombits(b)
		}
		val[n-1] = math.Inf(-1)
		var packed [2]*Values57
		for i, l := range []simd.Level{simd.Generic, simd.Best()} {
			s := New57(low, make([]byte, n/8*eight57+Slack57), make([]int64, n), make([]float64, n))
			for from, to := 0, 0; from < n; from = to {
				to = min(from+8*r.IntN(9), n)
				require.True(t, s.Append(l, val[from:to]))
			}
			for k, v := range val {
				require.Equal(t, math.Float64bits(v), math.Float64bits(s.value(k)), "value %d, low %d, %v", k, low, l)
			}
			packed[i] = s
		}
		require.Equal(t, packed[0].Apart, packed[1].Apart)
		found, out := Low57(val)
		require.LessOrEqual(t, out, n/50)
		require.InDelta(t, low, found, 8)
	}
}

func TestUncompressedValuesNeedRoom(t *testing.T) {
	val := make([]float64, 64)
	for _, l := range []simd.Level{simd.Generic, simd.Best()} {
		s := New57(1, make([]byte, 8*eight57+Slack57), make([]int64, 8), make([]float64, 64))
		require.False(t, s.Append(l, val), "zeros are apart: there is room for seven times eight")
		s = New57(1, make([]byte, 8*eight57+Slack57), make([]int64, 9), make([]float64, 64))
		require.True(t, s.Append(l, val))
	}
}

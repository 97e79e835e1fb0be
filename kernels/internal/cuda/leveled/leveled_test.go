package leveled

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/kernels"
)

// draw draws a lower triangle whose rows have up to longest entries, or all columns
// before them in some rows.
func draw(t *rapid.T) *kernels.TrianglePacking[float64] {
	n := rapid.SampledFrom([]int{0, 1, 5, 100, 700, 2500}).Draw(t, "rows")
	longest := rapid.SampledFrom([]int{1, 5, 40}).Draw(t, "longest")
	full := rapid.IntRange(0, 2).Draw(t, "full")
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	op := &kernels.TrianglePacking[float64]{Ptr: []int64{0}}
	for i := range n {
		step := 1 + i/longest
		if i >= n-full {
			step = 1
		}
		for c := r.IntN(step); c < i; c += 1 + r.IntN(step) {
			op.Idx, op.Val = append(op.Idx, int32(c)), append(op.Val, r.NormFloat64()/float64(1+i))
		}
		op.Ptr, op.Diag = append(op.Ptr, int64(len(op.Idx))), append(op.Diag, 1+r.Float64())
	}
	return op
}

func TestPlacesFollowLevelsAndKeepTheSystem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		op := draw(t)
		l, err := New(op)
		require.NoError(t, err)
		places := len(l.Perm)
		require.Len(t, l.Ptr, places+1)
		b, want := make([]float64, op.Rows()), make([]float64, op.Rows())
		for r := range b {
			b[r] = float64(r%7) - 3
			want[r] = b[r]
			for k := op.Ptr[r]; k < op.Ptr[r+1]; k++ {
				want[r] -= op.Val[k] * want[op.Idx[k]]
			}
			want[r] /= op.Diag[r]
		}
		level, w, seen := make([]int, places), make([]float64, places), make([]bool, op.Rows())
		last := 0
		for p, r := range l.Perm {
			entries := l.Ptr[p+1] - l.Ptr[p]
			require.LessOrEqual(t, entries, int64(2*MostEntries))
			before := int32(-1)
			for k := l.Ptr[p]; k < l.Ptr[p+1]; k++ {
				if l.Idx[k] <= before || int(l.Idx[k]) >= p {
					require.Fail(t, "columns", "%d, after %d, at place %d", l.Idx[k], before, p)
				}
				before = l.Idx[k]
				level[p] = max(level[p], level[before]+1)
				w[p] -= l.Val[k] * w[before]
			}
			require.GreaterOrEqual(t, level[p], last, "levels do not decrease")
			last = level[p]
			if r < 0 {
				require.Equal(t, 1.0, l.Diag[p])
				continue
			}
			require.False(t, seen[r])
			seen[r] = true
			w[p] = (w[p] + b[r]) / l.Diag[p]
			require.InDelta(t, want[r], w[p], 1e-10)
		}
		require.NotContains(t, seen, false)
		if places > 0 {
			require.Equal(t, last+1, l.Levels)
		}

		require.Zero(t, l.Task[0])
		require.Equal(t, int32(places), l.Task[len(l.Task)-1])
		for i := range len(l.Task) - 1 {
			rows := int(l.Task[i+1] - l.Task[i])
			require.Positive(t, rows)
			lanes := warp
			for lanes*rows > warp {
				lanes /= 2
			}
			require.Positive(t, lanes)
			for p := l.Task[i]; p < l.Task[i+1]; p++ {
				need := min(int(l.Ptr[p+1]-l.Ptr[p]+ahead-1)/ahead, warp)
				require.GreaterOrEqual(t, lanes, need, "all entries of place %d are under way at once", p)
			}
		}
	})
}

func TestAChainFillsWarps(t *testing.T) {
	op := &kernels.TrianglePacking[float32]{Ptr: []int64{0, 0}}
	for i := int32(1); i < 320; i++ {
		op.Idx, op.Val = append(op.Idx, i-1), append(op.Val, 1)
		op.Ptr = append(op.Ptr, int64(i))
	}
	l, err := New(op)
	require.NoError(t, err)
	require.Equal(t, 320, l.Levels)
	require.Len(t, l.Task, 11)
	require.Nil(t, l.Diag)
}

func TestWhatIsNoTriangleIsAnError(t *testing.T) {
	for _, upper := range []bool{false, true} {
		for _, idx := range []int32{-1, 1, 3} {
			op := &kernels.TrianglePacking[float64]{Upper: upper, Ptr: []int64{0, 0, 1, 1}, Idx: []int32{idx}, Val: []float64{1}}
			_, err := New(op)
			require.ErrorIs(t, err, kernels.ErrArgument, "upper %v, column %d of row 1", upper, idx)
		}
	}
	_, err := New(&kernels.TrianglePacking[float64]{Ptr: []int64{0, 1, 1}, Idx: []int32{1}, Val: []float64{1}})
	require.ErrorIs(t, err, kernels.ErrArgument, "an upper entry of a lower triangle")
	_, err = New(&kernels.TrianglePacking[float64]{Upper: true, Ptr: []int64{0, 0, 1}, Idx: []int32{0}, Val: []float64{1}})
	require.ErrorIs(t, err, kernels.ErrArgument, "a lower entry of an upper triangle")
}

func TestPackingStops(t *testing.T) {
	stop := errors.New("stop")
	_, err := New(&kernels.TrianglePacking[float64]{Ptr: []int64{0, 0}, Stop: func() error { return stop }})
	require.ErrorIs(t, err, stop)
}

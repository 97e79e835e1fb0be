package mem_test

import (
	"math"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/mem"
)

func TestAvailableMemoryIsSensible(t *testing.T) {
	require.Greater(t, mem.Available(), int64(16<<20))
	require.Less(t, mem.Available(), int64(1<<50))
	require.LessOrEqual(t, mem.Available(), int64(math.MaxInt), "a slice can have it")
}

func TestGarbageIsCollectedBeforeARequestIsRefused(t *testing.T) {
	collected := func() uint32 {
		var s runtime.MemStats
		runtime.ReadMemStats(&s)
		return s.NumForcedGC
	}
	before := collected()
	_, ok := mem.Fits(4 << 20)
	require.True(t, ok)
	require.Equal(t, before, collected(), "there is enough")
	have, ok := mem.Fits(math.MaxInt64)
	require.False(t, ok)
	require.Less(t, have, int64(1<<50))
	require.Greater(t, collected(), before)
}

func TestAvailableAndSmallSizesFit(t *testing.T) {
	const room = 20 << 20
	end := mem.SetAvailable(room)
	for _, c := range []struct {
		need int64
		ok   bool
	}{{0, true}, {room, true}, {room + 1, false}, {math.MaxInt64, false}} {
		have, ok := mem.Fits(c.need)
		require.Equal(t, c.ok, ok, c.need)
		if !ok {
			require.Equal(t, int64(room), have)
		}
	}
	inner := mem.SetAvailable(0)
	_, ok := mem.Fits(4<<20 - 1)
	require.True(t, ok, "too small to be asked for")
	_, ok = mem.Fits(4 << 20)
	require.False(t, ok)
	for range 4 {
		_, ok = mem.Fits(1<<20 - 1)
		require.True(t, ok)
		_, ok = mem.Fits(-1 << 20)
		require.True(t, ok)
	}
	_, ok = mem.Fits(16)
	require.False(t, ok, "too much together")
	_, ok = mem.Fits(16)
	require.True(t, ok, "nobody has asked for more since")
	inner()
	_, ok = mem.Fits(room)
	require.True(t, ok)
	end()
	_, ok = mem.Fits(room + 1)
	require.True(t, ok, "the machine has more")
}

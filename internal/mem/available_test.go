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

func TestGarbageIsCollectedBeforeMemoryIsFoundToLack(t *testing.T) {
	collected := func() uint32 {
		var s runtime.MemStats
		runtime.ReadMemStats(&s)
		return s.NumForcedGC
	}
	before := collected()
	mem.AvailableFor(1 << 20)
	require.Equal(t, before, collected(), "there is enough")
	require.Less(t, mem.AvailableFor(math.MaxInt64), int64(1<<50))
	require.Greater(t, collected(), before)
}

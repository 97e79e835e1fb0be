package mem_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/mem"
)

func TestAvailableMemoryIsSensible(t *testing.T) {
	require.Greater(t, mem.Available(), int64(16<<20))
	require.Less(t, mem.Available(), int64(1<<50))
	require.LessOrEqual(t, mem.Available(), int64(math.MaxInt), "a slice can have it")
}

package sparse

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/mem"
)

func TestMatricesThatDoNotFitIntoMemoryAreRefused(t *testing.T) {
	defer mem.SetAvailable(100 << 20)()
	var l Limits
	const most = (100<<20 - 8<<20) / EntryBytes
	require.NoError(t, l.CheckMemory("f", 2, 1<<20, most, EntryBytes))
	err := l.CheckMemory("f", 2, 1<<20, most+1, EntryBytes)
	require.EqualError(t, err, "f:2: 8039083 entries in 1048576 rows: to read them takes at least 104857604 bytes of memory, 104857600 are available")
	require.True(t, IsInput(err))
	require.Error(t, l.CheckMemory("f", 2, math.MaxInt64, math.MaxInt64, TripleBytes))
}

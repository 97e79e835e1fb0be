package mem

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// under calls f with a limit of the process that exceeds its current use by the given
// number of bytes. The number at index i of statm is the current use.
func under(t *testing.T, resource, i int, more uint64, f func()) {
	text, err := os.ReadFile("/proc/self/statm")
	require.NoError(t, err)
	pages, err := strconv.ParseUint(strings.Fields(string(text))[i], 10, 64)
	require.NoError(t, err)
	var before unix.Rlimit
	require.NoError(t, unix.Getrlimit(resource, &before))
	limited := unix.Rlimit{Cur: pages*uint64(os.Getpagesize()) + more, Max: before.Max}
	if limited.Cur >= before.Max || limited.Cur >= noLimit {
		t.Skip("no such limit can be set here")
	}
	require.NoError(t, unix.Setrlimit(resource, &limited))
	defer func() { require.NoError(t, unix.Setrlimit(resource, &before)) }()
	f()
}

func TestALimitLeavesWhatIsNeitherUsedNorReserved(t *testing.T) {
	for _, c := range []struct {
		resource, index int
		kept            int64
	}{{unix.RLIMIT_AS, 0, addressesReserved}, {unix.RLIMIT_DATA, 5, dataReserved}} {
		under(t, c.resource, c.index, 1<<30, func() {
			room, available := addressRoom(), Available()
			require.InDelta(t, 1<<30-c.kept, room, 1<<27)
			require.LessOrEqual(t, available, 1<<30-c.kept+24<<20, "memory of earlier tests may be freed meanwhile")
			most, limited := MostThreads()
			require.True(t, limited)
			require.InDelta(t, room/threadBytes, most, 1<<27/threadBytes)
		})
		under(t, c.resource, c.index, uint64(c.kept)/2, func() {
			require.Zero(t, addressRoom())
			most, _ := MostThreads()
			require.Equal(t, 1, most)
		})
	}
}

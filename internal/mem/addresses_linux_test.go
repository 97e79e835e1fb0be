package mem

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestALimitOfAddressesLeavesWhatIsNotTaken(t *testing.T) {
	text, err := os.ReadFile("/proc/self/statm")
	require.NoError(t, err)
	var pages uint64
	_, err = fmt.Sscan(string(text), &pages)
	require.NoError(t, err)
	var before unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_AS, &before))
	limited := unix.Rlimit{Cur: pages*uint64(os.Getpagesize()) + 1<<30, Max: before.Max}
	if limited.Cur >= before.Max || limited.Cur >= noLimit {
		t.Skip("no such limit can be set here")
	}
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_AS, &limited))
	room, available := addressRoom(), Available()
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_AS, &before))
	require.InDelta(t, 1<<30, room, 1<<28)
	require.LessOrEqual(t, available, int64(1<<30))
}

//go:build unix

package par

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// Unreadable memory replaces a mapped file that was shortened.
func TestMemoryThatCannotBeReadPanicsInTheCallerWithItsAddress(t *testing.T) {
	gone, err := unix.Mmap(-1, 0, 4096, unix.PROT_NONE, unix.MAP_ANON|unix.MAP_PRIVATE)
	require.NoError(t, err)
	defer func() { require.NoError(t, unix.Munmap(gone)) }()
	for _, n := range []int{1, 3} {
		read := func() (fault any) {
			defer func() { fault = recover() }()
			sums := make([]byte, n)
			Do(n, func(i int) { sums[i] = gone[8*i] })
			return nil
		}
		fault, ok := read().(interface{ Addr() uintptr })
		require.True(t, ok, "%d goroutines", n)
		require.Less(t, fault.Addr()-uintptr(unsafe.Pointer(&gone[0])), uintptr(4096))
	}
}

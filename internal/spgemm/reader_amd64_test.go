//go:build unix

package spgemm

import (
	"runtime/debug"
	"slices"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// The pointers end at a page that cannot be read. What they say is not read either.
func TestOnlyPointersOfRowsAreReadBeforeAProduct(t *testing.T) {
	const page = 4096
	all, err := unix.Mmap(-1, 0, 3*page, unix.PROT_NONE, unix.MAP_ANON|unix.MAP_PRIVATE)
	require.NoError(t, err)
	defer func() { require.NoError(t, unix.Munmap(all)) }()
	require.NoError(t, unix.Mprotect(all[page:2*page], unix.PROT_READ|unix.PROT_WRITE))
	const rows = page/8 - 1
	ptr := unsafe.Slice((*int64)(unsafe.Pointer(&all[page])), rows+1)
	for i := range ptr {
		ptr[i] = int64(i)<<40 - 1<<45
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	row := []int32{0, rows - 1, rows, rows + 1, rows + page, -1, -page, 1<<31 - 1, -1 << 31, 1}
	for n := 1; n <= len(row); n++ {
		for _, shift := range []int{2, 3} {
			prefetchRows(unsafe.SliceData(slices.Clone(row[:n])), n, &ptr[0], rows, &all[0], shift)
		}
	}
}

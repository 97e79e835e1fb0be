package mem

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// Linux may unmap the target of a move and then fail. Memory that another thread has
// mapped there since must remain.
func TestARegionThatCannotMoveLeavesMemoryOfOthersAlone(t *testing.T) {
	var others []byte
	t.Cleanup(func() { mremap = unix.MremapPtr })
	mremap = func(_ unsafe.Pointer, _ uintptr, to unsafe.Pointer, n uintptr, _ int) (unsafe.Pointer, error) {
		require.NoError(t, unix.MunmapPtr(to, n))
		p, err := unix.MmapPtr(-1, 0, to, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE|unix.MAP_FIXED)
		require.NoError(t, err)
		others = unsafe.Slice((*byte)(p), n)
		return nil, unix.ENOMEM
	}
	before := Mapped()
	var s Spare
	const n = MinMapped
	require.NoError(t, s.Keep(touchedRegion(t, n, n), n))
	r, _ := s.Take(1, 2*n)
	require.Nil(t, r)
	require.Equal(t, before, Mapped())
	require.NoError(t, unix.Madvise(others, unix.MADV_NORMAL), "it is mapped")
	require.NoError(t, unix.MunmapPtr(unsafe.Pointer(unsafe.SliceData(others)), uintptr(len(others))))
}

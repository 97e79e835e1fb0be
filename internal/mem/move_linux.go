package mem

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// move puts the pages of b in place of the first ones of to, which is longer and was not
// touched. b is gone then.
func move(b, to []byte) error {
	from, n := unsafe.Pointer(unsafe.SliceData(b)), uintptr(pages(int64(len(b))))
	at, room := unsafe.Pointer(unsafe.SliceData(to)), uintptr(pages(int64(len(to))))
	if _, err := unix.MremapPtr(from, n, at, room, unix.MREMAP_MAYMOVE|unix.MREMAP_FIXED); err != nil {
		return fmt.Errorf("move %d bytes: %w", len(b), err)
	}
	return nil
}

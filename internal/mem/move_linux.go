package mem

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mremap is replaced in tests.
var mremap = unix.MremapPtr

// move puts the pages of b in place of the first ones of to, which is longer and was not
// touched. b is gone then. If it fails b is as before, and to is not the caller's any more:
// most versions of Linux have unmapped it by then, and others may have memory there.
func move(b, to []byte) error {
	from, n := unsafe.Pointer(unsafe.SliceData(b)), uintptr(pages(int64(len(b))))
	at, room := unsafe.Pointer(unsafe.SliceData(to)), uintptr(pages(int64(len(to))))
	if _, err := mremap(from, n, at, room, unix.MREMAP_MAYMOVE|unix.MREMAP_FIXED); err != nil {
		return fmt.Errorf("move %d bytes: %w", len(b), err)
	}
	return nil
}

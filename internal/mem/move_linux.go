package mem

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mremap is a variable because tests replace it.
var mremap = unix.MremapPtr

// move replaces the first pages of to, which is longer and untouched, by the pages of b.
// Afterwards b is no longer mapped. If move fails, b is unchanged, but the caller no
// longer owns to: most versions of Linux have unmapped it, and other memory may be mapped
// there.
func move(b, to []byte) error {
	from, n := unsafe.Pointer(unsafe.SliceData(b)), uintptr(pages(int64(len(b))))
	at, room := unsafe.Pointer(unsafe.SliceData(to)), uintptr(pages(int64(len(to))))
	if _, err := mremap(from, n, at, room, unix.MREMAP_MAYMOVE|unix.MREMAP_FIXED); err != nil {
		return fmt.Errorf("move %d bytes: %w", len(b), err)
	}
	return nil
}

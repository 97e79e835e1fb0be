package mem

import "golang.org/x/sys/unix"

// Populate touches all pages of memory that was just made, at once, as the calling
// thread would one after the other: they come from its node unless a policy says
// otherwise. Where the system cannot do that they are touched when they are used.
// b is not empty and begins at a page.
func Populate(b []byte) { _ = unix.Madvise(b, unix.MADV_POPULATE_WRITE) }

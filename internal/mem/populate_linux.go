package mem

import "golang.org/x/sys/unix"

// Populate touches all pages of new memory in one call, as if the calling thread touched
// them: they come from its node unless a policy says otherwise. If the system cannot do
// that, the pages are allocated when they are used. b is not empty and begins at a page.
func Populate(b []byte) { _ = unix.Madvise(b, unix.MADV_POPULATE_WRITE) }

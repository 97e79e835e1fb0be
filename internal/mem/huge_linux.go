package mem

import "golang.org/x/sys/unix"

// adviseHuge asks for huge pages. Where they are not allowed small ones do.
func adviseHuge(b []byte) { _ = unix.Madvise(b, unix.MADV_HUGEPAGE) }

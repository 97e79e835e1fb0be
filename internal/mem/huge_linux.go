package mem

import "golang.org/x/sys/unix"

// adviseHuge asks for huge pages. Where they are not allowed small ones do.
func adviseHuge(b []byte) { _ = unix.Madvise(b, unix.MADV_HUGEPAGE) }

// AdviseSmall asks for small pages, where only some elements of memory that was just made
// will be touched. b is not empty and begins at a page.
func AdviseSmall(b []byte) { _ = unix.Madvise(b, unix.MADV_NOHUGEPAGE) }

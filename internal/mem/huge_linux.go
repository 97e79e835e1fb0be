package mem

import "golang.org/x/sys/unix"

// adviseHuge requests huge pages. If they are not allowed, b keeps small pages.
func adviseHuge(b []byte) { _ = unix.Madvise(b, unix.MADV_HUGEPAGE) }

// AdviseSmall requests small pages for new memory of which only some elements will be
// touched. b is not empty and begins at a page.
func AdviseSmall(b []byte) { _ = unix.Madvise(b, unix.MADV_NOHUGEPAGE) }

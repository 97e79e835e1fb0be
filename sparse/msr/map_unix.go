//go:build unix

package msr

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/msrep-go/msrep/internal/mem"
)

// mapFile maps size bytes of f, read-only, from the start of a page.
//
// It does not call madvise: each verifying goroutine reads sequentially, which the kernel
// detects. MADV_WILLNEED had no measurable effect, and MADV_SEQUENTIAL made cold files
// slower.
func mapFile(f *os.File, size int64) ([]byte, func() error, error) {
	data, err := unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, nil, os.NewSyscallError("mmap", err)
	}
	forget := mem.NameFile(data, f.Name())
	return data, func() error {
		forget()
		return unix.Munmap(data)
	}, nil
}

//go:build unix

package mem

import (
	"fmt"
	"math"

	"golang.org/x/sys/unix"
)

func mapRegion(n int64) (*Region, error) {
	if n > math.MaxInt {
		return nil, fmt.Errorf("map %d bytes: %w", n, unix.ENOMEM)
	}
	b, err := unix.Mmap(-1, 0, int(n), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil, fmt.Errorf("map %d bytes: %w", n, err)
	}
	if n >= minHuge {
		adviseHuge(b)
	}
	return &Region{bytes: b[:n:n], mapped: true}, nil
}

func unmap(b []byte) error { return unix.Munmap(b) }

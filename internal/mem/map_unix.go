//go:build unix

package mem

import (
	"errors"
	"fmt"
	"math"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// hasMmap reports whether memory can be mapped.
const hasMmap = true

func mapRegion(n int64) (*Region, error) {
	if n < minHuge {
		b, err := mapBytes(n)
		if err != nil {
			return nil, err
		}
		return &Region{bytes: b, mapped: true}, nil
	}
	all, err := mapBytes(n + hugePage - 1)
	if err != nil {
		return nil, fmt.Errorf("map %d bytes: %w", n, errors.Unwrap(err))
	}
	first := int64(-uintptr(unsafe.Pointer(unsafe.SliceData(all))) % hugePage)
	b := all[first : first+n : first+n]
	if err := errors.Join(unmap(all[:first], 0), unmap(all[first:], n)); err != nil {
		return nil, err
	}
	adviseHuge(b)
	return &Region{bytes: b, mapped: true}, nil
}

// mapBytes maps n bytes, from the start of a page.
func mapBytes(n int64) ([]byte, error) {
	if n > math.MaxInt || n < 0 {
		return nil, fmt.Errorf("map %d bytes: %w", n, unix.ENOMEM)
	}
	p, err := unix.MmapPtr(-1, 0, nil, uintptr(n), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil, fmt.Errorf("map %d bytes: %w", n, err)
	}
	return unsafe.Slice((*byte)(p), n), nil
}

// unmap unmaps the pages of b except those of its first keep bytes.
func unmap(b []byte, keep int64) error {
	first, end := pages(keep), pages(int64(len(b)))
	if first >= end {
		return nil
	}
	return unix.MunmapPtr(unsafe.Add(unsafe.Pointer(unsafe.SliceData(b)), first), uintptr(end-first))
}

// pages returns n rounded up to whole pages.
func pages(n int64) int64 {
	size := int64(os.Getpagesize())
	return (n + size - 1) / size * size
}

package mem

import (
	"errors"
	"fmt"
	"sync/atomic"
)

// MinMapped is the size from which memory is mapped: below it, the rest of the
// last page would cost more than the collector does.
const MinMapped = 16 << 10

// minHuge is the size from which huge pages are asked for. They are 2 MiB on most
// machines; a smaller region has few that it could fill.
const minHuge = 4 << 20

// hugePage is of what such a region begins at a multiple, as huge pages do, so that they stay
// huge when it moves.
const hugePage = 2 << 20

// mapped is the bytes that are mapped now.
var mapped atomic.Int64

// Mapped is the bytes of all mapped regions of the process that were not freed.
func Mapped() int64 { return mapped.Load() }

// Region is memory with one owner, who frees it once. Large ones lie outside the
// Go heap, begin at a page, and use huge pages where the system gives them; small
// ones are on the Go heap. It must not be copied.
type Region struct {
	bytes  []byte
	mapped bool
}

// New gives n zero bytes that begin at a multiple of 64. No page of a mapped
// region has been touched: the first thread that writes to it, or a policy set
// before, decides where it lies. It fails when the system has no memory left, or
// n is negative.
func New(n int64) (*Region, error) {
	if n >= MinMapped {
		r, err := mapRegion(n)
		if err == nil && r.mapped {
			mapped.Add(n)
		}
		return r, err
	}
	if n < 0 {
		return nil, errNegative
	}
	return &Region{bytes: Aligned(n)}, nil
}

// Reserve is New where nothing but addresses is taken before the memory is touched, so
// that more can be asked for than will be needed; see Shrink. It fails with an error
// that wraps errors.ErrUnsupported on a system where that cannot be had.
func Reserve(n int64) (*Region, error) {
	if !hasMmap {
		return nil, errors.ErrUnsupported
	}
	return New(max(n, MinMapped))
}

// Shrink gives back all memory behind the first n bytes, which stay where they are.
// Nothing may read or write it from then on.
func (r *Region) Shrink(n int64) error {
	if n < 0 || n > int64(len(r.bytes)) {
		return fmt.Errorf("shrink %d bytes to %d", len(r.bytes), n)
	}
	b := r.bytes
	if n == 0 {
		return r.Free()
	}
	r.bytes = b[:n:n]
	if !r.mapped {
		return nil
	}
	mapped.Add(n - int64(len(b)))
	return unmap(b, n)
}

// grow makes the region longer, at another address: what it holds stays, and zeros follow. If
// it fails the region is as before, but addresses without memory may be lost; see move.
func (r *Region) grow(n int64) error {
	if !r.mapped {
		return errors.ErrUnsupported
	}
	to, err := mapRegion(n)
	if err != nil {
		return err
	}
	if err := move(r.bytes, to.bytes); err != nil {
		return err
	}
	old := int64(len(r.bytes))
	mapped.Add(n - old)
	r.bytes = to.bytes
	clear(r.bytes[old:min(pages(old), n)])
	return nil
}

// Bytes is the memory; nil once it was freed.
func (r *Region) Bytes() []byte { return r.bytes }

// Mapped reports whether the region has pages of its own, outside the Go heap.
func (r *Region) Mapped() bool { return r.mapped }

// Free gives the memory back. Nothing may read or write it from then on. More
// calls do nothing; two at the same time are the caller's mistake.
func (r *Region) Free() error {
	b, isMapped := r.bytes, r.mapped
	r.bytes, r.mapped = nil, false
	if !isMapped {
		return nil
	}
	mapped.Add(-int64(len(b)))
	return unmap(b, 0)
}

package mem

import (
	"errors"
	"fmt"
	"sync/atomic"
)

// MinMapped is the least size of mapped memory. For smaller sizes the unused rest of the
// last page would cost more than garbage collection.
const MinMapped = 16 << 10

// minHuge is the least size for which huge pages are requested. They are 2 MiB on most
// machines, and a smaller region would fill few of them.
const minHuge = 4 << 20

// hugePage is the alignment of a region with huge pages. Because of it the pages remain
// huge when the region moves.
const hugePage = 2 << 20

// mapped is the number of bytes that are mapped now.
var mapped atomic.Int64

// Mapped returns the number of bytes in all mapped regions of the process that were not
// freed.
func Mapped() int64 { return mapped.Load() }

// Region is memory with one owner, which frees it once. Large regions are outside the Go
// heap, begin at a page, and use huge pages if the system provides them; small ones are
// on the Go heap. A Region must not be copied.
type Region struct {
	bytes  []byte
	mapped bool
}

// New returns a region of n zero bytes that begin at a multiple of 64. No page of a
// mapped region has been touched: the node of a page is that of the first thread that
// writes to it, unless a policy was set before. New fails if the system has no memory
// left or n is negative.
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

// Reserve is New, but it takes only addresses until the memory is touched, so a caller
// can reserve more than it will need; see Shrink. It fails with an error that wraps
// errors.ErrUnsupported on systems that cannot do that.
func Reserve(n int64) (*Region, error) {
	if !hasMmap {
		return nil, errors.ErrUnsupported
	}
	return New(max(n, MinMapped))
}

// Shrink frees all memory after the first n bytes, which do not move. Nothing may access
// the freed memory afterwards.
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

// grow lengthens the region, at another address: it keeps the content and adds zeros. If
// grow fails the region is unchanged, but addresses without memory may be lost; see move.
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

// Bytes returns the memory, or nil after Free.
func (r *Region) Bytes() []byte { return r.bytes }

// Mapped reports whether the region has separate pages, outside the Go heap.
func (r *Region) Mapped() bool { return r.mapped }

// Free frees the memory. Nothing may access it afterwards. Further calls do nothing;
// concurrent calls are not allowed.
func (r *Region) Free() error {
	b, isMapped := r.bytes, r.mapped
	r.bytes, r.mapped = nil, false
	if !isMapped {
		return nil
	}
	mapped.Add(-int64(len(b)))
	return unmap(b, 0)
}

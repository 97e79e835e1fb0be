package cpu

import (
	"errors"
	"os"
	"time"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
)

// arena is the memory of what the workers build, a slab for each.
type arena []slab

// slab is memory that one worker takes piece by piece and gives back at once. It is a
// run of addresses, more than are likely to be needed: their pages are touched when they
// are used for the first time, and used again for what is built next. What does not fit,
// and all of a small slab, is buffers of their own.
type slab struct {
	dev     *Device
	region  *mem.Region // nil where there are no addresses
	used    int64       // bytes at its beginning that are in use
	touched int64       // bytes that were once, which the device counts
	rest    []kernels.Buffer
	waited  time.Duration // for the system to provide memory
}

// leastSlab is the size below which a slab is not worth its addresses.
const leastSlab = 1 << 16

// newSlab has room for so many bytes, of which about need will be taken.
func newSlab(d *Device, need, room int64) slab {
	s := slab{dev: d}
	if room >= leastSlab {
		s.region, s.touched = d.reserve(need, room)
	}
	return s
}

// take gives zeroed memory that begins at a multiple of 64 bytes, and has its pages from
// the thread that calls.
func (s *slab) take(bytes int64) ([]byte, error) {
	begin := waitTime()
	defer func() { s.waited += waitTime() - begin }()
	const align = 64
	first := (s.used + align - 1) / align * align
	if s.region == nil || bytes > int64(len(s.region.Bytes()))-first {
		return s.takeBuffer(bytes)
	}
	end := first + bytes
	if end > s.touched {
		if err := s.dev.take(end - s.touched); err != nil {
			return nil, err
		}
	}
	b := s.region.Bytes()
	clear(b[first:max(first, min(end, s.touched))])
	if page := int64(os.Getpagesize()); end > s.touched {
		if from := (s.touched + page - 1) / page * page; from < end {
			mem.Populate(b[from:end])
		}
		s.touched = end
	}
	s.used = end
	return b[first:end:end], nil
}

// count counts bytes on the Go heap beside those of the slab; fewer where negative.
func (s *slab) count(bytes int64) error {
	if bytes <= 0 {
		s.dev.inUse.Add(bytes)
		return nil
	}
	return s.dev.take(bytes)
}

// takeBuffer gives memory that is a buffer of its own.
func (s *slab) takeBuffer(bytes int64) ([]byte, error) {
	b, err := s.dev.Alloc(bytes)
	if err != nil {
		return nil, err
	}
	s.rest = append(s.rest, b)
	view, err := s.dev.View(b)
	if err == nil && bytes >= mem.MinMapped {
		mem.Populate(view)
	}
	return view, err
}

// mark gives a function that gives back what is taken from now on.
func (s *slab) mark() func() error {
	used, kept := s.used, len(s.rest)
	return func() error {
		var errs []error
		for _, b := range s.rest[kept:] {
			errs = append(errs, b.Free())
		}
		s.used, s.rest = used, s.rest[:kept]
		return errors.Join(errs...)
	}
}

// bytes is what was taken.
func (a arena) bytes() (sum int64) {
	for i := range a {
		sum += a[i].used
		for _, b := range a[i].rest {
			sum += b.Bytes()
		}
	}
	return sum
}

// waited is the longest that a worker waited for memory: the others, who have as much to do,
// were done before.
func (a arena) waited() (most time.Duration) {
	for i := range a {
		most = max(most, a[i].waited)
	}
	return most
}

// reset gives back what was taken, but keeps the pages.
func (a arena) reset() error {
	var errs []error
	for i := range a {
		s := &a[i]
		s.used, s.waited = 0, 0
		for _, b := range s.rest {
			errs = append(errs, b.Free())
		}
		s.rest = nil
	}
	return errors.Join(errs...)
}

// seal gives back what was not taken. Nothing more can be taken then.
func (a arena) seal() error {
	var errs []error
	for i := range a {
		s := &a[i]
		if s.region == nil {
			continue
		}
		s.dev.inUse.Add(s.used - s.touched)
		if s.used == 0 {
			errs = append(errs, s.dev.spare.Keep(s.region, s.touched))
		} else {
			errs = append(errs, s.region.Shrink(s.used))
			b := newBuffer(s.dev, s.region.Bytes(), s.region)
			b.spare = true
			s.rest = append(s.rest, b)
		}
		s.region, s.used, s.touched = nil, 0, 0
	}
	return errors.Join(errs...)
}

// free gives back everything.
func (a arena) free() error { return errors.Join(a.reset(), a.seal()) }

// buffers is the memory of an arena that is sealed.
func (a arena) buffers() (all []kernels.Buffer) {
	for i := range a {
		all = append(all, a[i].rest...)
	}
	return all
}

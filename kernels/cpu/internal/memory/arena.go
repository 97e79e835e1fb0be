package memory

import (
	"errors"
	"os"
	"time"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/internal/workers"
)

// Arena is the memory in which the workers build forms: one slab for each worker.
type Arena []Slab

// Slab is memory that one worker takes in pieces and frees as a whole. It reserves a range of addresses, larger than
// is likely to be needed. Pages are touched when they are first used, and used again for the next form. What does not
// fit goes to buffers of its own, and so does everything in a small slab.
type Slab struct {
	of      *Memory
	region  *mem.Region // nil where there are no addresses
	used    int64       // Bytes at the beginning of region that are in use
	touched int64       // Bytes at the beginning of region that were ever in use; the device counts them
	rest    []kernels.Buffer
	waited  time.Duration // time spent waiting for the system to provide memory
}

// leastSlab is the size in bytes below which a slab reserves no addresses.
const leastSlab = 1 << 16

// NewArena returns an empty arena for n workers that reserves no addresses.
func NewArena(m *Memory, n int) Arena {
	a := make(Arena, n)
	for i := range a {
		a[i].of = m
	}
	return a
}

// NewSlab returns a slab with addresses for room bytes, about need of which will be taken.
func NewSlab(m *Memory, need, room int64) Slab {
	s := Slab{of: m}
	if room >= leastSlab {
		s.region, s.touched = m.reserve(need, room)
	}
	return s
}

// Take returns zeroed memory that begins at a multiple of 64 bytes. The calling thread touches its pages.
func (s *Slab) Take(bytes int64) ([]byte, error) {
	begin := workers.WaitTime()
	defer func() { s.waited += workers.WaitTime() - begin }()
	const align = 64
	first := (s.used + align - 1) / align * align
	if s.region == nil || bytes > int64(len(s.region.Bytes()))-first {
		return s.takeBuffer(bytes)
	}
	end := first + bytes
	if end > s.touched {
		if err := s.of.Take(end - s.touched); err != nil {
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

// Count adds bytes on the Go heap to those that the device counts; a negative number subtracts them.
func (s *Slab) Count(bytes int64) error {
	if bytes <= 0 {
		s.of.inUse.Add(bytes)
		return nil
	}
	return s.of.Take(bytes)
}

// takeBuffer returns memory in a buffer of its own.
func (s *Slab) takeBuffer(bytes int64) ([]byte, error) {
	view, err := s.TakeUntouched(bytes, false)
	if err == nil && bytes >= mem.MinMapped {
		mem.Populate(view)
	}
	return view, err
}

// TakeUntouched returns zeroed memory in a buffer of its own, whose pages are not touched. They are small if few
// elements in many places will be used.
func (s *Slab) TakeUntouched(bytes int64, small bool) ([]byte, error) {
	b, err := s.of.Alloc(bytes)
	if err != nil {
		return nil, err
	}
	s.rest = append(s.rest, b)
	view, err := s.of.View(b)
	if err == nil && small && bytes >= mem.MinMapped {
		mem.AdviseSmall(view)
	}
	return view, err
}

// Mark returns a function that frees everything taken after this call.
func (s *Slab) Mark() func() error {
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

// Bytes returns the number of bytes taken.
func (a Arena) Bytes() (sum int64) {
	for i := range a {
		sum += a[i].used
		for _, b := range a[i].rest {
			sum += b.Bytes()
		}
	}
	return sum
}

// Waited returns the longest time that a worker waited for memory. The maximum counts because all workers have the
// same amount of work.
func (a Arena) Waited() (most time.Duration) {
	for i := range a {
		most = max(most, a[i].waited)
	}
	return most
}

// reset frees what was taken but keeps the pages.
func (a Arena) reset() error {
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

// Seal frees the memory that was not taken. Nothing can be taken afterwards.
func (a Arena) Seal() error {
	var errs []error
	for i := range a {
		s := &a[i]
		if s.region == nil {
			continue
		}
		s.of.inUse.Add(s.used - s.touched)
		if s.used == 0 {
			errs = append(errs, s.of.Spare.Keep(s.region, s.touched))
		} else {
			errs = append(errs, s.region.Shrink(s.used))
			b := newBuffer(s.of, s.region.Bytes(), s.region)
			b.spare = true
			s.rest = append(s.rest, b)
		}
		s.region, s.used, s.touched = nil, 0, 0
	}
	return errors.Join(errs...)
}

// Free frees everything.
func (a Arena) Free() error { return errors.Join(a.reset(), a.Seal()) }

// Buffers returns the memory of a sealed arena.
func (a Arena) Buffers() (all []kernels.Buffer) {
	for i := range a {
		all = append(all, a[i].rest...)
	}
	return all
}

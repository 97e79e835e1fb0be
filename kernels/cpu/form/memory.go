package form

import (
	"errors"
	"fmt"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
)

// Memory is where a form keeps its arrays: it counts them and bounds them, and its
// owner gives all of them back at once. A nil *Memory is the Go heap, as far as there is
// memory. It is used by one goroutine at a time.
type Memory struct {
	// Alloc gives zeroed memory that begins at a multiple of 64 bytes.
	Alloc func(bytes int64) ([]byte, error)
	// Mark gives a function that gives back what Alloc gives from now on. nil where that
	// is not needed.
	Mark func() func() error
	// Count, unless nil, is called with the bytes on the Go heap that a form takes more while
	// it is built, which it may refuse, or with a negative number where it takes fewer.
	Count func(bytes int64) error
	// Limit is the most bytes in all, 0 for no bound.
	Limit int64

	used int64
	heap int64 // that Count was told of
}

// Used is the number of bytes taken so far.
func (m *Memory) Used() int64 {
	if m == nil {
		return 0
	}
	return m.used
}

// Try calls build and gives back the memory that it has taken if it fails.
func Try[F any](m *Memory, build func() (F, error)) (F, error) {
	if m == nil || m.Mark == nil {
		return build()
	}
	used, back := m.used, m.Mark()
	f, err := build()
	if err != nil {
		m.used = used
		err = errors.Join(err, back())
	}
	return f, err
}

// Make takes n zero elements, on a 64-byte boundary. It fails with an error that
// wraps kernels.ErrOutOfMemory.
func Make[T mem.Elem](m *Memory, n int64) ([]T, error) {
	bytes := n * mem.Size[T]()
	if n < 0 || bytes/mem.Size[T]() != n {
		return nil, fmt.Errorf("%w: %d elements", kernels.ErrOutOfMemory, n)
	}
	var b []byte
	switch {
	case m == nil:
		if have, ok := mem.Fits(bytes); !ok {
			return nil, fmt.Errorf("%w: %d bytes, %d are available", kernels.ErrOutOfMemory, bytes, have)
		}
		b = mem.Aligned(bytes)
	case m.Limit > 0 && bytes > m.Limit-m.used-m.heap:
		return nil, m.lacks(bytes)
	default:
		var err error
		if b, err = m.Alloc(bytes); err != nil {
			return nil, err
		}
		m.used += bytes
	}
	s, _ := mem.Slice[T](b, n)
	return s, nil
}

// take sets an array to Make of so many elements. Several of them go together in cmp.Or, which
// gives the first error.
func take[T mem.Elem](m *Memory, to *[]T, n int64) (err error) {
	*to, err = Make[T](m, n)
	return err
}

// hold counts bytes on the Go heap for the time of building; see Count.
func (m *Memory) hold(bytes int64) error {
	switch {
	case m == nil:
		return nil
	case m.Limit > 0 && bytes > m.Limit-m.used-m.heap:
		return m.lacks(bytes)
	case m.Count != nil:
		if err := m.Count(bytes); err != nil {
			return err
		}
	}
	m.heap += bytes
	return nil
}

// heap counts what a builder takes from the Go heap beside the form, until drop.
type heap struct {
	mem  *Memory
	held int64
}

func (h *heap) hold(bytes int64) error {
	if err := h.mem.hold(bytes); err != nil {
		return err
	}
	h.held += bytes
	return nil
}

// drop counts all that was held as given back.
func (h *heap) drop() {
	_ = h.mem.hold(-h.held) // fewer bytes are never refused
	h.held = 0
}

func (m *Memory) lacks(bytes int64) error {
	return fmt.Errorf("%w: %d bytes beside %d of %d", kernels.ErrOutOfMemory, bytes, m.used+m.heap, m.Limit)
}

package form

import (
	"errors"
	"fmt"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
)

// Memory allocates the arrays of a form, counts them and limits them. Its owner frees all of them
// at once. A nil *Memory allocates on the Go heap while memory is available. At most one goroutine
// uses it at a time.
type Memory struct {
	// Alloc returns zeroed memory that is aligned to 64 bytes.
	Alloc func(bytes int64) ([]byte, error)
	// Mark returns a function that frees what Alloc returns from now on. It is nil if nothing needs
	// to be freed.
	Mark func() func() error
	// Count, unless nil, is called when a builder reserves bytes on the Go heap, which it may
	// refuse, and with a negative number when the builder releases them.
	Count func(bytes int64) error
	// Limit is the largest number of bytes in all; 0 is no limit.
	Limit int64

	used int64
	heap int64 // reserved on the Go heap
}

// Used returns the number of bytes allocated so far.
func (m *Memory) Used() int64 {
	if m == nil {
		return 0
	}
	return m.used
}

// Try calls build. If build fails, Try frees the memory that it has allocated.
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

// Make allocates n zero elements, aligned to 64 bytes. It fails with an error that wraps
// kernels.ErrOutOfMemory.
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

// Alloc sets *to to Make(m, n). cmp.Or of several calls returns the first error.
func Alloc[T mem.Elem](m *Memory, to *[]T, n int64) (err error) {
	*to, err = Make[T](m, n)
	return err
}

// reserve reserves bytes on the Go heap while a form is built; see Count. A negative number
// releases.
func (m *Memory) reserve(bytes int64) error {
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

// Heap counts the bytes that a builder needs on the Go heap in addition to the form.
type Heap struct {
	Mem      *Memory
	Reserved int64
}

// Reserve counts bytes, which the memory may refuse.
func (h *Heap) Reserve(bytes int64) error {
	if err := h.Mem.reserve(bytes); err != nil {
		return err
	}
	h.Reserved += bytes
	return nil
}

// Release releases all bytes that reserve has counted.
func (h *Heap) Release() {
	_ = h.Mem.reserve(-h.Reserved) // a release is never refused
	h.Reserved = 0
}

func (m *Memory) lacks(bytes int64) error {
	return fmt.Errorf("%w: %d bytes, %d of %d are in use", kernels.ErrOutOfMemory, bytes, m.used+m.heap, m.Limit)
}

package memory

import (
	"errors"
	"fmt"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
)

// Views opens arrays as slices, holds their memory until Close, and keeps the first error.
type Views struct {
	Err  error
	Mem  *Memory
	held [6]*buffer // only SumPartials has more arrays
	n    int        // number of entries in held
	more []*buffer
}

// NewViews returns views of buffers of any CPU device.
func NewViews(m *Memory) *Views { return &Views{Mem: m} }

// Hold returns the memory of a buffer, which stays valid until Close.
func (v *Views) Hold(b kernels.Buffer) ([]byte, error) {
	m, err := v.Mem.View(b)
	if err != nil {
		return nil, err
	}
	c := b.(*buffer)
	if !c.hold() {
		return nil, errFreed
	}
	if v.n == len(v.held) {
		v.more = append(v.more, c)
		return m, nil
	}
	v.held[v.n] = c
	v.n++
	return m, nil
}

// Close releases the memory. A buffer that its owner freed meanwhile is freed here; Close adds a failure of that to
// *err.
func (v *Views) Close(err *error) {
	for _, held := range [][]*buffer{v.held[:v.n], v.more} {
		for _, b := range held {
			*err = errors.Join(*err, b.release())
		}
	}
}

// View opens an array, which must have n elements.
func View[T mem.Elem](v *Views, name string, a kernels.Array[T], n int64) []T {
	if v.Err != nil {
		return nil
	}
	if a.Len != n {
		v.Err = fmt.Errorf("%w: %s has %d elements, it needs %d", kernels.ErrArgument, name, a.Len, n)
		return nil
	}
	if a.Buf != nil {
		if _, err := v.Hold(a.Buf); err != nil {
			v.Err = fmt.Errorf("%s: %w", name, err)
			return nil
		}
	}
	s, err := kernels.View(v.Mem, a)
	if err != nil {
		v.Err = fmt.Errorf("%s: %w", name, err)
	}
	return s
}

// Window returns bytes of a buffer, which stay valid until Close.
func (v *Views) Window(b kernels.Buffer, off, n int64) ([]byte, error) {
	m, err := v.Hold(b)
	if err != nil {
		return nil, err
	}
	if off < 0 || n < 0 || off > int64(len(m)) || n > int64(len(m))-off {
		return nil, fmt.Errorf("%w: bytes [%d, %d+%d) of a buffer of %d", kernels.ErrArgument, off, off, n, len(m))
	}
	return m[off : off+n], nil
}

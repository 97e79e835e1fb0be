package cpu

import (
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

// linesOfX is memory for a copy of x in which each row begins at a cache line or in the middle of one. The first
// product that needs the memory takes it; the zero value is empty.
type linesOfX[V sparse.Value] struct {
	val []V
	mem kernels.Buffer // nil while val is empty
}

// room returns memory for n elements, and replaces what there is if it is too small.
func (l *linesOfX[V]) room(d *Device, n int64) ([]V, error) {
	if n <= int64(len(l.val)) {
		return l.val[:n], nil
	}
	if err := l.free(); err != nil {
		return nil, err
	}
	val, err := form.Make[V](&form.Memory{Alloc: func(bytes int64) (_ []byte, err error) {
		if l.mem, err = d.Alloc(bytes); err != nil {
			return nil, err
		}
		return d.View(l.mem)
	}}, n)
	l.val = val
	return val, err
}

// buffers returns the memory that l holds.
func (l *linesOfX[V]) buffers() []kernels.Buffer {
	if l.mem == nil {
		return nil
	}
	return []kernels.Buffer{l.mem}
}

// free releases the memory.
func (l *linesOfX[V]) free() error {
	if l.mem == nil {
		return nil
	}
	err := l.mem.Free()
	*l = linesOfX[V]{}
	return err
}

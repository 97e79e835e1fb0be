package cpu

import (
	"errors"

	"github.com/msrep-go/msrep/internal/par"
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

// asLines returns a copy of x that all pieces multiply faster than x. It returns x itself if the pieces gain nothing
// by a copy or memory is short.
func (p *packed[V]) asLines(x form.MultiVector[V]) (form.MultiVector[V], error) {
	if !each(p.pieces, func(f form.Lined[V]) bool { return f.GainsByLines(x) }) {
		return x, nil
	}
	lines := form.MultiVector[V]{Cols: x.Cols, Stride: lineStride[V](x.Cols)}
	rows, n := int64(p.minors), len(p.pieces)
	val, err := p.lines.room(p.dev, rows*int64(lines.Stride))
	if errors.Is(err, kernels.ErrOutOfMemory) {
		return x, nil
	}
	if err != nil {
		return x, err
	}
	lines.Val = val
	return lines, p.dev.pool.run(n, func(i int) {
		lo, hi := int(par.Cut(rows, n, i)), int(par.Cut(rows, n, i+1))
		copyRows(lines.From(lo), x.From(lo), hi-lo)
	})
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

//go:build cuda

package nvidia

import (
	"errors"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
)

// sparseAlign is the alignment in bytes of arrays for cuSPARSE, which reads and writes
// this number of bytes at a time without a check. With unaligned arrays, 12.0 and later
// lose the GPU by a misaligned address; this is known for y (kokkos-kernels 1889) and,
// before 13.1, for row indices (pytorch 167901). x is read element by element,
// except perhaps by SpMVOp, which gets only an aligned x.
const sparseAlign = 16

// aligned returns the address of a, or that of an aligned copy. The copy is enqueued on
// s and stored in copied.
func aligned[T mem.Elem](s *stream, a kernels.Array[T], copied *kernels.Array[T]) (uint64, error) {
	if a.Off%sparseAlign != 0 { // buffers begin at multiples of 256
		c, err := kernels.NewArray[T](s.dev, a.Len)
		if err != nil {
			return 0, err
		}
		*copied = c
		if err := s.Copy(c.Buf, c.Off, a.Buf, a.Off, a.Len*mem.Size[T]()); err != nil {
			return 0, err
		}
		a = c
	}
	p, err := s.dev.own(a.Buf, a.Off, a.Len*mem.Size[T]())
	return uint64(p), err
}

func putArray[T mem.Elem](d kernels.Device, s kernels.Stream, src []T) (kernels.Array[T], error) {
	a, err := kernels.NewArray[T](d, int64(len(src)))
	if err == nil {
		err = a.Write(s, src)
	}
	return a, err
}

// Buffers returns the buffers of the part.
func (p *sparsePart[V]) Buffers() []kernels.Buffer {
	if p.freed.Load() {
		return nil
	}
	out := p.own.Buffers()
	for _, b := range []kernels.Buffer{p.head.Buf, p.ptr.Buf, p.idx.Buf, p.val.Buf, p.buffer} {
		if b != nil {
			out = append(out, b)
		}
	}
	return out
}

// Free frees the memory.
func (p *sparsePart[V]) Free() error {
	if p.freed.Swap(true) {
		return nil
	}
	return errors.Join(p.drop(), p.own.Free())
}

// drop frees everything except the arrays.
func (p *sparsePart[V]) drop() error {
	d := p.dev
	err := d.worker.call(func() error {
		var errs []error // descriptions are host memory, so they can be freed on a lost device
		errs = append(errs, p.plan.Close())
		if p.x != nil {
			errs = append(errs, p.x.Close())
		}
		if p.y != nil {
			errs = append(errs, p.y.Close())
		}
		if p.matrix != nil {
			errs = append(errs, p.matrix.Close())
		}
		if d.dead.Load() != nil {
			return nil
		}
		return errors.Join(errs...)
	})
	if errors.Is(err, kernels.ErrClosed) {
		return nil
	}
	errs := []error{d.fail("free", 0, err), p.head.Free(), p.ptr.Free(), p.idx.Free(), p.val.Free()}
	if p.buffer != nil {
		errs = append(errs, p.buffer.Free())
	}
	return errors.Join(errs...)
}

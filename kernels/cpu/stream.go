package cpu

import (
	"fmt"
	"runtime/debug"

	"github.com/msrep-go/msrep/internal/crash"
	"github.com/msrep-go/msrep/internal/lostfile"
	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
)

// stream executes everything at once, in the calling goroutine.
type stream struct{ dev *Device }

func (s *stream) Write(dst kernels.Buffer, off int64, src []byte) error {
	return s.copy("write", int64(len(src)), func(v *views) ([]byte, []byte, error) {
		d, err := v.window(dst, off, int64(len(src)))
		return d, src, err
	})
}

func (s *stream) Read(dst []byte, src kernels.Buffer, off int64) error {
	return s.copy("read", int64(len(dst)), func(v *views) ([]byte, []byte, error) {
		b, err := v.window(src, off, int64(len(dst)))
		return dst, b, err
	})
}

func (s *stream) Copy(dst kernels.Buffer, dstOff int64, src kernels.Buffer, srcOff, bytes int64) error {
	return s.copy("copy", bytes, func(v *views) ([]byte, []byte, error) {
		d, err := v.window(dst, dstOff, bytes)
		if err != nil {
			return nil, nil, err
		}
		b, err := v.window(src, srcOff, bytes)
		return d, b, err
	})
}

// copy copies on the workers: the pages of a new buffer then come from their node.
func (s *stream) copy(call string, bytes int64, windows func(v *views) (dst, src []byte, err error)) (err error) {
	if s.dev.closed.Load() {
		return s.dev.fail(call, bytes, kernels.ErrClosed)
	}
	if bytes == 0 {
		return nil
	}
	v := newViews(s.dev)
	defer v.close(&err)
	dst, src, err := windows(v)
	if err != nil {
		return s.dev.fail(call, bytes, err)
	}
	t := int(min(int64(s.dev.info.Threads), bytes>>16+1))
	err = s.dev.pool.run(t, func(i int) {
		lo, hi := par.Cut(bytes, t, i), par.Cut(bytes, t, i+1)
		copy(dst[lo:hi], src[lo:hi])
	})
	if err != nil {
		return s.dev.fail(call, bytes, err)
	}
	return nil
}

// window returns bytes of a buffer, which stay valid until close.
func (v *views) window(b kernels.Buffer, off, n int64) ([]byte, error) {
	m, err := v.hold(b)
	if err != nil {
		return nil, err
	}
	if off < 0 || n < 0 || off > int64(len(m)) || n > int64(len(m))-off {
		return nil, fmt.Errorf("%w: bytes [%d, %d+%d) of a buffer of %d", kernels.ErrArgument, off, off, n, len(m))
	}
	return m[off : off+n], nil
}

func (s *stream) Launch(op kernels.Operation) error {
	if s.dev.closed.Load() {
		return s.dev.fail(op.Name(), 0, kernels.ErrClosed)
	}
	if err := s.run(op); err != nil {
		return s.dev.fail(op.Name(), 0, err)
	}
	return nil
}

// run finds and runs the kernel. An index outside its vector stops it with an error.
func (s *stream) run(op kernels.Operation) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		r := recover()
		if r == nil {
			return
		}
		if err = lostfile.Error(r); err == nil {
			err = fmt.Errorf("%w: kernel panicked: %w", kernels.ErrArgument, crash.Recovered(r))
		}
	}()
	known, err := product(s.dev, &s.dev.scratch64, op)
	if !known {
		known, err = product(s.dev, &s.dev.scratch32, op)
	}
	if !known {
		known, err = vectorOp[float64](s.dev, op)
	}
	if !known {
		known, err = vectorOp[float32](s.dev, op)
	}
	switch op := op.(type) {
	case *kernels.LocalPtr:
		known, err = true, localPtr(s.dev, op)
	case *kernels.COOPtr:
		known, err = true, cooPtr(s.dev, op)
	}
	if !known {
		return kernels.ErrNotSupported
	}
	return err
}

// product runs a product with values of type V, and reports whether op is one.
func product[V sparse.Value](d *Device, s *scratch[V], op kernels.Operation) (known bool, err error) {
	switch op := op.(type) {
	case *kernels.MajorProduct[V]:
		err = majorProduct(d, op)
	case *kernels.MajorProductPacked[V]:
		err = majorProductPacked(d, op)
	case *kernels.HostProduct[V]:
		err = productHost(d, s, op)
	case *kernels.MajorProductFixed[V]:
		err = majorProductFixed(d, op)
	case *kernels.MajorProductMany[V]:
		err = majorProductMany(d, op)
	case *kernels.MajorProductManyPacked[V]:
		err = majorProductManyPacked(d, s, op)
	case *kernels.MinorProductMany[V]:
		err = minorProductMany(d, s, op)
	case *kernels.MinorProduct[V]:
		err = minorProduct(d, s, op)
	case *kernels.MinorProductPacked[V]:
		err = minorProductPacked(d, s, op)
	case *kernels.MajorProductCOO[V]:
		err = majorProductCOO(d, op)
	case *kernels.MinorProductCOO[V]:
		err = minorProductCOO(d, s, op)
	default:
		return false, nil
	}
	return true, err
}

func (s *stream) Record(e kernels.Event) error {
	ev, ok := e.(*kernels.HostEvent)
	if !ok {
		return s.dev.fail("record", 0, fmt.Errorf("%w: an event of another kind of device", kernels.ErrArgument))
	}
	ev.Mark()
	return nil
}

func (s *stream) Wait(e kernels.Event) error { return kernels.WaitOnHost(s.dev.info.ID, e) }

func (s *stream) Sync() error { return nil }

func (s *stream) Close() error { return nil }

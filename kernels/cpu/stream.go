package cpu

import (
	"fmt"
	"runtime/debug"

	"github.com/msrep-go/msrep/internal/crash"
	"github.com/msrep-go/msrep/internal/lostfile"
	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/internal/memory"
	"github.com/msrep-go/msrep/kernels/cpu/internal/rows"
	"github.com/msrep-go/msrep/kernels/cpu/internal/triangular"
	"github.com/msrep-go/msrep/sparse"
)

// stream executes everything at once, in the calling goroutine.
type stream struct{ dev *Device }

func (s *stream) Write(dst kernels.Buffer, off int64, src []byte) error {
	return s.copy("write", int64(len(src)), func(v *memory.Views) ([]byte, []byte, error) {
		d, err := v.Window(dst, off, int64(len(src)))
		return d, src, err
	})
}

func (s *stream) Read(dst []byte, src kernels.Buffer, off int64) error {
	return s.copy("read", int64(len(dst)), func(v *memory.Views) ([]byte, []byte, error) {
		b, err := v.Window(src, off, int64(len(dst)))
		return dst, b, err
	})
}

func (s *stream) Copy(dst kernels.Buffer, dstOff int64, src kernels.Buffer, srcOff, bytes int64) error {
	return s.copy("copy", bytes, func(v *memory.Views) ([]byte, []byte, error) {
		d, err := v.Window(dst, dstOff, bytes)
		if err != nil {
			return nil, nil, err
		}
		b, err := v.Window(src, srcOff, bytes)
		return d, b, err
	})
}

// copy copies on the workers: the pages of a new buffer then come from their node.
func (s *stream) copy(call string, bytes int64, windows func(v *memory.Views) (dst, src []byte, err error)) (err error) {
	if s.dev.closed.Load() {
		return s.dev.fail(call, bytes, kernels.ErrClosed)
	}
	if bytes == 0 {
		return nil
	}
	v := memory.NewViews(s.dev.mem)
	defer v.Close(&err)
	dst, src, err := windows(v)
	if err != nil {
		return s.dev.fail(call, bytes, err)
	}
	t := int(min(int64(s.dev.info.Threads), bytes>>16+1))
	err = s.dev.pool.Run(t, func(i int) {
		lo, hi := par.Cut(bytes, t, i), par.Cut(bytes, t, i+1)
		copy(dst[lo:hi], src[lo:hi])
	})
	if err != nil {
		return s.dev.fail(call, bytes, err)
	}
	return nil
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
	known, err := product(&s.dev.mem.Scratch64, op)
	if !known {
		known, err = product(&s.dev.mem.Scratch32, op)
	}
	if !known {
		known, err = vectorOp[float64](s.dev, op)
	}
	if !known {
		known, err = vectorOp[float32](s.dev, op)
	}
	switch op := op.(type) {
	case *kernels.LocalPtr:
		known, err = true, localPtr(s.dev.mem, op)
	case *kernels.COOPtr:
		known, err = true, cooPtr(s.dev.mem, op)
	}
	if !known {
		return kernels.ErrNotSupported
	}
	return err
}

// product runs a product with values of type V, and reports whether op is one.
func product[V sparse.Value](s *memory.Scratch[V], op kernels.Operation) (known bool, err error) {
	switch op := op.(type) {
	case *kernels.MajorProduct[V]:
		err = rows.MajorProduct(s.Mem, op)
	case *kernels.MajorProductPacked[V]:
		err = majorProductPacked(s.Mem, op)
	case *kernels.HostProduct[V]:
		err = productHost(s, op)
	case *kernels.MajorProductFixed[V]:
		err = rows.MajorProductFixed(s.Mem, op)
	case *kernels.MajorProductMany[V]:
		err = rows.MajorProductMany(s.Mem, op)
	case *kernels.MajorProductManyPacked[V]:
		err = majorProductManyPacked(s, op)
	case *kernels.MinorProductMany[V]:
		err = rows.MinorProductMany(s, op)
	case *kernels.MinorProduct[V]:
		err = rows.MinorProduct(s, op)
	case *kernels.MinorProductPacked[V]:
		err = minorProductPacked(s, op)
	case *kernels.MajorProductCOO[V]:
		err = rows.MajorProductCOO(s.Mem, op)
	case *kernels.MinorProductCOO[V]:
		err = rows.MinorProductCOO(s, op)
	case *kernels.TriangularSolve[V]:
		err = triangular.Solve(s, op)
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

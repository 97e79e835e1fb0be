//go:build cuda

package nvidia

import (
	"errors"
	"fmt"
	"unsafe"

	"gorgonia.org/cu"

	"github.com/msrep-go/msrep/kernels"
)

// stream queues its work on the thread of the device and does not wait for it. Calls
// check their arguments; the next Sync returns other errors.
type stream struct {
	dev *Device

	// Only the thread of the device uses these fields.
	s      cu.Stream
	temps  []temp
	err    error  // first error since the last Sync
	busy   bool   // work was enqueued since the last Sync
	last   string // last launched operation
	closed bool
	calls  int         // since the last mark or Sync
	marks  [2]cu.Event // the last two, for limit
	marked bool        // the last mark is later than the last Sync
}

// NewStream makes a stream.
func (d *Device) NewStream() (kernels.Stream, error) {
	s := &stream{dev: d}
	err := d.run("new stream", 0, func() (err error) {
		if s.s, err = cu.MakeStream(cu.NonBlocking); err == nil {
			d.streams[s] = true
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// later runs f on the thread of the device, unless an earlier call on the stream has
// failed.
func (s *stream) later(call string, bytes int64, f func() error) error {
	return s.post(call, bytes, f, func(error) {})
}

// post is later, but then calls done on the thread with the error of the stream, from f
// or from an earlier call.
func (s *stream) post(call string, bytes int64, f func() error, done func(failed error)) error {
	d := s.dev
	err := d.worker.post(func() {
		dead := d.dead.Load()
		switch {
		case s.err != nil:
		case s.closed:
			s.err = d.fail(call, bytes, kernels.ErrClosed)
		case dead != nil:
			s.err = d.fail(call, bytes, *dead)
		default:
			s.busy = true
			s.err = d.fail(call, bytes, f())
			if s.err == nil {
				s.err = d.fail(call, bytes, s.limit())
			}
		}
		done(s.err)
	})
	return d.fail(call, bytes, err)
}

func (s *stream) Write(dst kernels.Buffer, off int64, src []byte) error {
	n := int64(len(src))
	to, err := s.dev.own(dst, off, n)
	if err != nil || n == 0 {
		return s.dev.fail("write", n, err)
	}
	return s.later("write", n, func() error { return s.dev.write(to, src, s.s) })
}

func (s *stream) Read(dst []byte, src kernels.Buffer, off int64) error {
	n := int64(len(dst))
	from, err := s.dev.own(src, off, n)
	if err != nil || n == 0 {
		return s.dev.fail("read", n, err)
	}
	return s.later("read", n, func() error { return s.dev.read(dst, from, s.s) })
}

// Copy between GPUs does not wait for work on the streams of src: call Wait before it.
func (s *stream) Copy(dst kernels.Buffer, dstOff int64, src kernels.Buffer, srcOff, bytes int64) error {
	d := s.dev
	toDev, to, err := window(dst, dstOff, bytes)
	if err != nil {
		return d.fail("copy", bytes, err)
	}
	fromDev, from, err := window(src, srcOff, bytes)
	if err != nil || bytes == 0 {
		return d.fail("copy", bytes, err)
	}
	return s.later("copy", bytes, func() error {
		d.dependsOn(toDev)
		d.dependsOn(fromDev)
		if toDev.gpu == fromDev.gpu {
			return d.copyInside(to, from, bytes, s.s)
		}
		return d.copyBetween(location{toDev, to}, location{fromDev, from}, bytes, s.s)
	})
}

// copyInside copies on one GPU; source and destination may overlap.
func (d *Device) copyInside(to, from cu.DevicePtr, bytes int64, s cu.Stream) error {
	n := int64(to) - int64(from)
	if n < 0 {
		n = -n
	}
	if n >= bytes {
		return cu.MemcpyDtoDAsync(to, from, bytes, s)
	}
	between, err := d.allocate(bytes, s)
	if err != nil {
		return err
	}
	err = cu.MemcpyDtoDAsync(between, from, bytes, s)
	if err == nil {
		err = cu.MemcpyDtoDAsync(to, between, bytes, s)
	}
	if cleanup := d.free(between, s); err == nil {
		return cleanup
	} else if cleanup != nil {
		return freeAfter(err, cleanup)
	}
	return err
}

// Sync waits for the work on the stream and returns the first error since the last
// Sync.
func (s *stream) Sync() error {
	d := s.dev
	err := d.worker.call(func() error {
		if s.closed {
			return kernels.ErrClosed
		}
		s.settle()
		err := s.err
		s.err = nil
		if dead := d.dead.Load(); dead != nil && err == nil {
			return *dead
		}
		return err
	})
	return d.fail("sync", 0, err)
}

// settle waits for the work on the stream, on the thread of the device, and keeps the
// error.
func (s *stream) settle() {
	if !s.busy || s.dev.dead.Load() != nil {
		return
	}
	s.busy, s.calls, s.marked = false, 0, false
	err := s.dev.sync(s.s)
	if err != nil && s.last != "" {
		err = fmt.Errorf("after %s: %w", s.last, err)
	}
	if err = s.dev.fail("sync", 0, err); s.err == nil {
		s.err = err
	}
}

// Close waits for the work on the stream, releases the stream, and returns the first
// error since the last Sync.
func (s *stream) Close() error {
	err := s.dev.worker.call(func() error {
		if s.closed {
			return nil
		}
		s.settle()
		return errors.Join(s.err, s.release())
	})
	if errors.Is(err, kernels.ErrClosed) {
		return nil // Close of the device has closed it
	}
	return s.dev.fail("close stream", 0, err)
}

// release destroys the stream and its scratch memory once, on the thread of the device.
func (s *stream) release() error {
	if s.closed {
		return nil
	}
	s.closed = true
	delete(s.dev.streams, s)
	if s.dev.dead.Load() != nil {
		return nil
	}
	var errs []error
	for _, t := range s.temps {
		if t.bytes > 0 {
			errs = append(errs, s.dev.free(t.addr, s.s))
		}
	}
	s.temps = nil
	errs = append(errs, s.dev.sync(s.s), s.releaseMarks())
	if s.dev.stranded.Load() {
		return nil
	}
	if s.dev.sparse != nil { // the handle still refers to its last stream
		errs = append(errs, s.dev.sparse.SetStream(unsafe.Pointer(s.dev.allocs.C())))
	}
	errs = append(errs, s.s.Destroy())
	return errors.Join(errs...)
}

package sim

import (
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/internal/cuda/launch"
)

// stream executes everything synchronously, in the calling goroutine.
type stream struct {
	dev     *Device
	clock   clock
	seen    uint64 // number of its calls that the host has waited for
	sectors int64  // 32-byte sectors that its kernels loaded and stored
}

func newStream(d *Device) *stream { return &stream{dev: d, clock: clock{}} }

func (s *stream) Write(dst kernels.Buffer, off int64, src []byte) error {
	n := int64(len(src))
	return s.do("write", n, func() error {
		to, addr, err := window(dst, off, n)
		if err != nil {
			return err
		}
		to.writes = true
		if err := s.begin("write", to); err != nil {
			return err
		}
		return to.buf.dev.mem.Write(addr, src)
	})
}

func (s *stream) Read(dst []byte, src kernels.Buffer, off int64) error {
	n := int64(len(dst))
	return s.do("read", n, func() error {
		from, addr, err := window(src, off, n)
		if err != nil {
			return err
		}
		if err := s.begin("read", from); err != nil {
			return err
		}
		return from.buf.dev.mem.Read(dst, addr)
	})
}

func (s *stream) Copy(dst kernels.Buffer, dstOff int64, src kernels.Buffer, srcOff, bytes int64) error {
	return s.do("copy", bytes, func() error {
		to, toAddr, err := window(dst, dstOff, bytes)
		if err != nil {
			return err
		}
		from, fromAddr, err := window(src, srcOff, bytes)
		if err != nil {
			return err
		}
		to.writes = true
		if err := s.begin("copy", to, from); err != nil {
			return err
		}
		to.buf.dev.notePeer(from.buf.dev, PeerReads{Copies: bytes})
		return to.buf.dev.mem.Copy(toAddr, from.buf.dev.mem, fromAddr, bytes)
	})
}

// do calls f and adds the name of the device to its error.
func (s *stream) do(call string, bytes int64, f func() error) error {
	err := s.dev.begin(call)
	if err == nil {
		err = f()
	}
	if err != nil {
		return s.dev.fail(call, bytes, err)
	}
	return nil
}

func (s *stream) Launch(op kernels.Operation) error {
	if multiply, ok := launch.StreamedProduct(op); ok {
		return multiply(s)
	}
	return s.do(op.Name(), 0, func() error { return s.launch(op) })
}

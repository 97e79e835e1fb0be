//go:build cuda

package nvidia

import (
	"errors"
	"unsafe"

	"gorgonia.org/cu"

	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/kernels/nvidia/internal/driver"
	"github.com/msrep-go/msrep/numa"
)

const (
	pieceBytes = 8 << 20 // of pinned memory that is filled while another one travels
	pieces     = 2
	copyGrain  = 1 << 20 // bytes that are worth a goroutine
)

// staging is the pinned memory through which copies of other memory go. It belongs
// to the thread of the device.
type staging struct {
	pieces [pieces]piece
	next   int
}

// piece is one part of it.
type piece struct {
	pinned
	done  cu.Event // of the copy that used it last
	ready bool
}

// Staging tells how many bytes of pinned host memory the device holds, and on which
// nodes their pages are. It waits for the calls before it.
func (d *Device) Staging() (bytes int64, pages numa.PageCount) {
	_ = d.worker.call(func() error { // a closed device has none
		for _, p := range d.staging.pieces {
			if !p.ready {
				continue
			}
			bytes += int64(len(p.buf))
			if c, err := numa.Pages(p.buf); err == nil {
				pages.Add(c)
			}
		}
		return nil
	})
	return bytes, pages
}

// take gives the next piece, once its last copy is done.
func (d *Device) take() (*piece, error) {
	p := &d.staging.pieces[d.staging.next]
	d.staging.next = (d.staging.next + 1) % pieces
	if p.ready {
		return p, p.done.Synchronize()
	}
	return p, d.pinPiece(p)
}

// pinPiece makes a piece.
func (d *Device) pinPiece(p *piece) (err error) {
	if p.pinned, err = d.pinHost(pieceBytes); err != nil {
		return err
	}
	if p.done, err = cu.MakeEvent(cu.DisableTiming); err != nil {
		return errors.Join(err, p.free())
	}
	p.ready = true
	return nil
}

// release gives the pieces back, on the thread.
func (s *staging) release() error {
	var errs []error
	for i := range s.pieces {
		p := &s.pieces[i]
		if p.ready {
			errs = append(errs, cu.DestroyEvent(&p.done), p.free())
			*p = piece{}
		}
	}
	return errors.Join(errs...)
}

// write copies src to the device, behind the work on s.
func (d *Device) write(to cu.DevicePtr, src []byte, s cu.Stream) error {
	if driver.Pinned(src) {
		return cu.MemcpyHtoDAsync(to, unsafe.Pointer(&src[0]), int64(len(src)), s)
	}
	for len(src) > 0 {
		p, err := d.take()
		if err != nil {
			return err
		}
		n := min(len(src), len(p.buf))
		copyBytes(p.buf[:n], src[:n])
		if err := cu.MemcpyHtoDAsync(to, unsafe.Pointer(&p.buf[0]), int64(n), s); err != nil {
			return err
		}
		if err := p.done.Record(s); err != nil {
			return err
		}
		to, src = to+cu.DevicePtr(n), src[n:]
	}
	return nil
}

// read copies from the device to dst, behind the work on s. It waits, unless dst is
// pinned.
func (d *Device) read(dst []byte, from cu.DevicePtr, s cu.Stream) error {
	if driver.Pinned(dst) {
		return cu.MemcpyDtoHAsync(unsafe.Pointer(&dst[0]), from, int64(len(dst)), s)
	}
	type arrival struct {
		piece *piece
		dst   []byte
	}
	var under []arrival // copies under way, the oldest first
	land := func() error {
		a := under[0]
		under = under[1:]
		if err := a.piece.done.Synchronize(); err != nil {
			return err
		}
		copyBytes(a.dst, a.piece.buf)
		return nil
	}
	for len(dst) > 0 {
		if len(under) == pieces {
			if err := land(); err != nil {
				return err
			}
		}
		p, err := d.take()
		if err != nil {
			return err
		}
		n := min(len(dst), len(p.buf))
		if err := cu.MemcpyDtoHAsync(unsafe.Pointer(&p.buf[0]), from, int64(n), s); err != nil {
			return err
		}
		if err := p.done.Record(s); err != nil {
			return err
		}
		under = append(under, arrival{p, dst[:n]})
		from, dst = from+cu.DevicePtr(n), dst[n:]
	}
	for len(under) > 0 {
		if err := land(); err != nil {
			return err
		}
	}
	return nil
}

// copyBytes is copy, on several cores where that is worth it: one core alone is
// slower than the way to the GPU.
func copyBytes(dst, src []byte) {
	par.Range(int64(len(dst)), copyGrain, func(lo, hi int64) { copy(dst[lo:hi], src[lo:hi]) })
}

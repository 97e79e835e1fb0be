//go:build cuda

package nvidia

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"unsafe"

	"gorgonia.org/cu"

	"github.com/msrep-go/msrep/internal/crash"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/nvidia/internal/driver"
	"github.com/msrep-go/msrep/numa"
	"github.com/msrep-go/msrep/sparse"
)

const (
	// pieceBytes is what one core copies at a time: smaller pieces cost the thread of the
	// device more calls, larger ones begin to travel later.
	pieceBytes  = 2 << 20
	blockBytes  = 4 << 20 // is pinned at a time: from here on pages are huge
	blockPieces = blockBytes / pieceBytes
	mostPieces  = 16 // of a device
)

// staging is the pinned memory through which copies of other memory go, in pieces. It
// belongs to the thread of the device, which makes all calls of the driver. Other goroutines
// copy between pieces and the caller's memory, as many at a time as there are cores for, for
// all devices together: one core alone is slower than the way to the GPU.
//
// A copy takes pieces as it needs them. It leaves a quarter of them to the way to or from
// the GPU, so that the thread does not wait for the copy that it has only just begun, and
// has more of the others than there are cores, so that none waits for the thread.
type staging struct {
	blocks []pinned
	pieces []*piece
	free   []*piece // those that no copy has, the one used first in front
}

// piece is a part of a block.
type piece struct {
	buf    []byte
	done   cu.Event   // of the copy by the driver that used it last
	host   []byte     // the caller's memory that it is filled from or emptied to
	busy   bool       // until copied was asked
	copied chan error // what became of the copy on the host
}

// Staging tells how many bytes of pinned host memory the device holds, and on which
// nodes their pages are. It waits for the calls before it.
func (d *Device) Staging() (bytes int64, pages numa.PageCount) {
	_ = d.worker.call(func() error { // a closed device has none
		for _, b := range d.staging.blocks {
			bytes += int64(len(b.buf))
			if c, err := numa.Pages(b.buf); err == nil {
				pages.Add(c)
			}
		}
		return nil
	})
	return bytes, pages
}

// piecesFor is how many pieces a copy of some bytes has at a time.
func piecesFor(bytes int) int {
	return min((bytes+pieceBytes-1)/pieceBytes, 2*runtime.GOMAXPROCS(0)+2, mostPieces)
}

// take gives a piece whose last copy is done, a new one where none is free. The caller has
// less than mostPieces.
func (d *Device) take() (*piece, error) {
	s := &d.staging
	if len(s.free) == 0 {
		if err := d.addPiece(); err != nil {
			return nil, err
		}
	}
	p := s.free[0]
	if err := p.done.Synchronize(); err != nil {
		return nil, err
	}
	s.free = slices.Delete(s.free, 0, 1)
	return p, nil
}

// addPiece makes a piece, which is free.
func (d *Device) addPiece() error {
	s := &d.staging
	at := len(s.pieces)
	if at == len(s.blocks)*blockPieces {
		b, err := d.pinHost(blockBytes)
		if err != nil {
			return err
		}
		s.blocks = append(s.blocks, b)
	}
	done, err := cu.MakeEvent(cu.DisableTiming)
	if err != nil {
		return err
	}
	off := at % blockPieces * pieceBytes
	p := &piece{buf: s.blocks[at/blockPieces].buf[off : off+pieceBytes], done: done, copied: make(chan error, 1)}
	s.pieces, s.free = append(s.pieces, p), append(s.free, p)
	return nil
}

// put makes pieces free, when nobody copies between them and the caller's memory any more.
func (s *staging) put(pieces ...*piece) {
	for _, p := range pieces {
		_ = p.wait() // who needs the error has asked
		p.host = nil
		s.free = append(s.free, p)
	}
}

// release gives the memory back, on the thread.
func (s *staging) release() error {
	var errs []error
	for _, p := range s.pieces {
		errs = append(errs, cu.DestroyEvent(&p.done))
	}
	for _, b := range s.blocks {
		errs = append(errs, b.free())
	}
	*s = staging{}
	return errors.Join(errs...)
}

// start copies on the host; wait waits for it. A copy that is alone has no other to run
// beside, and needs no goroutine.
func (p *piece) start(dst, src []byte, alone bool) {
	p.busy = true
	if alone {
		p.copied <- copyBytes(dst, src)
		return
	}
	go func() { p.copied <- copyBytes(dst, src) }()
}

// ended reports whether wait has nothing to wait for.
func (p *piece) ended() bool { return !p.busy || len(p.copied) > 0 }

func (p *piece) wait() error {
	if !p.busy {
		return nil
	}
	p.busy = false
	err, _ := awaited(p.copied)
	return err
}

// record marks the copy by the driver that was just put on s.
func (p *piece) record(s cu.Stream) error {
	if err := p.done.Record(s); err != nil {
		return freeAfter(err, s.Synchronize()) // nothing else tells when the piece may be used again
	}
	return nil
}

// write copies src to the device, behind the work on s. When it returns src was read, but
// pieces may still be on their way.
func (d *Device) write(to cu.DevicePtr, src []byte, s cu.Stream) error {
	if driver.Pinned(src) {
		return cu.MemcpyHtoDAsync(to, unsafe.Pointer(&src[0]), int64(len(src)), s)
	}
	most := piecesFor(len(src))
	alone := most == 1 || runtime.GOMAXPROCS(0) == 1
	var filling, sent []*piece // the oldest first
	defer func() {
		d.staging.put(sent...)
		d.staging.put(filling...)
	}()
	for len(src) > 0 || len(filling) > 0 {
		switch {
		case len(src) > 0 && len(filling)+len(sent) < most && (len(filling) == 0 || !filling[0].ended()):
			p, err := d.take()
			if err != nil {
				return err
			}
			n := min(len(src), len(p.buf))
			p.host, src = src[:n], src[n:]
			p.start(p.buf, p.host, alone)
			filling = append(filling, p)
		case len(src) > 0 && len(sent) > most/4 && (len(filling) == 0 || !filling[0].ended()):
			if err := sent[0].done.Synchronize(); err != nil {
				return err
			}
			d.staging.put(sent[0])
			sent = sent[1:]
		default:
			p := filling[0]
			filling, sent = filling[1:], append(sent, p)
			if err := p.wait(); err != nil {
				return err
			}
			n := len(p.host)
			if err := cu.MemcpyHtoDAsync(to, unsafe.Pointer(&p.buf[0]), int64(n), s); err != nil {
				return err
			}
			if err := p.record(s); err != nil {
				return err
			}
			to += cu.DevicePtr(n)
		}
	}
	return nil
}

// read copies from the device to dst, behind the work on s. It waits, unless dst is
// pinned.
func (d *Device) read(dst []byte, from cu.DevicePtr, s cu.Stream) error {
	if driver.Pinned(dst) {
		return cu.MemcpyDtoHAsync(unsafe.Pointer(&dst[0]), from, int64(len(dst)), s)
	}
	most := piecesFor(len(dst))
	alone := most == 1 || runtime.GOMAXPROCS(0) == 1
	var coming, emptying []*piece // the oldest first
	defer func() {
		d.staging.put(emptying...)
		d.staging.put(coming...)
	}()
	for len(dst) > 0 || len(coming)+len(emptying) > 0 {
		switch {
		case len(dst) > 0 && len(coming)+len(emptying) < most:
			p, err := d.take()
			if err != nil {
				return err
			}
			coming = append(coming, p)
			n := min(len(dst), len(p.buf))
			if err := cu.MemcpyDtoHAsync(unsafe.Pointer(&p.buf[0]), from, int64(n), s); err != nil {
				return err
			}
			if err := p.record(s); err != nil {
				return err
			}
			p.host, dst, from = dst[:n], dst[n:], from+cu.DevicePtr(n)
		case len(coming) > 0 && (len(dst) == 0 || len(coming) > most/4) && (len(emptying) == 0 || !emptying[0].ended()):
			p := coming[0]
			if err := p.done.Synchronize(); err != nil {
				return err
			}
			coming, emptying = coming[1:], append(emptying, p)
			p.start(p.host, p.buf, alone)
		default:
			p := emptying[0]
			emptying = emptying[1:]
			err := p.wait()
			d.staging.put(p)
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// copyBytes is copy. Memory that cannot be read or written is an error: a mapped file, as a
// rule, that another program cut.
func copyBytes(dst, src []byte) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			if err = sparse.LostFile(r); err == nil {
				err = fmt.Errorf("%w: %w", kernels.ErrArgument, crash.Recovered(r))
			}
		}
	}()
	copy(dst, src)
	return nil
}

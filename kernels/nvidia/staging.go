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
	"github.com/msrep-go/msrep/internal/lostfile"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/nvidia/internal/driver"
	"github.com/msrep-go/msrep/numa"
)

const (
	// pieceBytes is the size of one core's copy. Smaller pieces cost the thread of the
	// device more calls; larger pieces delay the first transfer.
	pieceBytes  = 2 << 20
	blockBytes  = 4 << 20 // pinned at a time; from this size on, pages are huge
	blockPieces = blockBytes / pieceBytes
	mostPieces  = 16 // of a device
)

// staging is the pinned memory for copies of memory that is not pinned, in pieces. Only
// the thread of the device uses it; that thread makes all driver calls. Copiers, which
// are threads on the node of the GPU, copy between pieces and the caller's memory. All
// devices together use at most as many as there are cores. One core alone is slower than
// the transfer to the GPU.
//
// A copy takes pieces as it needs them. It leaves a quarter of them to transfers to or
// from the GPU, so that the thread does not wait for a transfer that has just begun. It
// has more of the other pieces than there are cores, so that no core waits for the
// thread.
type staging struct {
	blocks []pinned
	pieces []*piece
	free   []*piece // pieces that no copy uses, the least recently used first
}

// piece is a part of a block.
type piece struct {
	buf    []byte
	done   cu.Event   // last transfer of the piece
	host   []byte     // the caller's memory that the piece is filled from or emptied to
	busy   bool       // until copied has been received
	copied chan error // result of the copy on the host
}

// Staging returns the bytes of pinned host memory that the device holds, and the nodes
// of its pages. It waits for earlier calls.
func (d *Device) Staging() (bytes int64, pages numa.PageCount) {
	_ = d.worker.call(func() error { // a closed device has no staging memory
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

// piecesFor returns the number of pieces that a copy of some bytes uses at a time.
func piecesFor(bytes int) int {
	return min((bytes+pieceBytes-1)/pieceBytes, 2*runtime.GOMAXPROCS(0)+2, mostPieces)
}

// take returns a piece whose last transfer is done, or a new one if none is free. The
// caller has fewer than mostPieces.
func (d *Device) take() (*piece, error) {
	s := &d.staging
	if len(s.free) == 0 {
		if err := d.addPiece(); err != nil {
			return nil, err
		}
	}
	p := s.free[0]
	if err := d.syncEvent(p.done); err != nil {
		return nil, err
	}
	s.free = slices.Delete(s.free, 0, 1)
	return p, nil
}

// addPiece adds a free piece.
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

// put frees pieces after waiting for copies between them and the caller's memory.
func (s *staging) put(pieces ...*piece) {
	for _, p := range pieces {
		_ = p.wait() // the error has been reported already
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

// start starts the copy on the host; wait waits for it. A single copy runs synchronously,
// without a goroutine.
func (p *piece) start(d *Device, dst, src []byte, alone bool) {
	p.busy = true
	if alone {
		p.copied <- copyBytes(dst, src)
		return
	}
	d.copiers.run(func() { p.copied <- copyBytes(dst, src) })
}

// ended reports whether wait would return immediately.
func (p *piece) ended() bool { return !p.busy || len(p.copied) > 0 }

func (p *piece) wait() error {
	if !p.busy {
		return nil
	}
	p.busy = false
	err, _ := awaited(p.copied)
	return err
}

// record marks the end of the transfer that was just put on s.
func (p *piece) record(d *Device, s cu.Stream) error {
	if err := p.done.Record(s); err != nil {
		return freeAfter(err, d.sync(s)) // without the event, only this ensures that the piece can be reused
	}
	return nil
}

// copyIn and copyOut put the transfer of n bytes of the piece to or from the GPU on s.
func copyIn(to cu.DevicePtr, p *piece, n int64, s cu.Stream) error {
	return cu.MemcpyHtoDAsync(to, unsafe.Pointer(&p.buf[0]), n, s)
}

func copyOut(p *piece, from cu.DevicePtr, n int64, s cu.Stream) error {
	return cu.MemcpyDtoHAsync(unsafe.Pointer(&p.buf[0]), from, n, s)
}

// write copies src to the device, after the work on s. When it returns, src has been
// read, but transfers may still run.
func (d *Device) write(to cu.DevicePtr, src []byte, s cu.Stream) error {
	if driver.Pinned(src) {
		return cu.MemcpyHtoDAsync(to, unsafe.Pointer(&src[0]), int64(len(src)), s)
	}
	most := piecesFor(len(src))
	alone := most == 1 || runtime.GOMAXPROCS(0) == 1
	var filling, sent []*piece // oldest first
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
			p.start(d, p.buf, p.host, alone)
			filling = append(filling, p)
		case len(src) > 0 && len(sent) > most/4 && (len(filling) == 0 || !filling[0].ended()):
			if err := d.syncEvent(sent[0].done); err != nil {
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
			if err := copyIn(to, p, int64(n), s); err != nil {
				return err
			}
			if err := p.record(d, s); err != nil {
				return err
			}
			to += cu.DevicePtr(n)
		}
	}
	return nil
}

// read copies from the device to dst, after the work on s. It waits for the copy,
// unless dst is pinned.
func (d *Device) read(dst []byte, from cu.DevicePtr, s cu.Stream) error {
	if driver.Pinned(dst) {
		return cu.MemcpyDtoHAsync(unsafe.Pointer(&dst[0]), from, int64(len(dst)), s)
	}
	most := piecesFor(len(dst))
	alone := most == 1 || runtime.GOMAXPROCS(0) == 1
	var coming, emptying []*piece // oldest first
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
			if err := copyOut(p, from, int64(n), s); err != nil {
				return err
			}
			if err := p.record(d, s); err != nil {
				return err
			}
			p.host, dst, from = dst[:n], dst[n:], from+cu.DevicePtr(n)
		case len(coming) > 0 && (len(dst) == 0 || len(coming) > most/4) && (len(emptying) == 0 || !emptying[0].ended()):
			p := coming[0]
			if err := d.syncEvent(p.done); err != nil {
				return err
			}
			coming, emptying = coming[1:], append(emptying, p)
			p.start(d, p.host, p.buf, alone)
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

// copyBytes is copy, but returns an error for memory that cannot be read or written,
// usually a mapped file that another program truncated.
func copyBytes(dst, src []byte) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			if err = lostfile.Error(r); err == nil {
				err = fmt.Errorf("%w: %w", kernels.ErrArgument, crash.Recovered(r))
			}
		}
	}()
	copy(dst, src)
	return nil
}

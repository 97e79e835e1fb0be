//go:build cuda

package nvidia

import (
	"errors"

	"gorgonia.org/cu"

	"github.com/msrep-go/msrep/kernels"
)

const (
	// forwardBytes is the least size of a copy that another GPU forwards. A smaller copy
	// takes longer to start than to go through the host.
	forwardBytes = 256 << 10
	// A GPU that forwards holds forwardPieces pieces for each device that receives.
	forwardPiece  = 1 << 20
	forwardPieces = 2
)

// location is an address in the memory of a device.
type location struct {
	dev  *Device
	addr cu.DevicePtr
}

// copyBetween copies between two contexts, after the work on s, on the thread of the
// device.
func (d *Device) copyBetween(to, from location, bytes int64, s cu.Stream) error {
	way, via := d.way(to.dev.gpu, from.dev.gpu)
	if via != nil && bytes >= forwardBytes {
		note(&d.sources, &d.sources.contexts, via)
		if done, err := d.forward(to, from, via, bytes, s); done {
			return err
		}
	}
	if way == WayHost {
		return d.copyThroughHost(to, from, bytes, s)
	}
	return cu.MemcpyPeerAsync(to.addr, to.dev.gpu.ctx, from.addr, from.dev.gpu.ctx, bytes, s)
}

// side is another context in which a device works, on its own thread.
type side struct {
	gpu  *gpu
	s    cu.Stream
	mark cu.Event // last transfer on s

	// Memory in the context that forwards copies, and the last copies out of it.
	memory cu.DevicePtr
	out    [forwardPieces]cu.Event // of the context of the device
}

// side returns the side for another context, or nil if that is closed.
func (d *Device) side(g *gpu) (*side, error) {
	if x := d.sides[g]; x != nil {
		return x, nil
	}
	if d.here == nil {
		e, err := cu.MakeEvent(cu.DisableTiming)
		if err != nil {
			return nil, err
		}
		d.here = &e
	}
	if !g.hold() {
		return nil, nil
	}
	x := &side{gpu: g}
	err := d.in(x, func() (err error) {
		if x.s, err = cu.MakeStream(cu.NonBlocking); err != nil {
			return err
		}
		if x.mark, err = cu.MakeEvent(cu.DisableTiming); err != nil {
			return freeAfter(err, x.s.Destroy())
		}
		return nil
	})
	if err != nil {
		return nil, freeAfter(err, g.let())
	}
	d.sides[g] = x
	return x, nil
}

// in runs f with the context of the side. Its errors name the device of that context, so
// that the device that calls is not taken for lost.
func (d *Device) in(x *side, f func() error) error {
	err := cu.SetCurrentContext(x.gpu.ctx)
	if err == nil {
		err = f()
	}
	if back := cu.SetCurrentContext(d.gpu.ctx); back != nil {
		return back
	}
	if err == nil {
		return nil
	}
	return &kernels.DeviceError{Device: x.gpu.id(), Call: "copy", Err: describe(err)}
}

// after makes the side wait for the work on s.
func (d *Device) after(x *side, s cu.Stream) error {
	if err := d.here.Record(s); err != nil {
		return err
	}
	return d.in(x, func() error { return x.s.Wait(*d.here, 0) })
}

// transfer puts a transfer on the side, and makes s wait for it.
func (d *Device) transfer(x *side, s cu.Stream, f func() error) error {
	err := d.in(x, func() error {
		if err := f(); err != nil {
			return err
		}
		return x.mark.Record(x.s)
	})
	if err != nil {
		return err
	}
	return s.Wait(x.mark, 0)
}

// copyThroughHost copies between two contexts through pinned memory of the device, piece
// by piece. If the device reads for itself, the transfers of the two contexts overlap.
func (d *Device) copyThroughHost(to, from location, bytes int64, s cu.Stream) error {
	var source, target *side // nil for the context of the device
	var err error
	if from.dev.gpu != d.gpu {
		if source, err = d.side(from.dev.gpu); err == nil && source == nil {
			err = kernels.ErrClosed
		}
	}
	if to.dev.gpu != d.gpu && err == nil {
		if target, err = d.side(to.dev.gpu); err == nil && target == nil {
			err = kernels.ErrClosed
		}
	}
	if err == nil && source != nil {
		err = d.after(source, s)
	}
	if err != nil {
		return err
	}
	most := piecesFor(int(min(bytes, mostPieces*pieceBytes)))
	var sent []*piece // oldest first
	defer func() { d.staging.put(sent...) }()
	for at := int64(0); at < bytes; at += pieceBytes {
		if len(sent) == most {
			d.staging.put(sent[0])
			sent = sent[1:]
		}
		p, err := d.take()
		if err != nil {
			return err
		}
		sent = append(sent, p)
		n, off := min(bytes-at, pieceBytes), cu.DevicePtr(at)
		if err := d.hop(source, s, func(s cu.Stream) error { return copyOut(p, from.addr+off, n, s) }); err != nil {
			return err
		}
		if target != nil {
			if err := d.after(target, s); err != nil {
				return err
			}
		}
		if err := d.hop(target, s, func(s cu.Stream) error { return copyIn(to.addr+off, p, n, s) }); err != nil {
			return err
		}
		if err := p.record(d, s); err != nil {
			return err
		}
	}
	return nil
}

// hop puts a transfer on s, or on a side that s then waits for.
func (d *Device) hop(x *side, s cu.Stream, f func(s cu.Stream) error) error {
	if x == nil {
		return f(s)
	}
	return d.transfer(x, s, func() error { return f(x.s) })
}

// forward copies from a neighbour's neighbour: the context via reads each piece into its
// memory, and the device, which has the destination, reads it from there. It returns false
// if via has no memory for that or is closed.
func (d *Device) forward(to, from location, via *gpu, bytes int64, s cu.Stream) (done bool, err error) {
	x, err := d.side(via)
	if x == nil || err != nil {
		return err != nil, err
	}
	if x.memory == 0 && !d.prepareForward(x) {
		return false, nil
	}
	if err := d.after(x, s); err != nil {
		return true, err
	}
	for k, at := 0, int64(0); at < bytes; k, at = k+1, at+forwardPiece {
		n, off, slot := min(bytes-at, forwardPiece), cu.DevicePtr(at), k%forwardPieces
		piece := x.memory + cu.DevicePtr(slot*forwardPiece)
		err := d.transfer(x, s, func() error {
			if err := x.s.Wait(x.out[slot], 0); err != nil { // of this copy or an earlier one, on any stream
				return err
			}
			return cu.MemcpyPeerAsync(piece, via.ctx, from.addr+off, from.dev.gpu.ctx, n, x.s)
		})
		if err != nil {
			return true, err
		}
		if err := cu.MemcpyPeerAsync(to.addr+off, d.gpu.ctx, piece, via.ctx, n, s); err != nil {
			return true, err
		}
		if err := x.out[slot].Record(s); err != nil {
			return true, err
		}
	}
	return true, nil
}

// prepareForward allocates the memory and the events of a side that forwards.
func (d *Device) prepareForward(x *side) bool {
	for i := range x.out {
		if x.out[i] != (cu.Event{}) {
			continue
		}
		e, err := cu.MakeEvent(cu.DisableTiming)
		if err != nil {
			return false
		}
		x.out[i] = e
	}
	err := d.in(x, func() (err error) {
		x.memory, err = cu.MemAlloc(forwardPieces * forwardPiece)
		return err
	})
	if err != nil {
		x.memory = 0
	}
	return err == nil
}

// releaseSides releases what the device has in other contexts. What a lost context holds
// goes with it.
func (d *Device) releaseSides() error {
	var errs []error
	keep := func(err error) {
		if !fatal[code(err)] {
			errs = append(errs, err)
		}
	}
	for _, x := range d.sides {
		keep(d.in(x, func() error {
			errs := []error{d.sync(x.s), cu.DestroyEvent(&x.mark), x.s.Destroy()}
			if x.memory != 0 {
				errs = append(errs, cu.MemFree(x.memory))
			}
			return errors.Join(errs...)
		}))
		for _, e := range x.out {
			if e != (cu.Event{}) {
				errs = append(errs, cu.DestroyEvent(&e))
			}
		}
		errs = append(errs, x.gpu.let())
	}
	if d.here != nil {
		errs = append(errs, cu.DestroyEvent(d.here))
	}
	d.sides, d.here = map[*gpu]*side{}, nil
	return errors.Join(errs...)
}

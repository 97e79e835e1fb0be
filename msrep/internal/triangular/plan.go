package triangular

import (
	"errors"
	"fmt"

	"github.com/msrep-go/msrep/internal/devvec"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// Plan is a triangular matrix on the devices of a System. Device i has a block of successive rows:
//
//	T = | T00         |      x0 = T00^-1 b0
//	    | T10 T11     |      x1 = T11^-1 (b1 - T10 x0)
//	    | T20 T21 T22 |      x2 = T22^-1 (b2 - T20 x0 - T21 x1)
//
// It stores the triangle on its diagonal and, for each device before it, the rectangle of its rows and that device's
// columns. As soon as a device has solved its rows, the devices after it copy them and subtract their products, at the
// same time as the next device solves (Xie et al., arXiv 2012.06959, with blocks of rows instead of columns and copies
// instead of shared memory). Upper triangles begin with the last device. Methods must not be called at the same time.
type Plan[V sparse.Value] struct {
	on     *devvec.Devices
	n      int
	cuts   []int // device i has the rows [cuts[i], cuts[i+1])
	upper  bool
	blocks []block[V]
	host   *devvec.Streams // for devices that use host memory; nil for others

	pending *devvec.Queue // the streams that may have unfinished solves; nil if none
}

// block is the rows of one device.
type block[V sparse.Value] struct {
	rows     int
	triangle kernels.PackedTriangle // nil if there are no rows
	left     []rectangle[V]         // in the order in which their devices solve
	solved   kernels.Event          // nil for devices that use host memory
}

// rectangle is the entries of a block in the columns of one device. It has at least one entry.
type rectangle[V sparse.Value] struct {
	from int // the device
	a    kernels.Compressed[V]
	x    kernels.Array[V] // copy of the solution of the device; empty if devices use host memory
}

// New stores t on the devices. stop is called from time to time; an error from it ends the work. After an error nothing
// stays allocated.
func New[V sparse.Value](on *devvec.Devices, t *Matrix[V], stop func() error) (*Plan[V], error) {
	p := &Plan[V]{on: on, n: t.N, upper: t.Upper, cuts: t.cuts(len(on.List)), blocks: make([]block[V], len(on.List))}
	if on.OnHost() {
		p.host = &devvec.Streams{}
	}
	err := devvec.InParallel(len(p.blocks), func(i int) error { return p.build(i, t, stop) })
	if err == nil && p.host != nil {
		for i := range p.blocks {
			s, e := on.NewStream(i)
			if e != nil {
				err = e
				break
			}
			p.host.On = append(p.host.On, s)
		}
	}
	if err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// build stores the rows of device i.
func (p *Plan[V]) build(i int, t *Matrix[V], stop func() error) (err error) {
	dev, b := p.on.List[i], &p.blocks[i]
	lo, hi := p.cuts[i], p.cuts[i+1]
	if b.rows = hi - lo; b.rows == 0 {
		return nil
	}
	if p.host == nil {
		if b.solved, err = dev.NewEvent(); err != nil {
			return err
		}
	}
	packer, ok := dev.(kernels.Packer)
	if !ok {
		return &kernels.DeviceError{Device: dev.Info().ID, Call: "pack", Err: kernels.ErrNotSupported}
	}
	packed, err := packer.Pack(t.diagonalBlock(lo, hi, stop))
	if err != nil {
		return err
	}
	if b.triangle, ok = packed.(kernels.PackedTriangle); !ok {
		return errors.Join(fmt.Errorf("%w: a triangle of type %T", kernels.ErrNotSupported, packed), packed.Free())
	}
	stream, err := p.on.NewStream(i)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stream.Close()) }()
	for s := range p.blocks {
		from := p.solves(s)
		if from == i {
			break
		}
		if err := p.addRectangle(stream, i, from, t); err != nil {
			return err
		}
	}
	return nil
}

// solves returns the device that solves after s others.
func (p *Plan[V]) solves(s int) int {
	if p.upper {
		return len(p.blocks) - 1 - s
	}
	return s
}

// addRectangle stores the entries of device i in the columns of another one, if there are any.
func (p *Plan[V]) addRectangle(stream kernels.Stream, i, from int, t *Matrix[V]) (err error) {
	ptr, idx, val := t.block(p.cuts[i], p.cuts[i+1], p.cuts[from], p.cuts[from+1])
	if len(idx) == 0 {
		return nil
	}
	dev, b := p.on.List[i], &p.blocks[i]
	whole, _, err := partition.Split(ptr, 1, partition.RuleMajor)
	if err != nil {
		return err
	}
	r := rectangle[V]{from: from, a: kernels.Compressed[V]{Part: whole[0]}}
	for k := range ptr[1:] {
		r.a.Longest = max(r.a.Longest, ptr[k+1]-ptr[k])
	}
	r.a.Ptr, err = kernels.NewArray[int64](dev, int64(len(ptr)))
	if err == nil {
		r.a.Idx, err = kernels.NewArray[int32](dev, int64(len(idx)))
	}
	if err == nil {
		r.a.Val, err = kernels.NewArray[V](dev, int64(len(val)))
	}
	b.left = append(b.left, r) // Close frees what there is
	if err != nil {
		return err
	}
	return errors.Join(r.a.Ptr.Write(stream, ptr), r.a.Idx.Write(stream, idx), r.a.Val.Write(stream, val), stream.Sync())
}

// Update replaces the values by those of t, which has the same pattern. After an error the plan can only be closed.
func (p *Plan[V]) Update(t *Matrix[V]) error {
	return devvec.InParallel(len(p.blocks), func(i int) (err error) {
		b := &p.blocks[i]
		lo, hi := p.cuts[i], p.cuts[i+1]
		if b.rows == 0 {
			return nil
		}
		stream, err := p.on.NewStream(i)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, stream.Close()) }()
		if err := b.triangle.Update(t.diagonalBlock(lo, hi, nil)); err != nil {
			return err
		}
		for _, r := range b.left {
			_, _, val := t.block(lo, hi, p.cuts[r.from], p.cuts[r.from+1])
			if err := errors.Join(r.a.Val.Write(stream, val), stream.Sync()); err != nil {
				return err
			}
		}
		return nil
	})
}

// Cuts returns the bounds of the rows of the devices.
func (p *Plan[V]) Cuts() []int { return p.cuts }

// Packs describes the triangles on the diagonal, by device.
func (p *Plan[V]) Packs() []kernels.PackInfo {
	all := make([]kernels.PackInfo, len(p.blocks))
	for i, b := range p.blocks {
		if b.triangle != nil {
			all[i] = b.triangle.Info()
		}
	}
	return all
}

// Bytes returns the memory of the plan.
func (p *Plan[V]) Bytes() (sum int64) {
	add := func(b kernels.Buffer) {
		if b != nil {
			sum += b.Bytes()
		}
	}
	for _, b := range p.blocks {
		if b.triangle != nil {
			for _, m := range b.triangle.Buffers() {
				add(m)
			}
		}
		for _, r := range b.left {
			add(r.a.Ptr.Buf)
			add(r.a.Idx.Buf)
			add(r.a.Val.Buf)
			add(r.x.Buf)
		}
	}
	return sum
}

// Close frees the memory. All operations of the plan must be over.
func (p *Plan[V]) Close() error {
	if p == nil {
		return nil
	}
	var errs []error
	for _, b := range p.blocks {
		if b.triangle != nil {
			errs = append(errs, b.triangle.Free())
		}
		for _, r := range b.left {
			errs = append(errs, r.a.Ptr.Free(), r.a.Idx.Free(), r.a.Val.Free(), r.x.Free())
		}
		if b.solved != nil {
			errs = append(errs, b.solved.Close())
		}
	}
	if p.host != nil {
		for _, s := range p.host.On {
			errs = append(errs, s.Close())
		}
	}
	p.blocks, p.host = nil, nil
	return errors.Join(errs...)
}

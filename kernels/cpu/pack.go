package cpu

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// packed is a part of a matrix, cut among the workers of a device once, each
// piece in its form. It lives until it is freed and no product uses it any more.
type packed[V sparse.Value] struct {
	dev    *Device
	part   partition.Part
	minors int
	pieces []piece[V]
	carry  []V
	info   kernels.PackInfo

	use   sync.Mutex // one product at a time, and Free
	freed atomic.Bool
	ends  *arena // memory of the rows that pieces share
	mem   *arena // of all others; nil before there is any
}

// Pack implements kernels.Packer.
func (d *Device) Pack(op kernels.Op) (p kernels.Packed, err error) {
	if d.closed.Load() {
		return nil, d.fail("pack", 0, kernels.ErrClosed)
	}
	switch op := op.(type) {
	case *kernels.Packing[float64]:
		p, err = newPacked(d, op)
	case *kernels.Packing[float32]:
		p, err = newPacked(d, op)
	default:
		err = kernels.ErrNotSupported
	}
	var bad *sparse.InputError
	switch {
	case err == nil:
		return p, nil
	case errors.As(err, &bad):
		return nil, err
	}
	return nil, d.fail("pack", 0, err)
}

func newPacked[V sparse.Value](d *Device, op *kernels.Packing[V]) (*packed[V], error) {
	if err := checkPacking(op); err != nil {
		return nil, err
	}
	begin := time.Now()
	parts, err := pieces(d, op)
	if err != nil {
		return nil, err
	}
	p := &packed[V]{dev: d, part: op.Part, minors: op.Minors, pieces: make([]piece[V], len(parts)), carry: make([]V, len(parts)),
		ends: &arena{dev: d}}
	for i, q := range parts {
		rows := cutRows(q, op.Part.StartIdx, op.Ptr, op.Idx, op.Val, op.Minors)
		rows.body.Fixed = op.Fixed
		p.pieces[i] = piece[V]{part: q, n: len(rows.body.Ptr) - 1, rows: rows}
	}
	if err := p.choose(op); err != nil {
		return nil, errors.Join(err, p.Free())
	}
	for i := range p.pieces {
		p.pieces[i].built(op.InPlace)
	}
	p.info.Took = time.Since(begin)
	p.info.Bytes = p.mem.bytes() + p.ends.bytes()
	return p, nil
}

// pieces cuts a part among the workers, within rows unless their sums are to be fixed.
func pieces[V sparse.Value](d *Device, op *kernels.Packing[V]) (parts []partition.Part, err error) {
	n := d.workers(op.Part)
	switch {
	case op.Fixed:
		parts = wholeParts(op.Ptr, op.Part, n)
	case n == 1:
		return []partition.Part{op.Part}, nil
	default:
		if parts, err = partition.Within(op.Ptr, op.Part, n); err != nil {
			return nil, err
		}
	}
	align(parts, op.Part, op.Ptr)
	return parts, nil
}

// checkPacking says what of the arrays does not fit together.
func checkPacking[V sparse.Value](op *kernels.Packing[V]) error {
	p := op.Part
	switch {
	case p.First() != 0 || p.Majors() < 0 || p.NNZ() < 0:
		return fmt.Errorf("%w: part %+v does not count from its first row", kernels.ErrArgument, p)
	case len(op.Ptr) != p.Majors()+1:
		return fmt.Errorf("%w: ptr has %d elements, it needs %d", kernels.ErrArgument, len(op.Ptr), p.Majors()+1)
	case int64(len(op.Idx)) != p.NNZ() || int64(len(op.Val)) != p.NNZ():
		return fmt.Errorf("%w: idx and val have %d and %d elements, they need %d", kernels.ErrArgument, len(op.Idx), len(op.Val), p.NNZ())
	case op.Minors < 0:
		return fmt.Errorf("%w: %d minors", kernels.ErrArgument, op.Minors)
	case op.Fixed && op.Precision.Segments != 0:
		return fmt.Errorf("%w: sums of a fixed shape read all of each value", kernels.ErrArgument)
	case op.Fixed && !whole(op.Ptr, p):
		return fmt.Errorf("%w: part %+v does not hold whole rows", kernels.ErrArgument, p)
	}
	return nil
}

// Info describes the packed part.
func (p *packed[V]) Info() kernels.PackInfo { return p.info }

// Buffers is the memory that it holds.
func (p *packed[V]) Buffers() []kernels.Buffer {
	p.use.Lock()
	defer p.use.Unlock()
	if p.freed.Load() {
		return nil
	}
	return append(slices.Clone(p.ends.all), p.mem.all...)
}

// Free releases the memory, after a product that is running.
func (p *packed[V]) Free() error {
	if p.freed.Swap(true) {
		return nil
	}
	p.use.Lock()
	defer p.use.Unlock()
	p.pieces = nil
	err := p.ends.free()
	if p.mem != nil {
		err = errors.Join(err, p.mem.free())
	}
	return err
}

// usePacked is a part that the device packed, locked for a product.
func usePacked[V sparse.Value](d *Device, a kernels.Packed) (*packed[V], error) {
	p, ok := a.(*packed[V])
	if !ok || p == nil {
		return nil, fmt.Errorf("%w: a part that was packed by another kind of device or for other values", kernels.ErrArgument)
	}
	if p.dev != d {
		return nil, fmt.Errorf("%w: a part that %s packed", kernels.ErrArgument, p.dev.info.ID)
	}
	p.use.Lock()
	if p.freed.Load() {
		p.use.Unlock()
		return nil, fmt.Errorf("%w: the packed part was freed", kernels.ErrClosed)
	}
	return p, nil
}

// gatherPacked runs kernels.GatherPacked.
func gatherPacked[V sparse.Value](d *Device, op *kernels.GatherPacked[V]) (err error) {
	p, err := usePacked[V](d, op.A)
	if err != nil {
		return err
	}
	defer p.use.Unlock()
	v := newViews(d)
	defer v.close(&err)
	x := view(v, "x", op.X, int64(p.minors))
	y := view(v, "y", op.Y, int64(p.part.OwnEnd-p.part.OwnFirst))
	carry := viewCarry(v, p.part, op.Carry)
	if v.err != nil {
		return v.err
	}
	return p.multiply(d, op.Alpha, op.Beta, x, y, carry)
}

// multiply computes all pieces, and joins the rows that they share.
func (p *packed[V]) multiply(d *Device, alpha, beta V, x, y, carry []V) error {
	err := d.pool.run(len(p.pieces), func(i int) {
		q := &p.pieces[i]
		p.carry[i] = q.multiply(alpha, beta, x, y[q.part.OwnFirst-p.part.OwnFirst:q.part.OwnEnd-p.part.OwnFirst])
	})
	if err != nil {
		return err
	}
	if p.part.StartFlag {
		carry[0] = 0
	}
	for i := range p.pieces {
		q := &p.pieces[i].part
		switch {
		case !q.StartFlag:
		case q.StartMajor < p.part.OwnFirst:
			carry[0] += p.carry[i]
		default:
			y[q.StartMajor-p.part.OwnFirst] += p.carry[i]
		}
	}
	return nil
}

// arena is buffers of a device that are freed all at once.
type arena struct {
	dev    *Device
	mu     sync.Mutex
	all    []kernels.Buffer
	waited time.Duration // for memory, all workers together
}

// take gives zeroed memory that begins at a multiple of 64 bytes, and has its pages
// from the thread that calls.
func (a *arena) take(bytes int64) ([]byte, error) {
	begin := time.Now()
	b, err := a.dev.Alloc(bytes)
	if err != nil {
		return nil, err
	}
	view, err := a.dev.View(b)
	if err == nil && bytes >= mem.MinMapped {
		mem.Populate(view)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.all = append(a.all, b)
	a.waited += time.Since(begin)
	return view, err
}

func (a *arena) bytes() (sum int64) {
	for _, b := range a.all {
		sum += b.Bytes()
	}
	return sum
}

func (a *arena) free() error {
	var errs []error
	for _, b := range a.all {
		errs = append(errs, b.Free())
	}
	a.all = nil
	return errors.Join(errs...)
}

package cpu

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/kernels/cpu/internal/forms"
	"github.com/msrep-go/msrep/kernels/cpu/internal/memory"
	"github.com/msrep-go/msrep/kernels/cpu/internal/rows"
	"github.com/msrep-go/msrep/kernels/cpu/internal/scatter"
	"github.com/msrep-go/msrep/kernels/cpu/internal/search"
	"github.com/msrep-go/msrep/kernels/cpu/internal/workers"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// packed is a part of a matrix that was cut among the workers of a device once, with each piece in its form. It stays
// valid until it is freed and no product uses it.
type packed[V sparse.Value] struct {
	dev      *memory.Memory
	part     partition.Part
	minors   int
	pieces   []piece[V]
	fixed    bool          // sums have a fixed shape
	rows     *rows.Many[V] // for products with rowsFrom or more vectors; nil if all products use the forms
	rowsFrom int
	trial    orderTrial[V]
	carry    []V
	// stretches is the parts of y that the workers add to in transposed products.
	stretches []int
	choice    search.Choice[V]

	use   sync.Mutex // held by a product and by Free
	freed atomic.Bool
	ends  memory.Arena // memory of the rows that pieces share
}

func newPacked[V sparse.Value](d *memory.Memory, op *kernels.Packing[V]) (*packed[V], error) {
	if err := checkPacking(op); err != nil {
		return nil, err
	}
	begin := time.Now()
	p, err := cutPart(d, op)
	if err != nil {
		return nil, err
	}
	if err := p.build(op); err != nil {
		return nil, errors.Join(err, p.Free())
	}
	p.keepRows(op)
	p.choice.Info.Took = time.Since(begin)
	return p, nil
}

// build builds the forms of all pieces: the rows that pieces share in CSR, and the others in the form that is chosen.
func (p *packed[V]) build(op *kernels.Packing[V]) error {
	ends, err := forms.Named[V](kernels.FormCSR, op.Segments, op.InPlace)
	if err != nil {
		return err
	}
	if err := p.dev.Pool.Each(len(p.pieces), func(i int) error {
		return p.pieces[i].buildEnds(ends, &form.Memory{Alloc: p.ends[i].Take})
	}); err != nil {
		return err
	}
	part := search.Part[V]{Part: p.part, Mem: p.dev, Minors: p.minors, Fixed: p.fixed, Bodies: make([]search.Body[V], len(p.pieces))}
	for i := range p.pieces {
		q := &p.pieces[i]
		part.Bodies[i] = search.Body[V]{Rows: q.rows.Body, First: q.part.OwnFirst - p.part.OwnFirst}
	}
	var before *search.Choice[V]
	if old, ok := op.Previous.(*packed[V]); ok {
		before = &old.choice
	}
	if p.choice, err = search.Choose(part, op, before); err != nil {
		return err
	}
	p.choice.Info.Bytes += p.ends.Bytes()
	for i, f := range p.choice.Forms {
		p.pieces[i].body = f
	}
	for i := range p.pieces {
		p.pieces[i].rows = rows.PieceRows[V]{}
	}
	return nil
}

// cutPart returns a part with the rows of its pieces, which have no forms yet.
func cutPart[V sparse.Value](d *memory.Memory, op *kernels.Packing[V]) (*packed[V], error) {
	parts, err := pieces(d, op)
	if err != nil {
		return nil, err
	}
	p := &packed[V]{dev: d, part: op.Part, minors: op.Minors, fixed: op.Fixed, pieces: make([]piece[V], len(parts)), carry: make([]V, len(parts)),
		stretches: scatter.Stretches(parts, op.Idx, op.Part.StartIdx, op.Minors), ends: memory.NewArena(d, len(parts))}
	for i, q := range parts {
		rows := rows.CutRows(q, op.Part.StartIdx, op.Ptr, op.Idx, op.Val, op.Minors)
		rows.Body.Fixed = op.Fixed
		p.pieces[i] = piece[V]{part: q, n: len(rows.Body.Ptr) - 1, rows: rows}
	}
	return p, nil
}

// pieces cuts a part among the workers: between rows if sums have a fixed shape, and anywhere otherwise.
func pieces[V sparse.Value](d *memory.Memory, op *kernels.Packing[V]) (parts []partition.Part, err error) {
	n := d.Pool.For(op.Part)
	switch {
	case op.Fixed:
		parts = rows.CutWhole(op.Ptr, n)
	case n == 1:
		return []partition.Part{op.Part}, nil
	default:
		if parts, err = partition.Within(op.Ptr, op.Part, n); err != nil {
			return nil, err
		}
	}
	rows.Align(parts, op.Part, op.Ptr)
	return parts, nil
}

// checkPacking fails if the arrays do not fit together.
func checkPacking[V sparse.Value](op *kernels.Packing[V]) error {
	if err := op.Check(); err != nil {
		return err
	}
	switch {
	case op.Fixed && op.Segments.Count != 0:
		return fmt.Errorf("%w: sums of a fixed shape read all of each value", kernels.ErrArgument)
	case op.Fixed && !rows.IsWhole(op.Ptr, op.Part):
		return fmt.Errorf("%w: part %+v does not hold whole rows", kernels.ErrArgument, op.Part)
	}
	return nil
}

// Info describes the packed part.
func (p *packed[V]) Info() kernels.PackInfo { return p.choice.Info }

// Buffers returns the memory that the part holds.
func (p *packed[V]) Buffers() []kernels.Buffer {
	p.use.Lock()
	defer p.use.Unlock()
	if p.freed.Load() {
		return nil
	}
	return slices.Concat(p.ends.Buffers(), p.choice.Arena.Buffers(), p.trial.buffers())
}

// Free releases the memory, after the product that is running.
func (p *packed[V]) Free() error {
	if p.freed.Swap(true) {
		return nil
	}
	p.use.Lock()
	defer p.use.Unlock()
	p.pieces = nil
	return errors.Join(p.ends.Free(), p.choice.Arena.Free(), p.trial.free())
}

// usePacked returns a part that the device packed, locked for a product.
func usePacked[V sparse.Value](d *memory.Memory, a kernels.Packed) (*packed[V], error) {
	p, ok := a.(*packed[V])
	if !ok || p == nil {
		return nil, fmt.Errorf("%w: a part that was packed by another kind of device or for other values", kernels.ErrArgument)
	}
	if p.dev != d {
		return nil, fmt.Errorf("%w: a part that %s packed", kernels.ErrArgument, p.dev.ID)
	}
	p.use.Lock()
	if p.freed.Load() {
		p.use.Unlock()
		return nil, fmt.Errorf("%w: the packed part was freed", kernels.ErrClosed)
	}
	return p, nil
}

// majorProductPacked runs kernels.MajorProductPacked.
func majorProductPacked[V sparse.Value](d *memory.Memory, op *kernels.MajorProductPacked[V]) (err error) {
	p, err := usePacked[V](d, op.A)
	if err != nil {
		return err
	}
	defer p.use.Unlock()
	v := memory.NewViews(d)
	defer v.Close(&err)
	x := memory.View(v, "x", op.X, int64(p.minors))
	y := memory.View(v, "y", op.Y, int64(p.part.OwnEnd-p.part.OwnFirst))
	carry := rows.ViewCarry(v, p.part, op.Carry)
	if v.Err != nil {
		return v.Err
	}
	return p.multiply(p.run, op.Alpha, op.Beta, x, y, carry)
}

// productHost runs kernels.HostProduct.
func productHost[V sparse.Value](s *memory.Scratch[V], op *kernels.HostProduct[V]) error {
	p, err := usePacked[V](s.Mem, op.A)
	if err != nil {
		return err
	}
	defer p.use.Unlock()
	if op.Cols > 0 {
		return p.productMany(s, op)
	}
	to, from := p.part.OwnEnd-p.part.OwnFirst, p.minors
	if op.Minor {
		to, from = from, to
	}
	if len(op.X) != from || len(op.Y) != to || p.part.StartFlag {
		return fmt.Errorf("%w: x and y have %d and %d elements, part %+v needs %d and %d", kernels.ErrArgument, len(op.X), len(op.Y), p.part, from, to)
	}
	run := p.run
	if op.NoWorkers && !s.Mem.Pool.Placed {
		run = s.Mem.Pool.ByItself
	}
	if op.Minor {
		return p.multiplyTransposed(s, run, op.Alpha, op.Beta, op.X, op.Y)
	}
	return p.multiply(run, op.Alpha, op.Beta, op.X, op.Y, nil)
}

// run calls f(0) ... f(n-1), which together compute a product, and waits.
func (p *packed[V]) run(n int, f func(i int)) error { return p.dev.Pool.RunPart(p.part, n, f) }

// multiply computes all pieces and joins the rows that they share.
func (p *packed[V]) multiply(run workers.Runner, alpha, beta V, x, y, carry []V) error {
	err := run(len(p.pieces), func(i int) {
		q := &p.pieces[i]
		carry := q.multiply(alpha, beta, x, y[q.part.OwnFirst-p.part.OwnFirst:q.part.OwnEnd-p.part.OwnFirst])
		if q.head != nil { // the carries of all pieces are in one cache line
			p.carry[i] = carry
		}
	})
	if err != nil {
		return err
	}
	if p.part.StartFlag {
		carry[0] = 0
	}
	for i := range p.pieces {
		rows.JoinCarry(p.carry[i], &p.pieces[i].part, &p.part, y, carry)
	}
	return nil
}

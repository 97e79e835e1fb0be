package msrep

import (
	"context"
	"runtime/debug"
	"time"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/merge"
	"github.com/msrep-go/msrep/sparse"
)

// SpMV computes y = alpha*op(A)*x + beta*y. LastTiming returns the time of each phase.
//
// op(A) is m x n; x has n elements and y has m, and they must not overlap. beta = 0
// overwrites y without reading it; alpha = 0 reads neither A nor x. Bad arguments
// are *sparse.InputError and leave y unchanged; after any other error, also when ctx
// ends, y is unspecified.
func (p *Plan[V]) SpMV(ctx context.Context, op Transpose, alpha V, x []V, beta V, y []V) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer p.rescue(&err)
	if err := p.enter(ctx); err != nil {
		return err
	}
	defer p.mu.Unlock()
	defer p.span("spmv", &err)()
	if p.last, err = p.multiply(ctx, op, alpha, x, beta, y); err != nil {
		p.last = Timing{}
	}
	return err
}

// multiply is SpMV for those who hold the plan.
func (p *Plan[V]) multiply(ctx context.Context, op Transpose, alpha V, x []V, beta V, y []V) (t Timing, err error) {
	if err := p.usable(ctx); err != nil {
		return t, err
	}
	if err := p.checkVectors(op, x, y); err != nil {
		return t, err
	}
	if err := p.transposeFixed(ctx, op); err != nil {
		return t, err
	}
	if err := p.transposeLater(ctx, op); err != nil {
		return t, err
	}
	if q := p.instead(op); q != nil {
		err := q.SpMV(ctx, op, alpha, x, beta, y)
		return q.LastTiming(), err
	}
	if p.lacks(op) {
		return t, errReleased
	}
	if p.opt.Storage.Segments.Count != 0 && p.needsRows(op) {
		return t, sparse.Inputf("precision", "this plan reads %d of %d segments for products with A only: state Expected.Transposed", p.opt.Storage.Segments.Read, p.opt.Storage.Segments.Count)
	}
	if alpha == 0 {
		begin := time.Now()
		merge.Scale(y, beta)
		t.Total = time.Since(begin)
		t.Devices = make([]time.Duration, len(p.shares))
		return t, nil
	}
	if err := p.lookAgain(ctx); err != nil {
		return t, err
	}
	if err := p.waitPending(); err != nil {
		return t, err
	}
	if p.direct() {
		t, err = p.multiplyDirect(ctx, op, alpha, x, beta, y)
		p.later.busy += t.Total
		return t, err
	}
	r := p.begin(ctx)
	defer p.end()
	r.byMajor, r.alpha, r.beta, r.x, r.y = p.lay.byMajor(op), alpha, beta, x, y
	begin := time.Now()
	if err := r.serveAll(); err != nil {
		return t, p.fail(ctx, err)
	}
	served := time.Since(begin)
	if err := r.merge(); err != nil {
		return t, err
	}
	t = r.sum()
	t.Total = time.Since(begin)
	t.Merge += t.Total - served
	p.later.busy += t.Total
	return t, nil
}

func (p *Plan[V]) checkVectors(op Transpose, x, y []V) error {
	rows, cols := p.dims(op)
	if len(x) != cols {
		return sparse.Inputf("x", "%d elements: op(A) is %d x %d, so it needs %d", len(x), rows, cols, cols)
	}
	if len(y) != rows {
		return sparse.Inputf("y", "%d elements: op(A) is %d x %d, so it needs %d", len(y), rows, cols, rows)
	}
	if mem.Overlap(x, y) {
		return sparse.Inputf("y", "shares memory with x: the product would read what it has written")
	}
	return p.checkResult(y)
}

// checkResult refuses a y that would overwrite the values of the matrix.
func (p *Plan[V]) checkResult(y []V) error {
	if mem.Overlap(y, p.given) {
		return sparse.Inputf("y", "shares memory with the values of the matrix, which must not change while a plan has it")
	}
	return nil
}

// began is the run of the next product. A plan has one at a time, and keeps its memory.
func (p *Plan[V]) begin(ctx context.Context) *run[V] {
	times := p.run.times
	if times == nil {
		times = make([]Timing, len(p.shares))
	}
	clear(times)
	p.run = run[V]{plan: p, ctx: ctx, times: times}
	return &p.run
}

// end lets go of what belongs to the caller.
func (p *Plan[V]) end() {
	p.run = run[V]{times: p.run.times}
	for _, s := range p.shares {
		s.here = vectors[V]{}
	}
}

// run is one product under way.
type run[V sparse.Value] struct {
	plan        *Plan[V]
	ctx         context.Context
	byMajor     bool // results are merged by rows, not as whole vectors
	alpha, beta V
	x, y        []V
	times       []Timing // by device
	nodeCarry   []V      // at the first device of each node: its partial sum of a row that an earlier node owns
}

// serveAll does the parts of all devices.
func (r *run[V]) serveAll() error {
	p := r.plan
	switch {
	case p.amongDevices():
		return r.exchange()
	case len(p.nodes) > 0:
		r.nodeCarry = make([]V, len(p.shares))
		return r.serveNodes()
	case len(p.shares) == 1:
		return r.serve(0)
	}
	return p.each(r.serve)
}

// serve does one device's part of the product.
func (r *run[V]) serve(i int) error {
	if r.plan.shares[i].inPlace != nil {
		return r.serveInPlace(i)
	}
	return r.serveCopies(i)
}

// serveInPlace is serve where the device works on x and y themselves.
func (r *run[V]) serveInPlace(i int) error {
	s := r.plan.shares[i]
	if err := s.prepare(r.plan.lay, r.byMajor); err != nil {
		return err
	}
	v, err := r.inPlace(s)
	if err != nil {
		return err
	}
	if err := r.ctx.Err(); err != nil {
		return err
	}
	r.times[i].Kernel, err = s.kernel(r.op(s, v, s.carry))
	return err
}

// serveCopies is serve where the device has vectors of its own. All of its y comes back, behind the sum of
// a row that an earlier part owns if it has one.
func (r *run[V]) serveCopies(i int) error {
	s, t := r.plan.shares[i], &r.times[i]
	begin := time.Now()
	if err := s.prepare(r.plan.lay, r.byMajor); err != nil {
		return err
	}
	v, err := r.copies(s)
	if err != nil {
		return err
	}
	if err := v.x.Write(s.stream, r.xFor(s)); err != nil {
		return err
	}
	if err := s.stream.Sync(); err != nil {
		return err
	}
	if err := r.ctx.Err(); err != nil {
		return err
	}
	t.Distribute = time.Since(begin)
	own, carry := *v, s.carry
	if r.byMajor && s.part.StartFlag {
		own.y, carry = v.y.Sub(1, v.y.Len), v.y.Sub(0, 1)
	}
	if t.Kernel, err = s.kernel(r.op(s, &own, carry)); err != nil {
		return err
	}
	begin = time.Now()
	if err := v.y.Read(s.stream, v.host); err != nil {
		return err
	}
	err = s.stream.Sync()
	t.Merge = time.Since(begin)
	return err
}

// merge joins what the devices left.
func (r *run[V]) merge() error {
	p := r.plan
	switch {
	case p.amongDevices(): // they have merged it
		return nil
	case !r.byMajor && r.straight():
		return nil
	case r.byMajor && !r.straight():
		return merge.CopyRows(r.y, r.beta, p.parts, r.hosts())
	case len(p.nodes) > 0:
		return r.acrossNodes()
	case r.byMajor:
		return r.addCarries()
	case p.opt.Variant.Strategy == Baseline:
		return merge.SumSerial(r.y, r.beta, r.hosts())
	}
	return merge.Sum(r.y, r.beta, r.hosts())
}

// addCarries adds each device's partial sum to the row that an earlier one owns.
func (r *run[V]) addCarries() error {
	if len(r.plan.shares) == 1 {
		return nil
	}
	carry, err := r.carries(0, len(r.plan.shares))
	if err != nil {
		return err
	}
	return merge.Rows(r.y, r.plan.parts, carry)
}

// carries reads the partial sums of the devices [first, end).
func (r *run[V]) carries(first, end int) ([]V, error) {
	carry := make([]V, end-first)
	for i, s := range r.plan.shares[first:end] {
		if !s.part.StartFlag {
			continue
		}
		if err := s.carry.Read(s.stream, carry[i:i+1]); err != nil {
			return nil, err
		}
		if err := s.stream.Sync(); err != nil {
			return nil, err
		}
	}
	return carry, nil
}

// hosts is the partial results of the devices.
func (r *run[V]) hosts() [][]V {
	out := make([][]V, len(r.plan.shares))
	for i, s := range r.plan.shares {
		out[i] = s.vec[r.byMajor].host
	}
	return out
}

// sum joins the times of the devices.
func (r *run[V]) sum() (t Timing) {
	t.Devices = make([]time.Duration, 0, len(r.times))
	for _, d := range r.times {
		t.Devices = append(t.Devices, d.Kernel)
		if r.plan.opt.Variant.Strategy == Baseline {
			t.Distribute += d.Distribute
			t.Kernel += d.Kernel
			t.Merge += d.Merge
		} else {
			t.Distribute = max(t.Distribute, d.Distribute)
			t.Kernel = max(t.Kernel, d.Kernel)
			t.Merge = max(t.Merge, d.Merge)
		}
	}
	return t
}

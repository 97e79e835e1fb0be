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
// op(A) is m x n, x has n elements, y has m. x and y must not overlap. beta = 0 overwrites y without reading it;
// alpha = 0 reads neither A nor x. Bad arguments give a *sparse.InputError and leave y unchanged. After any other
// error, such as that of ctx, y is unspecified.
func (p *Plan[V]) SpMV(ctx context.Context, op Transpose, alpha V, x []V, beta V, y []V) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer p.rescue(&err)
	if err := p.lock(ctx); err != nil {
		return err
	}
	defer p.mu.Unlock()
	defer p.traceCall("spmv", &err)()
	p.last = Timing{} // also where a panic ends the product
	t, err := p.multiply(ctx, op, alpha, x, beta, y)
	if err == nil {
		p.last = t
	}
	return err
}

// multiply is SpMV for callers that hold p.mu.
func (p *Plan[V]) multiply(ctx context.Context, op Transpose, alpha V, x []V, beta V, y []V) (t Timing, err error) {
	if err := p.usable(ctx); err != nil {
		return t, err
	}
	if err := p.checkVectors(op, x, y); err != nil {
		return t, err
	}
	if err := p.transposeIfDeterministic(ctx, op); err != nil {
		return t, err
	}
	if err := p.transposeIfFrequent(ctx, op); err != nil {
		return t, err
	}
	if q := p.transposedFor(op); q != nil {
		err := q.SpMV(ctx, op, alpha, x, beta, y)
		return q.LastTiming(), err
	}
	if p.needsReleased(op) {
		return t, errReleased
	}
	if p.opt.Storage.Segments.Count != 0 && p.needsUnpacked(op) {
		return t, sparse.Inputf("precision", "this plan reads %d of %d segments only for products without transpose: set Expected.Transposed", p.opt.Storage.Segments.Read, p.opt.Storage.Segments.Count)
	}
	if alpha == 0 {
		begin := time.Now()
		merge.Scale(y, beta)
		t.Total = time.Since(begin)
		t.Devices = make([]time.Duration, len(p.shares))
		return t, nil
	}
	if err := p.retuneIfDue(ctx); err != nil {
		return t, err
	}
	if err := p.waitPending(); err != nil {
		return t, err
	}
	if p.direct() {
		t, err = p.multiplyDirect(ctx, op, alpha, x, beta, y)
		p.retuning.productTime += t.Total
		return t, err
	}
	r := p.begin(ctx)
	defer p.end()
	r.byMajor, r.alpha, r.beta, r.x, r.y = p.lay.byMajor(op), alpha, beta, x, y
	begin := time.Now()
	if err := r.multiplyParts(); err != nil {
		return t, p.fail(ctx, err)
	}
	multiplied := time.Since(begin)
	if err := r.merge(); err != nil {
		return t, err
	}
	t = r.timing()
	t.Total = time.Since(begin)
	t.Merge += t.Total - multiplied
	p.retuning.productTime += t.Total
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

// checkResult returns an error if y overlaps the values of the matrix.
func (p *Plan[V]) checkResult(y []V) error {
	if mem.Overlap(y, p.givenVal) {
		return sparse.Inputf("y", "shares memory with the values of the matrix, which must not change while the plan is open")
	}
	return nil
}

// begin returns the run of the next product. A plan has one run at a time and reuses its memory.
func (p *Plan[V]) begin(ctx context.Context) *run[V] {
	times := p.run.times
	if times == nil {
		times = make([]Timing, len(p.shares))
	}
	clear(times)
	p.run = run[V]{plan: p, ctx: ctx, times: times}
	return &p.run
}

// end drops the references to the caller's vectors.
func (p *Plan[V]) end() {
	p.run = run[V]{times: p.run.times}
	for _, s := range p.shares {
		s.current = vectors[V]{}
	}
}

// run is a product in progress.
type run[V sparse.Value] struct {
	plan        *Plan[V]
	ctx         context.Context
	byMajor     bool // a major product, whose results are merged by row; otherwise whole vectors are merged
	alpha, beta V
	x, y        []V
	times       []Timing // by device
	nodeCarry   []V      // carry of each node, at the index of its first device
}

// multiplyParts computes the partial results of all devices.
func (r *run[V]) multiplyParts() error {
	p := r.plan
	switch {
	case p.amongDevices():
		return r.exchange()
	case len(p.nodes) > 0:
		r.nodeCarry = make([]V, len(p.shares))
		return r.multiplyOnNodes()
	case len(p.shares) == 1:
		return r.multiplyPart(0)
	}
	return p.each(r.multiplyPart)
}

// multiplyPart computes the partial result of device i.
func (r *run[V]) multiplyPart(i int) error {
	if r.plan.shares[i].inPlace != nil {
		return r.multiplyPartInPlace(i)
	}
	return r.multiplyPartCopied(i)
}

// multiplyPartInPlace is multiplyPart for a device that uses host memory in place.
func (r *run[V]) multiplyPartInPlace(i int) error {
	s := r.plan.shares[i]
	if err := s.prepare(r.plan.lay, r.byMajor); err != nil {
		return err
	}
	v, err := r.inPlaceVectors(s)
	if err != nil {
		return err
	}
	if err := r.ctx.Err(); err != nil {
		return err
	}
	r.times[i].Kernel, err = s.kernel(r.operation(s, v, s.carry))
	return err
}

// multiplyPartCopied is multiplyPart for a device that has its own vectors. It copies the result of the device to the
// host. If the part begins within a row, the first element of the result is the carry.
func (r *run[V]) multiplyPartCopied(i int) error {
	s, t := r.plan.shares[i], &r.times[i]
	begin := time.Now()
	if err := s.prepare(r.plan.lay, r.byMajor); err != nil {
		return err
	}
	v, err := r.deviceVectors(s)
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
	if t.Kernel, err = s.kernel(r.operation(s, &own, carry)); err != nil {
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

// merge merges the results of the devices into y.
func (r *run[V]) merge() error {
	p := r.plan
	switch {
	case p.amongDevices(): // exchange has merged them
		return nil
	case !r.byMajor && r.writesToY():
		return nil
	case r.byMajor && !r.writesToY():
		return merge.CopyRows(r.y, r.beta, p.parts, r.hosts())
	case len(p.nodes) > 0:
		return r.mergeNodes()
	case r.byMajor:
		return r.addCarries()
	case p.opt.Variant.Strategy == Baseline:
		return merge.SumSerial(r.y, r.beta, r.hosts())
	}
	return merge.Sum(r.y, r.beta, r.hosts())
}

// addCarries adds the carry of each device to its row, which an earlier device owns.
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

// carries reads the carries of the devices [first, end).
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

// hosts returns the partial results of the devices in host memory.
func (r *run[V]) hosts() [][]V {
	out := make([][]V, len(r.plan.shares))
	for i, s := range r.plan.shares {
		out[i] = s.vec[r.byMajor].host
	}
	return out
}

// timing combines the times of the devices.
func (r *run[V]) timing() (t Timing) {
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

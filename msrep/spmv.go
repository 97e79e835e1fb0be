package msrep

import (
	"context"
	"runtime/debug"
	"sync"
	"time"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/merge"
	"github.com/msrep-go/msrep/sparse"
)

// SpMV computes y = alpha*op(A)*x + beta*y once, on all devices of the machine.
//
// op(A) is m x n, x has n elements, y has m. x and y must not overlap. beta = 0 overwrites y without reading it. SpMV
// validates a. Bad arguments give a *sparse.InputError and leave y unchanged. After any other error y is unspecified.
//
// Each call splits the matrix again: to multiply more than once, make a Plan. The first call opens the devices, and
// they stay open. If this fails, the next call tries again.
func SpMV[V sparse.Value](ctx context.Context, op Transpose, alpha V, a sparse.Matrix[V], x []V, beta V, y []V) error {
	sys, err := defaultSystem.get()
	if err != nil {
		return err
	}
	plan, err := NewPlan(ctx, sys, a, PlanOptions{Expected: Expected{Products: 1}})
	if err != nil {
		return err
	}
	defer plan.Close()
	return plan.SpMV(ctx, op, alpha, x, beta, y)
}

// defaultSystem has all devices and stays open. Its plans are not placed, because a copy of the matrix costs more
// than a single product saves.
var defaultSystem = lazySystem{open: func() (*System, error) { return Open(Config{NUMA: NUMAOff}) }}

// lazySystem is a System that the first call of get opens. If this fails, the next call tries again.
type lazySystem struct {
	open func() (*System, error)
	mu   sync.Mutex
	sys  *System
}

func (l *lazySystem) get() (*System, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var err error
	if l.sys == nil {
		l.sys, err = l.open()
	}
	return l.sys, err
}

// Operator is a matrix that multiplies vectors; how it is stored does not matter. A Plan is an Operator. Solvers accept
// any Operator.
type Operator[V sparse.Value] interface {
	// Dims returns the number of rows and columns of A.
	Dims() (rows, cols int)
	// SpMV computes y = alpha*op(A)*x + beta*y; see Plan.SpMV.
	SpMV(ctx context.Context, op Transpose, alpha V, x []V, beta V, y []V) error
}

var _ Operator[float64] = (*Plan[float64])(nil)

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
	t, err := p.multiplyGiven(ctx, op, alpha, x, beta, y)
	if err == nil {
		p.last = t
	}
	return err
}

// multiplyGiven is SpMV for callers that hold p.mu: x and y are in the order of the matrix.
func (p *Plan[V]) multiplyGiven(ctx context.Context, op Transpose, alpha V, x []V, beta V, y []V) (t Timing, err error) {
	if p.order == nil || alpha == 0 {
		return p.multiply(ctx, op, alpha, x, beta, y)
	}
	if err := p.usable(ctx); err != nil {
		return t, err
	}
	if err := p.checkVectors(op, x, y); err != nil {
		return t, err
	}
	begin := time.Now()
	in, out, err := p.order.Vectors()
	if err != nil {
		return t, err
	}
	if p.order.In(in, x); beta != 0 {
		p.order.In(out, y)
	}
	permuted := time.Since(begin)
	t, err = p.multiply(ctx, op, alpha, in, beta, out)
	if err != nil {
		return t, err
	}
	multiplied := time.Now()
	p.order.Out(y, out)
	t.Distribute += permuted
	t.Merge += time.Since(multiplied)
	t.Total += permuted + time.Since(multiplied)
	return t, nil
}

// multiply is SpMV for callers that hold p.mu. x and y are in the order of the plan.
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
	p.product = product[V]{ctx: ctx, byMajor: p.lay.ByMajor(bool(op)), fixed: p.opt.Deterministic, short: p.short, alpha: alpha, beta: beta, x: x, y: y}
	t, err = p.route.Multiply(&p.product)
	p.product.ctx, p.product.x, p.product.y = nil, nil, nil // they belong to the caller
	if err != nil {
		return Timing{}, p.fail(ctx, err)
	}
	p.retuning.productTime += t.Total
	return t, nil
}

func (p *Plan[V]) checkVectors(op Transpose, x, y []V) error {
	if err := p.checkLengths(op, len(x), len(y)); err != nil {
		return err
	}
	if mem.Overlap(x, y) {
		return sparse.Inputf("y", "shares memory with x: the product would read what it has written")
	}
	return p.checkResult(y)
}

// checkLengths returns an error if x or y has the wrong number of elements for a product with op.
func (p *Plan[V]) checkLengths(op Transpose, x, y int) error {
	rows, cols := p.dims(op)
	switch {
	case x != cols:
		return sparse.Inputf("x", "%d elements: op(A) is %d x %d, so it needs %d", x, rows, cols, cols)
	case y != rows:
		return sparse.Inputf("y", "%d elements: op(A) is %d x %d, so it needs %d", y, rows, cols, rows)
	}
	return nil
}

// checkResult returns an error if y overlaps the values of the matrix.
func (p *Plan[V]) checkResult(y []V) error {
	if mem.Overlap(y, p.givenVal) {
		return sparse.Inputf("y", "shares memory with the values of the matrix, which must not change while the plan is open")
	}
	return nil
}

package msrep

import (
	"context"
	"errors"
	"slices"

	"github.com/msrep-go/msrep/sparse"
)

// RowVector returns a vector of zeros with one element for each row of A. Its pieces are the rows of y that the devices
// compute. For a square matrix, ColumnVector has the same pieces.
func (p *Plan[V]) RowVector() (*Vector[V], error) { return p.newVector(NoTrans) }

// ColumnVector returns a vector of zeros with one element for each column of A.
func (p *Plan[V]) ColumnVector() (*Vector[V], error) {
	if p == nil {
		return nil, errNoPlan
	}
	if rows, cols := p.Dims(); rows == cols {
		return p.newVector(NoTrans)
	}
	return p.newVector(Trans)
}

// newVector returns a vector of zeros for the results of products with op.
func (p *Plan[V]) newVector(op Transpose) (v *Vector[V], err error) {
	defer rescue(&err)
	if p == nil {
		return nil, errNoPlan
	}
	p.mu.Lock()
	if err := p.usable(context.Background()); err != nil {
		p.mu.Unlock()
		return nil, err
	}
	cuts := p.cutsOf(op)
	p.mu.Unlock()
	return newVector[V](p.sys, cuts)
}

// cutsOf returns the bounds of the pieces of a result of a product with op.
func (p *Plan[V]) cutsOf(op Transpose) []int {
	switch {
	case p.lay.byMajor(op):
		return p.ownCuts()
	case p.transposed != nil:
		return p.transposed.ownCuts()
	}
	rows, _ := p.dims(op)
	return evenCuts(rows, len(p.sys.devices))
}

// ownCuts returns the bounds of the majors that the devices own: device i owns [cuts[i], cuts[i+1]).
func (p *Plan[V]) ownCuts() []int {
	cuts := []int{0}
	for _, q := range p.parts {
		cuts = append(cuts, max(q.OwnEnd, cuts[len(cuts)-1]))
	}
	return cuts
}

// Resident reports whether Apply with op keeps all vector elements in device memory and copies only between devices.
// Otherwise the devices work on host memory, as CPU devices do, or Apply copies the vectors to the host and back.
func (p *Plan[V]) Resident(op Transpose) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.resident(op)
}

func (p *Plan[V]) resident(op Transpose) bool {
	if q := p.transposedFor(op); q != nil {
		return q.Resident(op)
	}
	return p.amongDevices() && (p.lay.byMajor(op) || p.opt.Storage.Segments.Count == 0)
}

// inPlace reports whether the devices use vectors in host memory without a copy.
func (p *Plan[V]) inPlace() bool { return p.opt.Variant.Strategy == Optimized && p.sys.onHost() }

// amongDevices reports whether the devices have their own memory and merge their results without the host.
func (p *Plan[V]) amongDevices() bool { return p.opt.Variant.Strategy == Optimized && !p.sys.onHost() }

// Apply computes y = alpha*op(A)*x + beta*y for vectors that stay on the devices; see SpMV for the arguments. If
// Resident(op) is true, each device copies the elements of x that it needs from the other devices, multiplies, and adds
// the partial sums that other devices have for its rows. The devices wait for each other; the host neither waits nor
// receives elements. On CPU devices, Apply is SpMV on the host memory of the vectors. In all other cases x and y are
// copied to the host and back.
//
// x and y must belong to the System of the plan. Vectors made by RowVector and ColumnVector are used in place; a y with
// other pieces is copied.
func (p *Plan[V]) Apply(ctx context.Context, op Transpose, alpha V, x *Vector[V], beta V, y *Vector[V]) (err error) {
	defer p.rescue(&err)
	if err := p.lock(ctx); err != nil {
		return err
	}
	defer p.mu.Unlock()
	if err := p.usable(ctx); err != nil {
		return err
	}
	if err := p.checkPieces(op, x, y); err != nil {
		return err
	}
	defer p.traceCall("apply", &err)()
	if err := p.transposeIfDeterministic(ctx, op); err != nil {
		return err
	}
	switch q := p.transposedFor(op); {
	case q != nil:
		return q.Apply(ctx, op, alpha, x, beta, y)
	case p.needsReleased(op):
		return errReleased
	case alpha == 0:
		return y.Scale(beta)
	case x.host != nil:
		return y.withStreams([]*Vector[V]{x}, func(*vectorStreams) error {
			_, err := p.multiply(ctx, op, alpha, x.host, beta, y.host)
			return err
		})
	case !p.resident(op):
		return p.throughHost(ctx, op, alpha, x, beta, y)
	case p.lay.byMajor(op) && !slices.Equal(y.cuts, p.ownCuts()):
		return p.recut(ctx, op, alpha, x, beta, y)
	}
	return p.applyOn(op, alpha, x, beta, y)
}

// applyOn queues a product on the streams of the vectors.
func (p *Plan[V]) applyOn(op Transpose, alpha V, x *Vector[V], beta V, y *Vector[V]) error {
	err := y.withStreams([]*Vector[V]{x}, func(l *vectorStreams) error {
		p.pending = l
		return newExchange(l, &run[V]{plan: p, byMajor: p.lay.byMajor(op), alpha: alpha, beta: beta}, y.cuts, y.pieces).apply(x)
	})
	if err != nil && !sparse.IsInput(err) && !errors.Is(err, ErrClosed) {
		p.broken = err
	}
	return err
}

// waitPending blocks until all products queued by Apply are done, so that their buffers can be used again. It returns
// the first error of any vector operation of the System since the last wait. The plan remains usable after this
// error: the next product does not depend on the results of a queued one.
func (p *Plan[V]) waitPending() error {
	if p.pending == nil {
		return nil
	}
	l := p.pending
	p.pending = nil
	return l.waitIdle()
}

// checkPieces returns an error if x and y do not suit a product with op.
func (p *Plan[V]) checkPieces(op Transpose, x, y *Vector[V]) error {
	rows, cols := p.dims(op)
	switch {
	case x == nil:
		return sparse.Inputf("x", "is nil")
	case y == nil:
		return sparse.Inputf("y", "is nil")
	case x.sys != p.sys || y.sys != p.sys:
		return sparse.Inputf("vector", "belongs to another system than the plan")
	case x == y:
		return sparse.Inputf("y", "is x: the product would read what it has written")
	case x.Len() != cols:
		return sparse.Inputf("x", "%d elements: op(A) is %d x %d, so it needs %d", x.Len(), rows, cols, cols)
	case y.Len() != rows:
		return sparse.Inputf("y", "%d elements: op(A) is %d x %d, so it needs %d", y.Len(), rows, cols, rows)
	}
	return nil
}

// throughHost computes a product of host copies of x and y and writes the result back to y.
func (p *Plan[V]) throughHost(ctx context.Context, op Transpose, alpha V, x *Vector[V], beta V, y *Vector[V]) error {
	in, err := hostVector[V](x.Len())
	if err != nil {
		return err
	}
	out, err := hostVector[V](y.Len())
	if err != nil {
		return err
	}
	if err := x.Read(in); err != nil {
		return err
	}
	if beta != 0 {
		if err := y.Read(out); err != nil {
			return err
		}
	}
	if _, err := p.multiply(ctx, op, alpha, in, beta, out); err != nil {
		return err
	}
	return y.Write(out)
}

// recut computes a product into a vector with the pieces of the plan and copies that to y, which has other pieces.
func (p *Plan[V]) recut(ctx context.Context, op Transpose, alpha V, x *Vector[V], beta V, y *Vector[V]) (err error) {
	t, err := newVector[V](p.sys, p.ownCuts())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	if beta != 0 {
		if err := t.Copy(y); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := p.applyOn(op, alpha, x, beta, t); err != nil {
		return err
	}
	return y.Copy(t)
}

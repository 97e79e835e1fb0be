package msrep

import (
	"context"
	"errors"
	"slices"

	"github.com/msrep-go/msrep/sparse"
)

// RowVector makes a vector of zeros with one element for each row of A, cut as the
// products of the plan leave their results. A square matrix has ColumnVector cut in
// the same way.
func (p *Plan[V]) RowVector() (*Vector[V], error) { return p.newVector(NoTrans) }

// ColumnVector makes a vector of zeros with one element for each column of A.
func (p *Plan[V]) ColumnVector() (*Vector[V], error) {
	if p == nil {
		return nil, errNoPlan
	}
	if rows, cols := p.Dims(); rows == cols {
		return p.newVector(NoTrans)
	}
	return p.newVector(Trans)
}

// newVector makes a vector for the results of products with op.
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

// cutsOf is how results of products with op are cut.
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

// ownCuts is the majors that each device owns.
func (p *Plan[V]) ownCuts() []int {
	cuts := []int{0}
	for _, q := range p.parts {
		cuts = append(cuts, max(q.OwnEnd, cuts[len(cuts)-1]))
	}
	return cuts
}

// Resident reports whether Apply with op leaves Vectors on devices that have memory of
// their own, and copies between devices only. Otherwise it works on host memory, as with
// CPU devices, or goes through it.
func (p *Plan[V]) Resident(op Transpose) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.resident(op)
}

func (p *Plan[V]) resident(op Transpose) bool {
	if q := p.instead(op); q != nil {
		return q.Resident(op)
	}
	return p.amongDevices() && (p.lay.byMajor(op) || p.opt.Storage.Segments.Count == 0)
}

// inPlace reports whether the devices work on vectors in host memory where these are.
func (p *Plan[V]) inPlace() bool { return p.opt.Variant.Strategy == Optimized && p.sys.onHost() }

// amongDevices reports whether the devices, which have memory of their own, join the
// results among themselves.
func (p *Plan[V]) amongDevices() bool { return p.opt.Variant.Strategy == Optimized && !p.sys.onHost() }

// Apply computes y = alpha*op(A)*x + beta*y for vectors that stay with the devices;
// see SpMV. Where Resident holds, each device copies what it needs of x from the
// other devices, multiplies, and copies what the others have summed for its rows. The
// devices wait for each other; the host does not wait, and no element comes to it. On
// CPU devices Apply is SpMV on the host memory of the vectors. In all other cases x and
// y go through the host.
//
// x and y belong to the System of the plan. Vectors of RowVector and ColumnVector are
// read and written in place; y of other pieces is copied.
func (p *Plan[V]) Apply(ctx context.Context, op Transpose, alpha V, x *Vector[V], beta V, y *Vector[V]) (err error) {
	defer p.rescue(&err)
	if err := p.enter(ctx); err != nil {
		return err
	}
	defer p.mu.Unlock()
	if err := p.usable(ctx); err != nil {
		return err
	}
	if err := p.checkPieces(op, x, y); err != nil {
		return err
	}
	defer p.span("apply", &err)()
	if err := p.transposeFixed(ctx, op); err != nil {
		return err
	}
	switch q := p.instead(op); {
	case q != nil:
		return q.Apply(ctx, op, alpha, x, beta, y)
	case p.lacks(op):
		return errReleased
	case alpha == 0:
		return y.Scale(beta)
	case x.host != nil:
		return y.do([]*Vector[V]{x}, func(*vectorStreams) error {
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

// applyOn puts a product on the streams of the vectors.
func (p *Plan[V]) applyOn(op Transpose, alpha V, x *Vector[V], beta V, y *Vector[V]) error {
	err := y.do([]*Vector[V]{x}, func(l *vectorStreams) error {
		p.pending = l
		return newExchange(l, &run[V]{plan: p, byMajor: p.lay.byMajor(op), alpha: alpha, beta: beta}, y.cuts, y.pieces).apply(x)
	})
	if err != nil && !sparse.IsInput(err) && !errors.Is(err, ErrClosed) {
		p.broken = err
	}
	return err
}

// waitPending waits for products of vectors that are under way, before something else uses
// what they use. Its error is the first of any operation on vectors since somebody
// waited, of this plan or not, and does not make the plan unusable: such a product
// leaves nothing that the next one needs.
func (p *Plan[V]) waitPending() error {
	if p.pending == nil {
		return nil
	}
	l := p.pending
	p.pending = nil
	return l.waitIdle()
}

// checkPieces says what is wrong with the vectors of a product.
func (p *Plan[V]) checkPieces(op Transpose, x, y *Vector[V]) error {
	rows, cols := p.dims(op)
	switch {
	case x == nil:
		return sparse.Inputf("x", "is nil")
	case y == nil:
		return sparse.Inputf("y", "is nil")
	case x.sys != p.sys || y.sys != p.sys:
		return sparse.Inputf("vector", "of another system than the plan")
	case x == y:
		return sparse.Inputf("y", "is x: the product would read what it has written")
	case x.Len() != cols:
		return sparse.Inputf("x", "%d elements: op(A) is %d x %d, so it needs %d", x.Len(), rows, cols, cols)
	case y.Len() != rows:
		return sparse.Inputf("y", "%d elements: op(A) is %d x %d, so it needs %d", y.Len(), rows, cols, rows)
	}
	return nil
}

// throughHost makes a product that the devices do not make among themselves.
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

// recut makes a product whose result is cut in another way than y.
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

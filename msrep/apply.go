package msrep

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/msrep-go/msrep/internal/devvec"
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/rescue"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/msrep/internal/halo"
	"github.com/msrep-go/msrep/msrep/internal/layout"
	"github.com/msrep-go/msrep/sparse"
)

// NewVector returns a Vector of n zeros in equal pieces. Products of a plan are fastest with vectors made by the plan
// (RowVector, ColumnVector).
func NewVector[V sparse.Value](sys *System, n int) (v *Vector[V], err error) {
	defer rescue.To(&err)
	if sys == nil {
		return nil, sparse.Inputf("system", "is nil")
	}
	if n < 0 || n > sparse.MaxDim {
		return nil, sparse.Inputf("vector", "%d elements: use 0 to %d", n, sparse.MaxDim)
	}
	d := sys.devices()
	return devvec.New[V](d, devvec.EvenCuts(n, max(len(d.List), 1)))
}

// VectorAt returns a Vector of n elements that the caller has in the memory of a GPU, the only device of sys: element i is
// address + i*size bytes. The address is one of the primary context, as those of the CUDA runtime, CuPy and torch are.
// VectorAt waits for all work that was queued on the GPU. The caller keeps the memory alive and may use it again after Wait;
// Close does not free it.
func VectorAt[V sparse.Value](sys *System, address uint64, n int) (v *Vector[V], err error) {
	defer rescue.To(&err)
	if sys == nil {
		return nil, sparse.Inputf("system", "is nil")
	}
	size := uint64(mem.Size[V]())
	list := sys.devices().List
	switch {
	case n < 0 || n > sparse.MaxDim:
		return nil, sparse.Inputf("vector", "%d elements: use 0 to %d", n, sparse.MaxDim)
	case address%size != 0:
		return nil, sparse.Inputf("vector", "begins at an address that is no multiple of %d", size)
	case len(list) != 1:
		return nil, sparse.Inputf("vector", "in the memory of a GPU: the system has %d devices, it must have this GPU only", len(list))
	}
	device, ok := list[0].(kernels.MemoryAdopter)
	if !ok {
		return nil, sparse.Inputf("vector", "in the memory of a GPU: the system has device %s", list[0].Info().ID)
	}
	buf, err := device.AdoptMemory(address, int64(n)*int64(size))
	if errors.Is(err, kernels.ErrArgument) || errors.Is(err, kernels.ErrNotSupported) {
		return nil, &sparse.InputError{Subject: "vector", Err: err}
	}
	if err != nil {
		return nil, err
	}
	return devvec.Adopt(sys, 0, kernels.Array[V]{Buf: buf, Len: int64(n)})
}

// RowVector returns a vector of zeros with one element for each row of A. Its pieces are the rows of y that the devices
// compute. For a square matrix, ColumnVector has the same pieces.
//
// On devices with their own memory, products store elements of other devices beside the piece of x. The vector has room for
// them, unless all vectors of the System would then have more than an eighth of a device's memory as room: products then copy
// the piece too.
func (p *Plan[V]) RowVector() (*Vector[V], error) { return p.newVector(NoTrans) }

// ColumnVector returns a vector of zeros with one element for each column of A.
func (p *Plan[V]) ColumnVector() (*Vector[V], error) { return p.newVector(Trans) }

// newVector returns a vector of zeros for the results of products with op, or NoTrans if the matrix is square.
func (p *Plan[V]) newVector(op Transpose) (v *Vector[V], err error) {
	defer rescue.To(&err)
	if p == nil {
		return nil, errNoPlan
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.usable(context.Background()); err != nil {
		return nil, err
	}
	if rows, cols := p.Dims(); rows == cols {
		op = NoTrans
	}
	cuts := p.cutsOf(op)
	rooms, err := p.rooms(cuts, op)
	if err != nil {
		return nil, err
	}
	return devvec.NewWithRoom[V](p.sys.devices(), cuts, rooms)
}

// rooms returns how much room around the pieces of a vector the products need in which it is x: those with the transpose of
// op, or any if the matrix is square. It returns nil if the devices do not exchange elements.
func (p *Plan[V]) rooms(cuts []int, op Transpose) (rooms []devvec.Room, err error) {
	if _, ok := p.route.(*resident[V]); !ok || len(p.shares) == 1 {
		return nil, nil
	}
	rooms = make([]devvec.Room, len(p.shares))
	rows, cols := p.Dims()
	for _, product := range []Transpose{NoTrans, Trans} {
		if product == op && rows != cols {
			continue
		}
		q := cmp.Or(p.transposedFor(product), p)
		byMajor := q.lay.ByMajor(bool(product))
		for i, s := range q.shares {
			if byMajor && product == Trans && s.halo == nil {
				continue // such products are not expected
			}
			m, err := q.haloOf(i, byMajor)
			if err != nil {
				return nil, err
			}
			if slices.Equal(m.Cuts, cuts) {
				r := roomFor(m)
				rooms[i] = devvec.Room{Before: max(rooms[i].Before, r.Before), After: max(rooms[i].After, r.After)}
			}
		}
	}
	return rooms, nil
}

// haloOf returns the elements of x that the part of device i needs for major or minor products.
func (p *Plan[V]) haloOf(i int, byMajor bool) (*halo.Map, error) {
	s, n := p.shares[i], p.lay.Majors
	if byMajor {
		n = p.lay.Minors
	}
	cuts, lo, hi := []int{0, n}, s.part.First(), s.part.End()
	switch {
	case len(p.shares) == 1 && byMajor && p.lay.Minor == nil: // released
		lo, hi = 0, n
	case len(p.shares) == 1 && byMajor:
		lo, hi = layout.IndexRange(p.lay.Minor[s.part.StartIdx : s.part.EndIdx+1])
	case byMajor:
		err := s.findHalo(&p.lay)
		return s.halo, err
	case len(p.shares) > 1:
		cuts = p.xCuts(false)
	}
	return halo.Range(lo, hi, cuts, i), nil
}

// roomFor returns the local elements before and after the own piece.
func roomFor(m *halo.Map) devvec.Room {
	own := int64(m.Cuts[m.Owner+1] - m.Cuts[m.Owner])
	return devvec.Room{Before: m.Before, After: m.N - m.Before - own}
}

// haloCuts returns the pieces of the vectors x of major products if devices exchange elements of x, otherwise nil.
func (p *Plan[V]) haloCuts() []int {
	if p.transfer() != localByDevice || len(p.parts) == 1 {
		return nil
	}
	return p.xCuts(true)
}

// xCuts returns the pieces of the vectors x of major or minor products, as RowVector and ColumnVector make them.
func (p *Plan[V]) xCuts(byMajor bool) []int {
	if p.opt.xCuts != nil {
		return p.opt.xCuts
	}
	rows, cols := p.Dims()
	if rows == cols || p.lay.ByMajor(bool(NoTrans)) != byMajor { // x has an element for each row
		return p.cutsOf(NoTrans)
	}
	return p.cutsOf(Trans)
}

// cutsOf returns the bounds of the pieces of a result of a product with op.
func (p *Plan[V]) cutsOf(op Transpose) []int {
	switch {
	case p.lay.ByMajor(bool(op)):
		return p.ownCuts()
	case p.transposed != nil:
		return p.transposed.ownCuts()
	}
	rows, _ := p.dims(op)
	return devvec.EvenCuts(rows, len(p.sys.devices().List))
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
	_, ok := p.route.(*resident[V])
	return ok && (p.lay.ByMajor(bool(op)) || p.opt.Storage.Segments.Count == 0)
}

// Apply computes y = alpha*op(A)*x + beta*y for vectors that stay on the devices; see SpMV for the arguments. If
// Resident(op) is true, each device gets the elements of x that it needs from the other devices, multiplies, and adds
// the partial sums that other devices have for its rows. Kernels read the memory of other devices where they can; otherwise
// devices copy. The devices wait for each other; the host neither waits nor
// receives elements. On CPU devices, Apply is SpMV on the host memory of the vectors. In all other cases x and y are
// copied to the host and back.
//
// If the plan is reordered (Reordering is not nil), x and y are in its order; Permute and PermuteBack lead there and back.
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
	case x.Host() != nil:
		return devvec.Queued(y, []*Vector[V]{x}, func(*devvec.Queue) error {
			_, err := p.multiply(ctx, op, alpha, x.Host(), beta, y.Host())
			return err
		})
	case !p.resident(op):
		return p.throughHost(ctx, op, alpha, x, beta, y)
	case p.lay.ByMajor(bool(op)) && !slices.Equal(devvec.Cuts(y), p.ownCuts()):
		return p.recut(ctx, op, alpha, x, beta, y)
	}
	return p.applyOn(ctx, op, alpha, x, beta, y)
}

// applyOn queues a product on the streams of the vectors.
func (p *Plan[V]) applyOn(ctx context.Context, op Transpose, alpha V, x *Vector[V], beta V, y *Vector[V]) error {
	q := &product[V]{ctx: ctx, byMajor: p.lay.ByMajor(bool(op)), fixed: p.opt.Deterministic, short: p.short, alpha: alpha, beta: beta}
	err := devvec.Queued(y, []*Vector[V]{x}, func(queue *devvec.Queue) error { return p.route.(*resident[V]).apply(q, queue, x, y) })
	if err != nil && !sparse.IsInput(err) && !errors.Is(err, ErrClosed) {
		p.broken = err
	}
	return err
}

// waitPending waits for products that Apply has queued; see resident.wait.
func (p *Plan[V]) waitPending() error {
	if r, ok := p.route.(*resident[V]); ok {
		return r.wait()
	}
	return nil
}

// checkPieces returns an error if x and y do not suit a product with op.
func (p *Plan[V]) checkPieces(op Transpose, x, y *Vector[V]) error {
	switch {
	case x == nil:
		return sparse.Inputf("x", "is nil")
	case y == nil:
		return sparse.Inputf("y", "is nil")
	case !devvec.BelongsTo(x, p.sys.devices()) || !devvec.BelongsTo(y, p.sys.devices()):
		return sparse.Inputf("vector", "belongs to another system than the plan")
	case x == y:
		return sparse.Inputf("y", "is x: the product would read what it has written")
	}
	return p.checkLengths(op, x.Len(), y.Len())
}

// throughHost computes a product of host copies of x and y and writes the result back to y.
func (p *Plan[V]) throughHost(ctx context.Context, op Transpose, alpha V, x *Vector[V], beta V, y *Vector[V]) error {
	var in, out []V
	return inOrder(
		func() (err error) { in, err = devvec.OnHost[V](x.Len()); return err },
		func() (err error) { out, err = devvec.OnHost[V](y.Len()); return err },
		func() error { return x.Read(in) },
		func() error {
			if beta == 0 {
				return nil
			}
			return y.Read(out)
		},
		func() error { _, err := p.multiply(ctx, op, alpha, in, beta, out); return err },
		func() error { return y.Write(out) },
	)
}

// recut computes a product into a vector with the pieces of the plan and copies that to y, which has other pieces.
func (p *Plan[V]) recut(ctx context.Context, op Transpose, alpha V, x *Vector[V], beta V, y *Vector[V]) (err error) {
	t, err := devvec.New[V](p.sys.devices(), p.ownCuts())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	return inOrder(
		func() error {
			if beta == 0 {
				return nil
			}
			return t.Copy(y)
		},
		ctx.Err,
		func() error { return p.applyOn(ctx, op, alpha, x, beta, t) },
		func() error { return y.Copy(t) },
	)
}

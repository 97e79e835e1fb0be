package msrep

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
)

// RowVector makes a vector of zeros with one element for each row of A, cut as the
// products of the plan leave their results. A square matrix has ColumnVector cut in
// the same way.
func (p *Plan[V]) RowVector() (*Vector[V], error) { return p.newVector(NoTrans) }

// ColumnVector makes a vector of zeros with one element for each column of A.
func (p *Plan[V]) ColumnVector() (*Vector[V], error) {
	if rows, cols := p.Dims(); rows == cols {
		return p.newVector(NoTrans)
	}
	return p.newVector(Trans)
}

// newVector makes a vector for the results of products with op.
func (p *Plan[V]) newVector(op Op) (v *Vector[V], err error) {
	defer rescue(&err)
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
func (p *Plan[V]) cutsOf(op Op) []int {
	rows, cols := p.Dims()
	if op == Trans {
		rows = cols
	}
	switch {
	case p.lay.gathers(op):
		return p.ownCuts()
	case p.other != nil:
		return p.other.ownCuts()
	}
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

// Resident reports whether products of Vectors with op leave them on devices that
// have memory of their own: Apply then copies between devices only. Those of other
// devices work on host memory in any case, or go through it.
func (p *Plan[V]) Resident(op Op) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.resident(op)
}

func (p *Plan[V]) resident(op Op) bool {
	if p.other != nil && !p.lay.gathers(op) {
		return p.other.Resident(op)
	}
	return p.opt.Strategy == Optimized && p.lay.gathers(op) && !slices.ContainsFunc(p.shares, func(s *share[V]) bool {
		return s == nil || s.inPlace != nil
	})
}

// Apply computes y = alpha*op(A)*x + beta*y for vectors that stay with the devices;
// see SpMV. Where Resident holds, each device gathers what it needs of x from the
// others, and does not wait for the product; no element crosses to the host. On CPU
// devices it is SpMV on the host memory of the vectors. In all other cases x and y go
// through the host.
//
// x and y belong to the System of the plan. Vectors of RowVector and ColumnVector are
// read and written in place; y of other pieces is copied.
func (p *Plan[V]) Apply(ctx context.Context, op Op, alpha V, x *Vector[V], beta V, y *Vector[V]) (err error) {
	defer rescue(&err)
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.usable(ctx); err != nil {
		return err
	}
	if err := p.checkPieces(op, x, y); err != nil {
		return err
	}
	defer p.sys.span("apply", &err)()
	if p.opt.Deterministic && p.other == nil && p.src != nil && !p.lay.gathers(op) {
		if err := p.turned(ctx); err != nil {
			return err
		}
	}
	switch {
	case p.other != nil && !p.lay.gathers(op):
		return p.other.Apply(ctx, op, alpha, x, beta, y)
	case p.src == nil && !p.lay.gathers(op):
		return errReleased
	case alpha == 0:
		return y.Scale(beta)
	case x.host != nil:
		return y.do([]*Vector[V]{x}, func(*lanes) error {
			_, err := p.multiply(ctx, op, alpha, x.host, beta, y.host)
			return err
		})
	case !p.resident(op):
		return p.throughHost(ctx, op, alpha, x, beta, y)
	case !slices.Equal(y.cuts, p.ownCuts()):
		return p.recut(ctx, alpha, x, beta, y)
	}
	err = y.do([]*Vector[V]{x}, func(l *lanes) error { return p.gatherOn(l, alpha, x, beta, y) })
	if err != nil && !sparse.IsInput(err) {
		p.broken = err
	}
	return err
}

// checkPieces says what is wrong with the vectors of a product.
func (p *Plan[V]) checkPieces(op Op, x, y *Vector[V]) error {
	rows, cols := p.Dims()
	if op == Trans {
		rows, cols = cols, rows
	}
	switch {
	case x == nil || y == nil:
		return sparse.Inputf("vector", "is nil")
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
func (p *Plan[V]) throughHost(ctx context.Context, op Op, alpha V, x *Vector[V], beta V, y *Vector[V]) error {
	in, out := make([]V, x.Len()), make([]V, y.Len())
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
func (p *Plan[V]) recut(ctx context.Context, alpha V, x *Vector[V], beta V, y *Vector[V]) (err error) {
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
	if err := y.do([]*Vector[V]{x, t}, func(l *lanes) error { return p.gatherOn(l, alpha, x, beta, t) }); err != nil {
		return err
	}
	return y.Copy(t)
}

// gatherOn puts a product on the streams of the vectors.
func (p *Plan[V]) gatherOn(l *lanes, alpha V, x *Vector[V], beta V, y *Vector[V]) error {
	several := len(l.devices) > 1
	err := p.each(func(i int) error {
		if err := p.shares[i].ready(p.lay); err != nil || !several {
			return err
		}
		return p.shares[i].makeRoom(p.lay, x.Len())
	})
	if err != nil {
		return err
	}
	if several { // devices read each other's pieces: done writing before, done reading after
		err = l.sync()
		if err == nil {
			err = l.each(func(i int) error {
				s := p.shares[i]
				return copyRange(l.streams[i], s.whole.Sub(int64(s.needs.lo), s.whole.Len), s.needs.lo, s.needs.hi, x)
			})
		}
		if err = errors.Join(err, l.sync()); err != nil {
			return err
		}
	}
	r := &run[V]{plan: p, gathers: true, alpha: alpha, beta: beta}
	err = l.each(func(i int) error {
		s := p.shares[i]
		in := x.pieces[i]
		if several {
			in = s.whole
		}
		return l.streams[i].Launch(r.op(s, &vectors[V]{x: in, y: y.pieces[i]}, s.carry))
	})
	if err != nil {
		return err
	}
	return p.joinOn(l, y)
}

// gathered is what a device keeps for products of vectors that stay on devices.
type gathered[V sparse.Value] struct {
	whole kernels.Array[V] // x, as far as the part needs it; nothing on a single device
	needs struct{ lo, hi int }
	joins *joins[V] // what other devices carry to rows of this one; nil before it is asked for
}

// joins is partial sums of rows that a device owns and others have computed.
type joins[V sparse.Value] struct {
	from []int // devices
	row  kernels.Array[int32]
	val  kernels.Array[V]
}

// ready brings the part to the device where it is not packed.
func (s *share[V]) ready(l layout[V]) error {
	if s.packed != nil {
		return nil
	}
	if err := s.place(l); err != nil {
		return err
	}
	return s.placePointers(l)
}

// makeRoom makes room for x, of n elements, and finds what the part needs of it.
func (s *share[V]) makeRoom(l layout[V], n int) (err error) {
	if s.whole.Buf != nil {
		return nil
	}
	s.needs.lo, s.needs.hi = 0, n
	if l.minor != nil {
		s.needs.lo, s.needs.hi = span(l.minor[s.part.StartIdx : s.part.EndIdx+1])
	}
	s.whole, err = kernels.NewArray[V](s.dev, int64(n))
	return err
}

// span is the least range that holds all indices.
func span(idx []int32) (lo, hi int) {
	var mu sync.Mutex
	first := true
	par.Range(int64(len(idx)), 1<<16, func(a, b int64) {
		if a == b {
			return
		}
		least, most := slices.Min(idx[a:b]), slices.Max(idx[a:b])
		mu.Lock()
		defer mu.Unlock()
		if first {
			lo, hi, first = int(least), int(most)+1, false
		}
		lo, hi = min(lo, int(least)), max(hi, int(most)+1)
	})
	return lo, hi
}

// joinOn adds the partial sums that devices carry to the rows of earlier ones.
func (p *Plan[V]) joinOn(l *lanes, y *Vector[V]) error {
	if !slices.ContainsFunc(p.shares, func(s *share[V]) bool { return s.part.StartFlag }) {
		return nil
	}
	if err := l.sync(); err != nil {
		return err
	}
	return l.each(func(i int) error {
		s := p.shares[i]
		if s.joins == nil {
			if err := p.findJoins(i); err != nil {
				return err
			}
		}
		j := s.joins
		for k, from := range j.from {
			c := p.shares[from].carry
			if err := l.streams[i].Copy(j.val.Buf, j.val.Off+int64(k)*mem.Size[V](), c.Buf, c.Off, mem.Size[V]()); err != nil {
				return err
			}
		}
		if len(j.from) == 0 {
			return nil
		}
		return errors.Join(l.streams[i].Launch(&kernels.AddCarries[V]{Row: j.row, Val: j.val, Y: y.pieces[i]}), l.streams[i].Sync())
	})
}

// findJoins finds the parts whose first rows device i owns.
func (p *Plan[V]) findJoins(i int) error {
	s := p.shares[i]
	j := &joins[V]{}
	var row []int32
	for k, q := range p.parts {
		if q.StartFlag && q.StartMajor >= s.part.OwnFirst && q.StartMajor < s.part.OwnEnd {
			j.from, row = append(j.from, k), append(row, int32(q.StartMajor-s.part.OwnFirst))
		}
	}
	s.joins = j
	if len(row) == 0 {
		return nil
	}
	var err error
	if j.row, err = kernels.NewArray[int32](s.dev, int64(len(row))); err != nil {
		return err
	}
	if j.val, err = kernels.NewArray[V](s.dev, int64(len(row))); err != nil {
		return err
	}
	return errors.Join(j.row.Write(s.stream, row), s.stream.Sync())
}

// buffers is the memory that it holds.
func (g *gathered[V]) buffers() []kernels.Buffer {
	out := []kernels.Buffer{g.whole.Buf}
	if g.joins != nil {
		out = append(out, g.joins.row.Buf, g.joins.val.Buf)
	}
	return out
}

func (g *gathered[V]) close() error {
	err := g.whole.Free()
	if g.joins != nil {
		err = errors.Join(err, g.joins.row.Free(), g.joins.val.Free())
	}
	return err
}

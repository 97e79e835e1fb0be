package triangular

import (
	"context"
	"errors"
	"slices"

	"github.com/msrep-go/msrep/internal/devvec"
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
)

// solve is a solve in progress. x has, for each device, its rows of one or several right-hand sides, which the solution
// replaces.
type solve[V sparse.Value] struct {
	*Plan[V]
	ctx     context.Context
	streams *devvec.Streams
	alpha   V
	b       kernels.MultiVector[V] // right-hand sides of a plan with one device, if they are not in x; otherwise empty
	x       []kernels.MultiVector[V]
	ended   []chan bool // by device: receives once it has queued the solve of its rows, whether that failed or not
}

// Host solves T*x = alpha*b for vectors in host memory, on devices that use it. b may be x.
func (p *Plan[V]) Host(ctx context.Context, alpha V, b, x []V) error {
	if len(p.blocks) == 1 && p.on.Traced == nil {
		if t, ok := p.blocks[0].triangle.(kernels.HostTriangle[V]); ok {
			return t.SolveHost(alpha, b, x)
		}
	}
	s := &solve[V]{Plan: p, ctx: ctx, streams: p.host, alpha: alpha, x: make([]kernels.MultiVector[V], len(p.blocks))}
	if len(p.blocks) == 1 {
		s.b = adopt(p.on.List[0], b, 1)
	} else if p.n > 0 && &b[0] != &x[0] {
		copy(x, b)
	}
	for i := range s.x {
		s.x[i] = adopt(p.on.List[i], x[p.cuts[i]:p.cuts[i+1]], 1)
	}
	return s.run()
}

// HostMany is Host for several vectors stored row by row without gaps. They are solved in place.
func (p *Plan[V]) HostMany(ctx context.Context, alpha V, x []V, count int) error {
	s := &solve[V]{Plan: p, ctx: ctx, streams: p.host, alpha: alpha, x: make([]kernels.MultiVector[V], len(p.blocks))}
	for i := range s.x {
		s.x[i] = adopt(p.on.List[i], x[p.cuts[i]*count:p.cuts[i+1]*count], count)
	}
	return s.run()
}

// adopt returns rows of count elements as memory of a device that uses host memory.
func adopt[V sparse.Value](d kernels.Device, x []V, count int) kernels.MultiVector[V] {
	return kernels.MultiVector[V]{Val: kernels.AdoptArray(d.(kernels.HostMapper), x), Cols: count, Stride: count}
}

// Queue queues a solve in place of a vector with the pieces of the plan, or of count vectors that are stored in it row by
// row, on devices with their own memory. The host does not wait.
func (p *Plan[V]) Queue(ctx context.Context, alpha V, x *devvec.Vector[V], count int) error {
	return devvec.Queued(x, nil, func(q *devvec.Queue) error {
		p.pending = q
		s := &solve[V]{Plan: p, ctx: ctx, streams: &q.Streams, alpha: alpha, x: make([]kernels.MultiVector[V], len(p.blocks))}
		for i, piece := range devvec.Pieces(x) {
			s.x[i] = kernels.MultiVector[V]{Val: piece, Cols: count, Stride: count}
		}
		if err := s.run(); err != nil {
			return err
		}
		if len(p.blocks) == 1 {
			return nil
		}
		// A device must not write its rows again before others have copied them.
		return q.Barrier(func(i, j int) bool { return p.reads(j, i) })
	})
}

// Wait waits for all solves that Queue has queued, and returns the first error of the vector operations of the System since
// the last wait.
func (p *Plan[V]) Wait() error {
	if p == nil || p.pending == nil {
		return nil
	}
	q := p.pending
	p.pending = nil
	return q.WaitIdle()
}

// reads reports whether device i needs rows of device j.
func (p *Plan[V]) reads(i, j int) bool {
	for _, r := range p.blocks[i].left {
		if r.from == j {
			return true
		}
	}
	return false
}

// run queues the work of all devices; on devices that use host memory it has then been done.
func (s *solve[V]) run() error {
	if len(s.blocks) == 1 {
		return s.device(0)
	}
	s.ended = make([]chan bool, len(s.blocks))
	for i := range s.ended {
		s.ended[i] = make(chan bool, len(s.blocks)) // one for each device that may ask
	}
	errs := make([]error, len(s.blocks))
	par.Do(len(s.blocks), func(i int) {
		failed := true
		defer func() { // after a panic, too
			for range s.blocks {
				s.ended[i] <- failed
			}
		}()
		errs[i] = s.device(i)
		failed = errs[i] != nil
	})
	errs = slices.DeleteFunc(errs, func(err error) bool { return err == errOther })
	return devvec.JoinErrors(errs)
}

// errOther is the error of a device that needs rows of one that failed.
var errOther = errors.New("another device failed")

// device solves the rows of a device.
func (s *solve[V]) device(i int) error {
	b := &s.blocks[i]
	if b.rows == 0 {
		return nil
	}
	stream, x, alpha := s.streams.On[i], s.x[i], s.alpha
	for k := range b.left {
		r := &b.left[k]
		if <-s.ended[r.from] {
			return errOther
		}
		from, err := s.fetch(stream, i, r)
		if err != nil {
			return err
		}
		if err := stream.Launch(r.product(from, alpha, x)); err != nil {
			return err
		}
		alpha = 1
	}
	if err := s.ctx.Err(); err != nil {
		return err
	}
	right := x
	if s.b.Cols > 0 {
		right = s.b
	}
	if err := stream.Launch(&kernels.TriangularSolve[V]{A: b.triangle, Alpha: alpha, B: right, X: x}); err != nil || b.solved == nil {
		return err
	}
	return stream.Record(b.solved)
}

// fetch returns the rows of the device of a rectangle, in memory that device i can read.
func (s *solve[V]) fetch(stream kernels.Stream, i int, r *rectangle[V]) (kernels.MultiVector[V], error) {
	x := s.x[r.from]
	solved := s.blocks[r.from].solved
	if solved == nil {
		return x, nil
	}
	if r.x.Len < x.Val.Len {
		if err := stream.Sync(); err != nil { // an earlier product may still read the buffer
			return x, err
		}
		if err := r.x.Free(); err != nil {
			return x, err
		}
		var err error
		if r.x, err = kernels.NewArray[V](s.on.List[i], x.Val.Len); err != nil {
			r.x = kernels.Array[V]{}
			return x, err
		}
	}
	to := r.x.Sub(0, x.Val.Len)
	if err := stream.Wait(solved); err != nil {
		return x, err
	}
	bytes := x.Val.Len * mem.Size[V]()
	err := stream.Copy(to.Buf, to.Off, x.Val.Buf, x.Val.Off, bytes)
	return kernels.MultiVector[V]{Val: to, Cols: x.Cols, Stride: x.Stride}, err
}

// product returns y = beta*y - A*x.
func (r *rectangle[V]) product(x kernels.MultiVector[V], beta V, y kernels.MultiVector[V]) kernels.Operation {
	if x.Cols == 1 {
		return &kernels.MajorProduct[V]{A: r.a, Alpha: -1, Beta: beta, X: x.Val, Y: y.Val}
	}
	return &kernels.MajorProductMany[V]{A: r.a, Alpha: -1, Beta: beta, X: x, Y: y}
}

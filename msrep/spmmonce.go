package msrep

import (
	"context"
	"time"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/msrep/internal/layout"
	"github.com/msrep-go/msrep/sparse"
)

// multiplyAtOnce multiplies all vectors at once. It transposes vectors by column to vectors by row first.
func (p *Plan[V]) multiplyAtOnce(ctx context.Context, op Transpose, alpha V, x MultiVector[V], beta V, y MultiVector[V], t *Timing) error {
	m, n := p.dims(op)
	to := y
	if x.ByColumn || y.ByColumn { // small products by row save the time of reading the clock
		begin := time.Since(clockStart)
		var err error
		if x, err = p.toRows(&p.rowBuffers.x, x, n, true); err != nil {
			return err
		}
		if to, err = p.toRows(&p.rowBuffers.y, y, m, beta != 0); err != nil {
			return err
		}
		t.Distribute = time.Since(clockStart) - begin
	}
	t.Devices = make([]time.Duration, len(p.shares))
	p.many = manyProduct[V]{ctx: ctx, byMajor: p.lay.ByMajor(bool(op)), alpha: alpha, beta: beta, x: x, y: to}
	defer func() { p.many = manyProduct[V]{} }() // the vectors belong to the caller
	carries, err := p.route.(manyRoute[V]).MultiplyMany(&p.many, t.Devices)
	if err != nil {
		return err
	}
	for _, d := range t.Devices {
		t.Kernel = max(t.Kernel, d)
	}
	if len(carries) == 0 && !y.ByColumn {
		return nil
	}
	begin := time.Since(clockStart)
	for i, c := range carries {
		row := p.parts[i].StartMajor * to.Stride
		for j, v := range c {
			to.Val[row+j] += v
		}
	}
	if y.ByColumn {
		err = p.transposeVectors(y, to, m, true)
	}
	t.Merge = time.Since(clockStart) - begin
	return err
}

// toRows returns b by row: b itself, or else *r with a copy of its n rows if copied is set.
func (p *Plan[V]) toRows(r **mem.Region, b MultiVector[V], n int, copied bool) (MultiVector[V], error) {
	if !b.ByColumn {
		return b, nil
	}
	rows, err := p.rowBuffers.buffer(r, n, b.Count)
	if err == nil && copied {
		err = p.transposeVectors(b, rows, n, false)
	}
	return rows, err
}

// manyRoute is a route whose devices can multiply several vectors at once.
type manyRoute[V sparse.Value] interface {
	// MultiplyMany multiplies on all devices. It returns the carries of the devices and sets their kernel times.
	MultiplyMany(q *manyProduct[V], took []time.Duration) (carries [][]V, err error)
}

// manyProduct is a product of vectors by row in progress.
type manyProduct[V sparse.Value] struct {
	ctx         context.Context
	byMajor     bool
	alpha, beta V
	x, y        MultiVector[V]
}

func (r *shared[V]) MultiplyMany(q *manyProduct[V], took []time.Duration) (carries [][]V, err error) {
	carries = make([][]V, len(r.p.shares))
	return carries, r.p.each(func(i int) (err error) {
		if err := q.ctx.Err(); err != nil {
			return err
		}
		s := r.p.shares[i]
		if !q.byMajor || !s.multipliesMany() {
			if err := s.place(&r.p.lay, true); err != nil {
				return err
			}
		}
		if q.byMajor && s.part.StartFlag {
			carries[i] = make([]V, q.y.Count)
		}
		took[i], err = s.kernel(s.manyOperation(q, &r.p.lay, carries[i]), 1)
		return err
	})
}

// manyOperation returns the product of the part with several vectors. carry has one element for each vector; it is nil
// if the part owns its first row. In a minor product the part is the whole matrix.
func (s *share[V]) manyOperation(q *manyProduct[V], l *layout.Matrix[V], carry []V) kernels.Operation {
	d, p := s.host, s.part
	if !q.byMajor {
		return &kernels.MinorProductMany[V]{A: s.compressed(false), Alpha: q.alpha, Beta: q.beta, X: q.x.rows(d, p.First(), p.End()), Y: q.y.rows(d, 0, l.Minors)}
	}
	x, y, carries := q.x.rows(d, 0, l.Minors), q.y.rows(d, p.OwnFirst, p.OwnEnd), kernels.AdoptArray(d, carry)
	if s.multipliesMany() {
		return &kernels.MajorProductManyPacked[V]{A: s.packed, Alpha: q.alpha, Beta: q.beta, X: x, Y: y, Carry: carries}
	}
	return &kernels.MajorProductMany[V]{A: s.compressed(true), Alpha: q.alpha, Beta: q.beta, X: x, Y: y, Carry: carries}
}

package cpu

import (
	"fmt"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/form"
	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/sparse"
)

var _ kernels.ManyMultiplier = (*packed[float64])(nil)

// MultipliesMany implements kernels.ManyMultiplier.
func (p *packed[V]) MultipliesMany() bool {
	p.use.Lock()
	defer p.use.Unlock()
	for i := range p.pieces {
		if p.pieces[i].many() == nil {
			return false
		}
	}
	return !p.freed.Load()
}

// built lets go of the rows that the forms were built from, unless they stay in place:
// then they are kept for products that multiply by rows faster.
func (p *piece[V]) built(inPlace bool) {
	p.fixed = p.rows.body.Fixed
	if inPlace && !p.fixed {
		p.inPlace = form.NewCSR(p.rows.body).(form.Many[V])
	}
	p.rows = pieceRows[V]{}
}

// many is what multiplies the body by several vectors: its form, or its rows where
// they are at hand and do that faster; nil where nothing does, or not with sums of a
// fixed shape.
func (p *piece[V]) many() form.Many[V] {
	if p.fixed {
		return nil
	}
	m, ok := p.body.(form.Many[V])
	if p.inPlace != nil && (!ok || m.PrefersRows()) {
		return p.inPlace
	}
	return m
}

// gatherManyPacked runs kernels.GatherManyPacked.
func gatherManyPacked[V sparse.Value](d *Device, op *kernels.GatherManyPacked[V]) (err error) {
	p, err := usePacked[V](d, op.A)
	if err != nil {
		return err
	}
	defer p.use.Unlock()
	v := newViews(d)
	defer v.close(&err)
	x, y, carry := viewBlocks(v, p.part, p.minors, op.X, op.Y, op.Carry)
	if v.err != nil {
		return v.err
	}
	for i := range p.pieces {
		if p.pieces[i].many() == nil {
			return fmt.Errorf("%w: several vectors at once in the form %s", kernels.ErrNotSupported, p.info.Form)
		}
	}
	carries := make([][]V, len(p.pieces))
	err = d.pool.run(len(p.pieces), func(i int) {
		q := &p.pieces[i]
		carries[i] = q.multiplyMany(op.Alpha, op.Beta, x, y.From(q.part.OwnFirst-p.part.OwnFirst))
	})
	if err != nil {
		return err
	}
	clear(carry)
	for i := range p.pieces {
		joinCarries(carries[i], p.pieces[i].part, p.part, y, carry)
	}
	return nil
}

// multiplyMany is multiply for several vectors. The carries are nil where the piece
// has none.
func (p *piece[V]) multiplyMany(alpha, beta V, x, y simd.Block[V]) (carries []V) {
	end := func(f form.Form[V], beta V, y simd.Block[V]) {
		f.(form.Many[V]).MultiplyMany(alpha, beta, x, y) // plain rows
	}
	if p.head != nil {
		carries = make([]V, y.Cols)
		end(p.head, 0, simd.Block[V]{Val: carries, Cols: y.Cols, Stride: y.Cols})
	}
	p.many().MultiplyMany(alpha, beta, x, y)
	if p.tail != nil {
		end(p.tail, beta, y.From(p.n))
	}
	return carries
}

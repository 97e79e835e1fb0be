package cpu

import (
	"fmt"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/kernels/cpu/internal/memory"
	"github.com/msrep-go/msrep/kernels/cpu/internal/scatter"
	"github.com/msrep-go/msrep/kernels/cpu/internal/workers"
	"github.com/msrep-go/msrep/sparse"
)

var _ kernels.TransposedMultiplier = (*packed[float64])(nil)

// MultipliesTransposed implements kernels.TransposedMultiplier.
func (p *packed[V]) MultipliesTransposed() bool {
	p.use.Lock()
	defer p.use.Unlock()
	return !p.freed.Load() && p.transposes()
}

// transposes reports whether the forms multiply their transposes, and faster than the rows in CSR if these stay in
// place.
func (p *packed[V]) transposes() bool {
	if p.fixed {
		return false
	}
	_, slow := p.pieces[0].body.(form.SlowTransposed)
	return p.rows == nil || !slow
}

// minorProductPacked runs kernels.MinorProductPacked.
func minorProductPacked[V sparse.Value](s *memory.Scratch[V], op *kernels.MinorProductPacked[V]) (err error) {
	p, err := usePacked[V](s.Mem, op.A)
	if err != nil {
		return err
	}
	defer p.use.Unlock()
	v := memory.NewViews(s.Mem)
	defer v.Close(&err)
	x := memory.View(v, "x", op.X, int64(p.part.Majors()))
	y := memory.View(v, "y", op.Y, int64(p.minors))
	if v.Err != nil {
		return v.Err
	}
	if !p.transposes() {
		return fmt.Errorf("%w: transposed products in the form %s", kernels.ErrNotSupported, p.choice.Info.Form)
	}
	return p.multiplyTransposed(s, p.run, op.Alpha, op.Beta, x, y)
}

// multiplyTransposed computes y = alpha*A'*x + beta*y by the forms of all pieces, or by their rows in CSR.
func (p *packed[V]) multiplyTransposed(s *memory.Scratch[V], run workers.Runner, alpha, beta V, x, y []V) error {
	add := func(i int, to *scatter.Target[V]) { p.pieces[i].multiplyTransposed(alpha, x, to.Stretch) }
	switch {
	case p.transposes():
	case p.rows == nil:
		return fmt.Errorf("%w: transposed products in the form %s", kernels.ErrNotSupported, p.choice.Info.Form)
	default:
		add = func(i int, to *scatter.Target[V]) { p.rows.MinorRows(p.pieces[i].part, alpha, x, to) }
	}
	return scatter.Run(s, run, p.stretches, beta, y, add)
}

// multiplyTransposed adds the products of all entries of the piece. x has one element for each row of the packed
// part.
func (p *piece[V]) multiplyTransposed(alpha V, x []V, to func(lo, hi int) []V) {
	add := func(f form.Form[V], row, rows int) {
		f.MultiplyTransposed(alpha, x[row:row+rows], to)
	}
	if p.head != nil {
		add(p.head, p.part.StartMajor, 1)
	}
	add(p.body, p.part.OwnFirst, p.n)
	if p.tail != nil {
		add(p.tail, p.part.OwnFirst+p.n, 1)
	}
}

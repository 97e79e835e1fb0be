package cpu

import (
	"fmt"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/kernels/cpu/internal/memory"
	"github.com/msrep-go/msrep/kernels/cpu/internal/rows"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

var _ kernels.ManyMultiplier = (*packed[float64])(nil)

// MultipliesMany implements kernels.ManyMultiplier.
func (p *packed[V]) MultipliesMany() bool {
	p.use.Lock()
	defer p.use.Unlock()
	return !p.freed.Load() && p.multipliesMany()
}

// Workers implements kernels.ManyMultiplier.
func (p *packed[V]) Workers() int {
	p.use.Lock()
	defer p.use.Unlock()
	return len(p.pieces)
}

// multipliesMany reports whether the part multiplies several vectors at once. Some forms do not, and sums of a fixed
// shape do not.
func (p *packed[V]) multipliesMany() bool {
	if p.rows != nil || p.fixed {
		return p.rows != nil
	}
	for i := range p.pieces {
		if _, ok := p.pieces[i].body.(form.Many[V]); !ok {
			return false
		}
	}
	return true
}

// keepRows keeps the rows, which stay in place, if they multiply several vectors faster than the form of a piece
// does. The rows hold plain values, so a part in segments keeps none.
func (p *packed[V]) keepRows(op *kernels.Packing[V]) {
	if !op.InPlace || op.Fixed || op.Segments.Count != 0 {
		return
	}
	for i := range p.pieces {
		from := 1
		if m, ok := p.pieces[i].body.(form.Many[V]); ok {
			from = m.RowsFrom()
		}
		if from > 0 && (p.rowsFrom == 0 || from < p.rowsFrom) {
			p.rowsFrom = from
		}
	}
	if p.rowsFrom > 0 {
		p.rows = rows.NewMany(rows.NewCompressed(p.part, op.Ptr, op.Idx, op.Val), p.parts(), op.Minors)
		p.startTrial(op)
	}
}

// parts returns the part of each worker.
func (p *packed[V]) parts() []partition.Part {
	out := make([]partition.Part, len(p.pieces))
	for i := range p.pieces {
		out[i] = p.pieces[i].part
	}
	return out
}

// majorProductManyPacked runs kernels.MajorProductManyPacked.
func majorProductManyPacked[V sparse.Value](s *memory.Scratch[V], op *kernels.MajorProductManyPacked[V]) (err error) {
	p, err := usePacked[V](s.Mem, op.A)
	if err != nil {
		return err
	}
	defer p.use.Unlock()
	v := memory.NewViews(s.Mem)
	defer v.Close(&err)
	x, y, carry := rows.ViewBlocks(v, p.part, p.minors, op.X, op.Y, op.Carry)
	if v.Err != nil {
		return v.Err
	}
	return p.multiplyMany(s, op.Alpha, op.Beta, x, y, carry)
}

// productMany runs kernels.HostProduct for several vectors.
func (p *packed[V]) productMany(s *memory.Scratch[V], op *kernels.HostProduct[V]) error {
	x, y := form.MultiVector[V]{Val: op.X, Cols: op.Cols, Stride: op.StrideX}, form.MultiVector[V]{Val: op.Y, Cols: op.Cols, Stride: op.StrideY}
	rows := p.part.OwnEnd - p.part.OwnFirst
	if min(x.Stride, y.Stride) < op.Cols || x.Rows() < p.minors || y.Rows() < rows || p.part.StartFlag || op.Minor {
		return fmt.Errorf("%w: %d vectors of %d and %d rows at strides of %d and %d, part %+v needs %d and %d and does not scatter",
			kernels.ErrArgument, op.Cols, x.Rows(), y.Rows(), x.Stride, y.Stride, p.part, p.minors, rows)
	}
	return p.multiplyMany(s, op.Alpha, op.Beta, x.First(p.minors), y.First(rows), nil)
}

// multiplyMany is multiply for several vectors. It uses the forms or the rows, whichever is faster.
func (p *packed[V]) multiplyMany(s *memory.Scratch[V], alpha, beta V, x, y form.MultiVector[V], carry []V) (err error) {
	if !p.multipliesMany() {
		return fmt.Errorf("%w: several vectors at once in the form %s", kernels.ErrNotSupported, p.choice.Info.Form)
	}
	if x.Cols == 1 && x.Stride == 1 && y.Stride == 1 {
		return p.multiply(p.run, alpha, beta, x.Val[:p.minors], y.Val, carry)
	}
	if rows, err := p.takesRows(x.First(p.minors), y); err != nil {
		return err
	} else if rows {
		return p.multiplyRows(alpha, beta, x.First(p.minors), y, carry)
	}
	carries := make([][]V, len(p.pieces))
	err = s.Mem.Pool.Run(len(p.pieces), func(i int) {
		q := &p.pieces[i]
		carries[i] = q.multiplyMany(alpha, beta, x, y.From(q.part.OwnFirst-p.part.OwnFirst))
	})
	if err != nil {
		return err
	}
	clear(carry)
	for i := range p.pieces {
		rows.JoinCarries(carries[i], p.pieces[i].part, p.part, y, carry)
	}
	return nil
}

// takesRows reports whether the rows multiply x, and not the forms. The product is written to y.
func (p *packed[V]) takesRows(x, y form.MultiVector[V]) (bool, error) {
	if p.rows == nil || each(p.pieces, func(f form.Suited[V]) bool { return f.Suits(x, y) }) {
		return false, nil
	}
	if x.Cols >= p.rowsFrom {
		return true, nil
	}
	return p.gainsByOrder(x)
}

// each reports whether the forms of all pieces have type F and fulfil a condition.
func each[F any, V sparse.Value](pieces []piece[V], is func(f F) bool) bool {
	for i := range pieces {
		if f, ok := pieces[i].body.(F); !ok || !is(f) {
			return false
		}
	}
	return true
}

// multiplyMany is multiply for several vectors. The carries are nil if the piece has none.
func (p *piece[V]) multiplyMany(alpha, beta V, x, y form.MultiVector[V]) (carries []V) {
	many := func(f form.Form[V], beta V, y form.MultiVector[V]) {
		f.(form.Many[V]).MultiplyMany(alpha, beta, x, y)
	}
	if p.head != nil {
		carries = make([]V, y.Cols)
		many(p.head, 0, form.MultiVector[V]{Val: carries, Cols: y.Cols, Stride: y.Cols})
	}
	many(p.body, beta, y)
	if p.tail != nil {
		many(p.tail, beta, y.From(p.n))
	}
	return carries
}

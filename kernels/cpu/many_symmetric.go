package cpu

import (
	"errors"
	"fmt"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
)

// symmetricAtOnce is the number of registers of columns that are multiplied at once. The spill vectors have as many
// columns.
const symmetricAtOnce = 4

// multiplyMany is multiply for several vectors. It multiplies the columns that fill registers, or half of one, at
// once, and the others one after the other, which is faster than a masked register. Memory for spill and for copied
// vectors comes from the scratch of the device.
func (s *symmetric[V]) multiplyMany(d *Device, kept *scratch[V], alpha, beta V, x, y form.MultiVector[V]) error {
	kept.mu.Lock()
	defer kept.mu.Unlock()
	atOnce := 0
	if alpha-alpha == 0 {
		atOnce = form.SymmetricColumns[V](y.Cols)
	}
	if atOnce > 0 {
		err := s.multiplyTogether(d, kept, alpha, beta, x.Columns(0, atOnce), y.Columns(0, atOnce))
		if errors.Is(err, kernels.ErrOutOfMemory) { // y is unchanged
			atOnce = 0
		} else if err != nil {
			return err
		}
	}
	if atOnce == y.Cols {
		return nil
	}
	return s.multiplyEach(d, kept, alpha, beta, x.Columns(atOnce, y.Cols-atOnce), y.Columns(atOnce, y.Cols-atOnce))
}

// multiplyEach multiplies one vector after the other.
func (s *symmetric[V]) multiplyEach(d *Device, kept *scratch[V], alpha, beta V, x, y form.MultiVector[V]) error {
	n, workers := s.border[len(s.border)-1], len(s.pieces)
	room, err := s.room(d, kept, 2, n)
	if err != nil {
		return err
	}
	in, out := form.MultiVector[V]{Val: room[0], Cols: 1, Stride: 1}, form.MultiVector[V]{Val: room[1], Cols: 1, Stride: 1}
	stretches := func(do func(lo, n int)) error {
		return d.pool.run(workers, func(i int) {
			lo := int(par.Cut(int64(n), workers, i))
			do(lo, int(par.Cut(int64(n), workers, i+1))-lo)
		})
	}
	for j := 0; j < x.Cols && err == nil; j++ {
		xj, yj := x.Columns(j, 1), y.Columns(j, 1)
		err = stretches(func(lo, n int) {
			copyRows(in.From(lo), xj.From(lo), n)
			if beta != 0 {
				copyRows(out.From(lo), yj.From(lo), n)
			}
		})
		if err == nil {
			err = s.multiply(d.pool.run, alpha, beta, in.Val, out.Val)
		}
		if err == nil {
			err = stretches(func(lo, n int) { copyRows(yj.From(lo), out.From(lo), n) })
		}
	}
	clear(in.Val)
	clear(out.Val)
	return err
}

// room returns n vectors of m elements, which are zero.
func (s *symmetric[V]) room(d *Device, kept *scratch[V], n, m int) ([][]V, error) {
	need := int64(n)*int64(m)*mem.Size[V]() - kept.held.Load()
	if _, ok := mem.Fits(2 * need); !ok {
		return nil, fmt.Errorf("%w: %d bytes for products with several vectors", kernels.ErrOutOfMemory, need)
	}
	return kept.vectors(d, n, m)
}

// multiplyTogether multiplies all vectors at once, or as many at a time as symmetricAtOnce registers hold.
func (s *symmetric[V]) multiplyTogether(d *Device, kept *scratch[V], alpha, beta V, x, y form.MultiVector[V]) error {
	width, most := min(symmetricAtOnce*form.VectorsAtOnce[V](), x.Cols), 0
	for i := range s.pieces {
		most = max(most, len(s.pieces[i].spill))
	}
	room, err := s.room(d, kept, len(s.pieces), most*width)
	if err != nil {
		return err
	}
	spill := make([]form.MultiVector[V], len(s.pieces))
	for c := 0; c < y.Cols; c += width {
		n := min(width, y.Cols-c)
		for i := range spill {
			spill[i] = form.MultiVector[V]{Val: room[i][:len(s.pieces[i].spill)*n], Cols: n, Stride: n}
		}
		if err := s.multiplyColumns(d, alpha, beta, x.Columns(c, n), y.Columns(c, n), spill); err != nil {
			return err
		}
	}
	return nil
}

// multiplyColumns is multiplyFinite for as many vectors as spill has columns.
func (s *symmetric[V]) multiplyColumns(d *Device, alpha, beta V, x, y form.MultiVector[V], spill []form.MultiVector[V]) error {
	err := d.pool.run(len(s.pieces), func(i int) {
		q := &s.pieces[i]
		q.rows.MultiplyMany(alpha, beta, x, y.From(q.first), func(lo, hi int) form.MultiVector[V] {
			if lo >= q.first {
				return y.From(lo)
			}
			return spill[i].From(lo - q.low)
		})
	})
	if err == nil && len(s.pieces) > 1 {
		err = d.pool.run(len(s.pieces), func(i int) { s.joinColumns(y, s.border[i], s.border[i+1], spill) })
	}
	if err != nil {
		for _, b := range spill {
			clear(b.Val)
		}
	}
	return err
}

// joinColumns adds the spilled sums of rows lo <= i < hi to y.
func (s *symmetric[V]) joinColumns(y form.MultiVector[V], lo, hi int, spill []form.MultiVector[V]) {
	for i := range s.pieces {
		q := &s.pieces[i]
		for r := max(lo, q.low); r < min(hi, q.low+len(q.spill)); r++ {
			from, to := spill[i].From(r - q.low).Val[:y.Cols], y.From(r).Val
			for j, v := range from {
				to[j] += v
			}
			clear(from)
		}
	}
}

package diagonals

import (
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

// AddSymmetricMany adds products of several vectors with rows of a symmetric matrix. d has the
// entries on the diagonal and before it, as in MultiplySymmetric. For each row r < rows and each
// column j of x,
//
//	y[first+r][j] += alpha * sum over the entries of row r of value*x[column][j]
//	y[column][j] += alpha * value*x[first+r][j]  for the entries before the diagonal
//
// The number of columns of x must be one that SymmetricColumns returns. to returns the rows lo <= i
// < hi of y, with as many columns; they are valid until the next call of to. alpha must be finite.
// The slices must have the Lanes of the level, unless it is Generic. Columns of the matrix are not
// checked.
func AddSymmetricMany[V sparse.Value](l simd.Level, d *Diagonals[V], alpha V, x form.MultiVector[V], first, rows int, to func(lo, hi int) form.MultiVector[V]) {
	lanes := d.Values.Lanes
	row, column, mask := 0, 0, 0
	for _, run := range d.Runs {
		n := min(run.Slices*lanes, rows-row)
		if run.Width > 0 {
			lo := max(0, min(first+row, first+row+int(d.Offsets[run.Pattern])))
			s := symmetricRun[V]{d: d, run: run, row: first + row, rows: n, column: column, mask: mask}
			s.add(l, alpha, x, to(lo, first+row+n), lo)
		}
		row += n
		column += run.Slices * run.Width
		if run.Masked {
			mask += run.Slices * run.Width
		}
	}
}

// symmetricRun is slices with the same offsets. row is their first row of the matrix; column and
// mask are the first column of values and the first mask.
type symmetricRun[V sparse.Value] struct {
	d                       *Diagonals[V]
	run                     DiagonalRun
	row, rows, column, mask int
}

// offsets returns the offsets, and the number of those before the diagonal.
func (s *symmetricRun[V]) offsets() (offsets []int64, before int) {
	offsets = s.d.Offsets[s.run.Pattern : s.run.Pattern+s.run.Width]
	if before = len(offsets); offsets[before-1] == 0 {
		before--
	}
	return offsets, before
}

// add is AddSymmetricMany for the run. y begins with row low.
func (s *symmetricRun[V]) add(l simd.Level, alpha V, x, y form.MultiVector[V], low int) {
	if !form.FastSymmetricMany(l) {
		s.generic(alpha, x, y, low)
		return
	}
	for c, n := 0, 0; c < x.Cols; c += n {
		n = form.SymmetricPanel(l, x, c)
		s.assembly(alpha, x.Columns(c, n), y.Columns(c, n), low)
	}
}

// generic is add in plain Go.
func (s *symmetricRun[V]) generic(alpha V, x, y form.MultiVector[V], low int) {
	offsets, before := s.offsets()
	lanes := s.d.Values.Lanes
	for i := range s.rows {
		own, sums := x.From(s.row + i).Val[:x.Cols], y.From(s.row + i - low).Val[:x.Cols]
		for j, o := range offsets {
			at := i/lanes*len(offsets) + j
			if s.run.Masked && s.d.Masks[s.mask+at]>>(i%lanes)&1 == 0 {
				continue
			}
			v, other := s.d.Values.At((s.column+at)*lanes+i%lanes), s.row+i+int(o)
			for c, xc := range x.From(other).Val[:x.Cols] {
				sums[c] += alpha * (v * xc)
			}
			if j < before {
				to := y.From(other - low).Val
				for c, xc := range own {
					to[c] += alpha * (v * xc)
				}
			}
		}
	}
}

// manySymmetricTable has kernels of runs of diagonals, by Level-AVX2 of the registers that the
// columns fill.
type manySymmetricTable[V sparse.Value] [2]func(lanes, rows, width, before int, masks *uint16, val *V, offsets *int64, x *V, ldx int, y *V, ldy int, alpha V)

// assembly is add for symmetricPanel columns.
func (s *symmetricRun[V]) assembly(alpha V, x, y form.MultiVector[V], low int) {
	offsets, before := s.offsets()
	lanes := s.d.Values.Lanes
	kernel := simd.ForType[*manySymmetricTable[V]](manySymmetricTables)[form.Filled[V](x.Cols)]
	kernel(lanes, s.rows, len(offsets), before, s.d.masks(s.run, s.mask), &s.d.Values.Full[s.column*lanes], &offsets[0],
		&x.From(s.row).Val[0], x.RowBytes(), &y.From(s.row - low).Val[0], y.RowBytes(), alpha)
}

// manySymmetricTables has no kernels on processors without assembly.
var manySymmetricTables simd.Kernels

package simd

import "github.com/msrep-go/msrep/sparse"

// FastSymmetricMany reports whether AddSymmetricMany and MultiplySymmetricBlocksMany have kernels
// at this level. At other levels they run in plain Go.
func FastSymmetricMany(l Level) bool { return l >= AVX2 }

// SymmetricColumns returns how many of cols columns AddSymmetricMany and
// MultiplySymmetricBlocksMany multiply: as many as fill AVX2 registers.
func SymmetricColumns[V sparse.Value](cols int) int {
	half := VectorsAtOnce[V]() / 2
	return cols / half * half
}

// symmetricPanel returns how many columns, from column c on, a kernel multiplies.
func symmetricPanel[V sparse.Value](l Level, b MultiVector[V], c int) int {
	if all := VectorsAtOnce[V](); l >= AVX512 && b.Cols-c >= all {
		return all
	}
	return VectorsAtOnce[V]() / 2
}

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
func AddSymmetricMany[V sparse.Value](l Level, d *Diagonals[V], alpha V, x MultiVector[V], first, rows int, to func(lo, hi int) MultiVector[V]) {
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
func (s *symmetricRun[V]) add(l Level, alpha V, x, y MultiVector[V], low int) {
	if !FastSymmetricMany(l) {
		s.generic(alpha, x, y, low)
		return
	}
	for c, n := 0, 0; c < x.Cols; c += n {
		n = symmetricPanel(l, x, c)
		s.assembly(alpha, x.Columns(c, n), y.Columns(c, n), low)
	}
}

// generic is add in plain Go.
func (s *symmetricRun[V]) generic(alpha V, x, y MultiVector[V], low int) {
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

// MultiplySymmetricBlocksMany is MultiplySymmetricBlocks for the columns of x and y. Their number
// must be one that SymmetricColumns returns.
func MultiplySymmetricBlocksMany[V sparse.Value](l Level, b *SymmetricBlocks[V], slice, column, n int, alpha V, x, y MultiVector[V], first int) {
	if n == 0 {
		return
	}
	if !FastSymmetricMany(l) {
		b.genericMany(slice, column, n, alpha, x, y, first)
		return
	}
	for c, w := 0, 0; c < x.Cols; c += w {
		w = symmetricPanel(l, x, c)
		b.assemblyMany(slice, column, n, alpha, x.Columns(c, w), y.Columns(c, w), first)
	}
}

// genericMany is MultiplySymmetricBlocksMany in plain Go.
func (b *SymmetricBlocks[V]) genericMany(slice, column, n int, alpha V, x, y MultiVector[V], first int) {
	in, out := make([]V, x.Rows()), make([]V, y.Rows())
	for j := range x.Cols {
		for i := range in {
			in[i] = x.Val[i*x.Stride+j]
		}
		clear(out)
		MultiplySymmetricBlocks(Generic, b, slice, column, n, alpha, in, out, first)
		for i, v := range out {
			y.Val[i*y.Stride+j] += v
		}
	}
}

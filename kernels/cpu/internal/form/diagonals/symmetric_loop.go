package diagonals

import (
	"unsafe"

	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/sparse"
)

// FastSymmetric reports whether MultiplySymmetric reads entries once at this level. At other levels
// it reads each slice twice in succession, which is no faster than storing all entries.
func FastSymmetric(l simd.Level) bool { return l >= simd.AVX2 }

// MultiplySymmetric multiplies rows of a symmetric matrix. d has the entries on the diagonal and
// before it. Row r of d is row first+r of the matrix; offsets are relative to the diagonal of the
// matrix, so none is greater than 0.
//
//	y[r] = alpha * (sum over the entries of row r of value*x[column]) + beta*y[r]
//	z[column] += alpha * value*x[first+r]  for the entries before the diagonal
//
// alpha must be finite: with another alpha, the two sums of a row may be infinities of opposite
// signs. beta = 0 does not read y. to returns a slice for the elements lo <= i < hi of z, which is
// valid until the next call of to. It may overlap y, which begins with element first of z. first is
// a multiple of Lanes. Values are stored as Full. carries is scratch: a register for each column of
// the widest run. The slices must have the Lanes of the level, unless it is Generic. Columns are
// not checked.
func MultiplySymmetric[V sparse.Value](l simd.Level, d *Diagonals[V], alpha, beta V, x, y []V, first int, to func(lo, hi int) []V, carries []V) {
	if beta == 0 {
		beta = 0 // not -0: the kernels test its bits
	}
	s := symmetricSlices[V]{l, d, alpha, beta, x, to, carries}
	lanes := d.Values.Lanes
	row, column, mask := 0, 0, 0
	for i := 0; i < len(d.Runs); {
		n, slices := s.sameOffsets(d.Runs[i:], first+row, len(y)-row)
		if n > 0 {
			s.multiplyFused(d.Runs[i:i+n], first+row, column, mask, y[row:row+slices*lanes])
		} else {
			n = 1
			s.multiplyTwice(d.Runs[i], first+row, column, mask, y[row:])
		}
		for _, run := range d.Runs[i : i+n] {
			row += run.Slices * lanes
			column += run.Slices * run.Width
			if run.Masked {
				mask += run.Slices * run.Width
			}
		}
		i += n
	}
}

// symmetricSlices has the arguments of a product.
type symmetricSlices[V sparse.Value] struct {
	level       simd.Level
	d           *Diagonals[V]
	alpha, beta V
	x           []V
	to          func(lo, hi int) []V
	carries     []V
}

// sameOffsets returns the number of first runs with the same offsets that one kernel call can
// multiply, and the number of their slices. It returns 0 if columns, or the rows before a slice,
// may be outside the matrix. left is the number of rows from row on.
func (s *symmetricSlices[V]) sameOffsets(runs []DiagonalRun, row, left int) (n, slices int) {
	first, lanes := runs[0], s.d.Values.Lanes
	if !FastSymmetric(s.level) || first.Width == 0 || row+min(int(s.d.Offsets[first.Pattern]), -lanes) < 0 {
		return 0, 0
	}
	for _, run := range runs {
		if run.Pattern != first.Pattern || run.Width != first.Width || (slices+run.Slices)*lanes > left {
			break
		}
		n++
		slices += run.Slices
	}
	return n, slices
}

// before returns the part of a run before the diagonal.
func (s *symmetricSlices[V]) before(run DiagonalRun) DiagonalRun {
	if n := run.Width; n > 0 && s.d.Offsets[run.Pattern+n-1] == 0 {
		run.Width--
	}
	return run
}

// multiplyTwice multiplies each slice of a run, then its transpose. y begins with the first row of
// the run; the last slice may have fewer rows than lanes.
func (s *symmetricSlices[V]) multiplyTwice(run DiagonalRun, row, column, mask int, y []V) {
	d, lanes := s.d, s.d.Values.Lanes
	slices := run.Slices
	run.Slices = 1
	d.one[0] = run
	before := s.before(run)
	for range slices {
		own := y[:min(lanes, len(y))]
		in := s.x[row : row+len(own)]
		at := diagonalPlace{row: row, column: column, mask: mask}
		if len(own) == lanes {
			d.runs(s.level, d.one[:], s.alpha, s.beta, s.x, at, own)
		} else {
			clear(d.Last[copy(d.Last, own):])
			d.runs(s.level, d.one[:], s.alpha, s.beta, s.x, at, d.Last)
			copy(own, d.Last)
			clear(d.Last[copy(d.Last, in):])
			in = d.Last
		}
		if before.Width > 0 {
			d.one[0] = before
			lo, hi := d.columns(d.one[:], row, len(s.x))
			at.row = row - lo
			d.addRuns(s.level, d.one[:], s.alpha, in, at, s.to(lo, hi))
			d.one[0] = run
		}
		y, row, column = y[len(own):], row+lanes, column+run.Width
		if run.Masked {
			mask += run.Width
		}
	}
}

// multiplyFused multiplies slices with the same offsets and their transposes with one kernel call.
// y has their rows.
func (s *symmetricSlices[V]) multiplyFused(runs []DiagonalRun, row, column, mask int, y []V) {
	d, lanes := s.d, s.d.Values.Lanes
	before := s.before(runs[0])
	offsets := d.Offsets[before.Pattern : before.Pattern+before.Width]
	far, lo := 0, row
	for far < len(offsets) && offsets[far] <= -int64(lanes) {
		far++
	}
	if len(offsets) > 0 {
		lo += min(int(offsets[0]), -lanes)
	}
	to, behind := s.to(lo, row+len(y)), row+len(y)-lo
	carries := s.carries[:before.Width*lanes]
	clear(carries)
	kernel := simd.ForType[*symmetricTable[V]](symmetricTables)[s.level-simd.AVX2]
	kernel(&runs[0].Slices, len(runs), &d.Offsets[before.Pattern], far, before.Width, runs[0].Width-before.Width, unsafe.SliceData(d.Masks[mask:]),
		&d.Values.Full[column*lanes], unsafe.SliceData(s.x[row:]), unsafe.SliceData(y), unsafe.SliceData(to[row-lo:]), s.alpha, s.beta, unsafe.SliceData(carries))
	for i := range carries {
		carries[i] *= s.alpha
	}
	for j, o := range offsets[far:] {
		z, products := to[behind-lanes:behind+int(o)], carries[(far+j)*lanes-int(o):]
		for k := range z {
			z[k] += products[k]
		}
	}
	before.Width = far
	d.addCarries(before, carries[:far*lanes], behind, to)
}

// symmetricTable has kernels by Level-AVX2. far offsets of the runs are so far from the diagonal
// that their columns are before the slice; before offsets are before the diagonal, and diagonal
// offsets, 0 or 1, are on it. x, own and y begin with the first row; y has elements before it.
type symmetricTable[V sparse.Value] [2]func(runs *int, count int, offsets *int64, far, before, diagonal int, masks *uint16, val, x, own, y *V, alpha, beta V, carries *V)

// neighbours is the number of adjacent diagonals that the assembly sums in registers.
const neighbours = 3

// addCarries adds the carries of a run to y: for each diagonal with i adjacent diagonals before it,
// the last i products. behind is the row after the run.
func (d *Diagonals[V]) addCarries(run DiagonalRun, carries []V, behind int, y []V) {
	lanes := d.Values.Lanes
	offsets := d.Offsets[run.Pattern : run.Pattern+run.Width]
	for first := 0; first < len(offsets); {
		at, i := behind+int(offsets[first]), 1
		for ; i < neighbours && first+i < len(offsets) && offsets[first+i] == offsets[first]+int64(i); i++ {
			end := (first + i + 1) * lanes
			for k, v := range carries[end-i : end] {
				y[at+k] += v
			}
		}
		first += i
	}
}

// symmetricTables has no kernels on processors without assembly.
var symmetricTables simd.Kernels

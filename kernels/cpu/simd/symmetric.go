package simd

import (
	"unsafe"

	"github.com/msrep-go/msrep/sparse"
)

// FastSymmetric reports whether MultiplySymmetric reads entries once at this level. At
// others it reads each slice twice in a row, which is no faster than to store all entries.
func FastSymmetric(l Level) bool { return l >= AVX2 }

// MultiplySymmetric multiplies rows of a symmetric matrix of which d has the entries on
// the diagonal and before it. Row r of d is row first+r of the matrix, and offsets count
// from the diagonal, so that none is above 0:
//
//	y[r] = alpha * (sum over the entries of row r of value*x[column]) + beta*y[r]
//	z[column] += alpha * value*x[first+r]  for the entries before the diagonal
//
// alpha is finite: the two sums for a row may be infinities of either sign with another.
// beta = 0 does not read y. to gives a place for the elements lo <= i < hi of z, which
// holds until it is called again; it may be that of y, which is row first. first is a
// multiple of the lanes. Values are stored as they are. carries is scratch of a register
// for each column of the widest run. The level must be the one whose Lanes the slices
// have, or Generic. Columns are not checked.
func MultiplySymmetric[V sparse.Value](l Level, d *Diagonals[V], alpha, beta V, x, y []V, first int, to func(lo, hi int) []V, carries []V) {
	if beta == 0 {
		beta = 0 // not -0: the kernels look at its bits
	}
	s := symmetricSlices[V]{l, d, alpha, beta, x, to, carries}
	lanes := d.Values.Lanes
	row, column, mask := 0, 0, 0
	for i := 0; i < len(d.Runs); {
		n, slices := s.together(d.Runs[i:], first+row, len(y)-row)
		if n > 0 {
			s.fused(d.Runs[i:i+n], first+row, column, mask, y[row:row+slices*lanes])
		} else {
			n = 1
			s.twice(d.Runs[i], first+row, column, mask, y[row:])
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

// symmetricSlices is what all slices of a product have in common.
type symmetricSlices[V sparse.Value] struct {
	level       Level
	d           *Diagonals[V]
	alpha, beta V
	x           []V
	to          func(lo, hi int) []V
	carries     []V
}

// together counts runs with the same offsets that can be multiplied in one go, and their
// slices: not where columns, or what lies before a slice, may be outside the matrix. left
// is how many rows there are.
func (s *symmetricSlices[V]) together(runs []DiagonalRun, row, left int) (n, slices int) {
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

// before is the part of a run before the diagonal.
func (s *symmetricSlices[V]) before(run DiagonalRun) DiagonalRun {
	if n := run.Width; n > 0 && s.d.Offsets[run.Pattern+n-1] == 0 {
		run.Width--
	}
	return run
}

// twice multiplies each slice of a run, and then its transpose. y begins with its first
// row; there may be fewer rows than lanes in the last slice.
func (s *symmetricSlices[V]) twice(run DiagonalRun, row, column, mask int, y []V) {
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

// fused multiplies slices with the same offsets and their transposes in one go. y has
// their rows.
func (s *symmetricSlices[V]) fused(runs []DiagonalRun, row, column, mask int, y []V) {
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
	kernel := of[*symmetricTable[V]](symmetricTables)[s.level-AVX2]
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

// symmetricTable is kernels by Level-AVX2. Of the offsets of the runs far are so far from the
// diagonal that their columns lie before the slice, before lie before the diagonal, and
// diagonal, 0 or 1, is on it. x, own and y begin with the first row; y has elements before it.
type symmetricTable[V sparse.Value] [2]func(runs *int, count int, offsets *int64, far, before, diagonal int, masks *uint16, val, x, own, y *V, alpha, beta V, carries *V)

// neighbours is how many diagonals side by side the assembly adds up in registers.
const neighbours = 3

// addCarries adds what a run has left: the last i products of each diagonal with i
// neighbours before it. behind is the row behind the run.
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

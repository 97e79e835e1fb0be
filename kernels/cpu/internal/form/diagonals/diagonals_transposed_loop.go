package diagonals

import (
	"math/bits"
	"unsafe"

	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

// diagonalSlices is the number of slices that add to one part of y.
const diagonalSlices = 128

// AddDiagonalsTransposed adds the products of all entries to y:
//
//	y[c] += alpha * (value*x[r])  for every entry in row r and column c < cols
//
// x has one element per row. to returns a slice for the elements lo <= c < hi of y; it is valid
// until the next call of to. The slices must have the Lanes of the level, unless it is Generic.
func AddDiagonalsTransposed[V sparse.Value](l simd.Level, d *Diagonals[V], alpha V, x []V, cols int, to func(lo, hi int) []V) {
	lanes := d.Values.Lanes
	for at := (diagonalPlace{}); at.row < len(x); {
		runs, slices := d.stretch(at, len(x))
		in := x[at.row:min(at.row+slices*lanes, len(x))]
		if len(in) < slices*lanes { // the last slice has fewer rows than lanes; it is a run
			clear(d.Last[copy(d.Last, in):])
			in = d.Last
		}
		if lo, hi := d.columns(runs, at.row, cols); lo < hi {
			from := at
			from.row -= lo
			d.addRuns(l, runs, alpha, in, from, to(lo, hi))
		}
		for slices > 0 {
			run := &d.Runs[at.run]
			n := min(slices, run.Slices-at.slice)
			at.advance(run, n, lanes)
			slices -= n
		}
	}
}

// stretch returns the runs from a place on that add to one part of y, and the number of their
// slices: several whole runs, or some slices of one run. Every slice is full unless it is alone.
func (d *Diagonals[V]) stretch(at diagonalPlace, rows int) (runs []DiagonalRun, slices int) {
	left := min(diagonalSlices, (rows-at.row)/d.Values.Lanes)
	n := at.run
	for at.slice == 0 && n < len(d.Runs) && slices+d.Runs[n].Slices <= left {
		slices += d.Runs[n].Slices
		n++
	}
	if slices > 0 {
		return d.Runs[at.run:n], slices
	}
	d.one[0] = d.Runs[at.run]
	d.one[0].Slices = min(d.one[0].Slices-at.slice, diagonalSlices)
	return d.one[:], d.one[0].Slices
}

// columns returns the range lo <= c < hi of the entries of runs that begin with row.
func (d *Diagonals[V]) columns(runs []DiagonalRun, row, cols int) (lo, hi int) {
	lo = cols
	for i := range runs {
		end := row + runs[i].Slices*d.Values.Lanes
		if w := runs[i].Width; w > 0 {
			offsets := d.Offsets[runs[i].Pattern:][:w] // ascending
			lo, hi = min(lo, max(row+int(offsets[0]), 0)), max(hi, min(end+int(offsets[w-1]), cols))
		}
		row = end
	}
	return lo, hi
}

// addRuns adds the products of runs to y; the first one begins at the given place. x begins with
// their first row.
func (d *Diagonals[V]) addRuns(l simd.Level, runs []DiagonalRun, alpha V, x []V, at diagonalPlace, y []V) {
	lanes := d.Values.Lanes
	if _, after := form.Factors(l, alpha, x); l == simd.Generic || after != 1 || len(y) < lanes {
		for i := range runs {
			rows := runs[i].Slices * lanes
			d.addRunGeneric(runs[i], alpha, x[:rows], at.row, at.column, at.mask, y)
			x = x[rows:]
			at.advance(&runs[i], runs[i].Slices, lanes)
		}
		return
	}
	kernel := simd.ForType[*diagonalTransposedTable[V]](diagonalTransposedTables)[l.Index()][d.Values.Storage]
	a := &d.args.transposed
	a.runs, a.count, a.offsets = uintptr(unsafe.Pointer(&runs[0])), len(runs), unsafe.SliceData(d.Offsets)
	a.masks, a.val, a.y = unsafe.SliceData(d.Masks[at.mask:]), d.Values.From(at.column), &y[0]
	a.last, a.row, a.table = &y[len(y)-lanes], at.row, d.Values.TableAt(at.column)
	a.x, a.alpha = &x[0], alpha
	kernel(a)
	a.y, a.last, a.x = nil, nil, nil // the diagonals keep no vector
}

// diagonalTransposedTable has kernels by Level.Index and Storage.
type diagonalTransposedTable[V sparse.Value] [2][form.Storages]func(*diagonalTransposedArgs[V])

func (d *Diagonals[V]) addRunGeneric(run DiagonalRun, alpha V, x []V, row, column, mask int, y []V) {
	var room form.Expanded[V]
	lanes := d.Values.Lanes
	for range run.Slices {
		offsets := d.Offsets[run.Pattern : run.Pattern+run.Width]
		for len(offsets) > 0 {
			val := d.valuesFrom(run.Pattern+run.Width-len(offsets), column*lanes, len(offsets), &room)
			n := len(val) / lanes
			for c, o := range offsets[:n] {
				val, at := val[c*lanes:(c+1)*lanes], row+int(o)
				if !run.Masked {
					y := y[at : at+lanes]
					for lane, v := range val {
						y[lane] += alpha * (v * x[lane])
					}
					continue
				}
				for m := d.Masks[mask+c]; m != 0; m &= m - 1 {
					lane := bits.TrailingZeros16(m)
					y[at+lane] += alpha * (val[lane] * x[lane])
				}
			}
			if run.Masked {
				mask += n
			}
			offsets, column = offsets[n:], column+n
		}
		row, x = row+lanes, x[lanes:]
	}
}

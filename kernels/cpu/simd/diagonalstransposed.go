package simd

import (
	"unsafe"

	"github.com/msrep-go/msrep/sparse"
)

// diagonalSlices is how many slices add to one stretch of y.
const diagonalSlices = 128

// AddDiagonalsTransposed adds the products of all entries to elements of y:
//
//	y[c] += alpha * (value*x[r]) for every entry in row r and column c < cols
//
// x has one element per row. to gives a place for the elements lo <= c < hi of y, which
// holds until it is called again. The level must be the one whose Lanes the slices have, or
// Generic.
func AddDiagonalsTransposed[V sparse.Value](l Level, d *Diagonals[V], alpha V, x []V, cols int, to func(lo, hi int) []V) {
	lanes := d.Values.Lanes
	row, column, mask := 0, 0, 0
	for _, run := range d.Runs {
		for left := run.Slices; left > 0; {
			some := run
			some.Slices = min(left, diagonalSlices)
			left -= some.Slices
			rows := some.Slices * lanes
			in := x[row:min(row+rows, len(x))]
			if len(in) < rows { // the last slice has fewer rows than lanes
				clear(d.Last[copy(d.Last, in):])
				in = d.Last
			}
			if run.Width > 0 {
				lo, hi := d.columns(some, row, rows, cols)
				d.addRun(l, some, alpha, in, row-lo, column, mask, to(lo, hi))
			}
			row += rows
			column += some.Slices * run.Width
			if run.Masked {
				mask += some.Slices * run.Width
			}
		}
	}
}

// columns is where the entries of some rows of a run lie: lo <= c < hi.
func (d *Diagonals[V]) columns(run DiagonalRun, row, rows, cols int) (lo, hi int) {
	offsets := d.Offsets[run.Pattern : run.Pattern+run.Width] // they rise
	return max(row+int(offsets[0]), 0), min(row+rows+int(offsets[run.Width-1]), cols)
}

// addRun adds what a run does, whose first column of values and of masks are given. Row 0
// of x counts as row of y.
func (d *Diagonals[V]) addRun(l Level, run DiagonalRun, alpha V, x []V, row, column, mask int, y []V) {
	if _, after := Factors(l, alpha, x); l == Generic || after != 1 {
		d.addRunGeneric(run, alpha, x, row, column, mask, y)
		return
	}
	var carries []V
	if !run.Masked {
		n := run.Width * d.Values.Lanes
		if len(d.carries) < n {
			d.carries = make([]V, n)
		}
		carries = d.carries[:n]
		clear(carries)
	}
	kernel := of[*diagonalTransposedTable[V]](diagonalTransposedTables)[l-AVX2][d.Values.Storage]
	kernel(run.Slices, &d.Offsets[run.Pattern], run.Width, d.masks(run, mask), d.Values.from(column),
		unsafe.SliceData(y), row, d.table(run, column), &x[0], alpha, unsafe.SliceData(carries))
	if !run.Masked {
		d.addCarries(run, carries, row+len(x), y)
	}
}

// diagonalTransposedTable is kernels by Level-AVX2 and Storage.
type diagonalTransposedTable[V sparse.Value] [2][storages]func(n int, offsets *int64, width int, masks *uint16, val *byte, y *V, row int, table, x *V, alpha V, carries *V)

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

func (d *Diagonals[V]) addRunGeneric(run DiagonalRun, alpha V, x []V, row, column, mask int, y []V) {
	lanes := d.Values.Lanes
	for s := range run.Slices {
		for j, o := range d.Offsets[run.Pattern : run.Pattern+run.Width] {
			for lane, xr := range x[s*lanes : (s+1)*lanes] {
				if run.Masked && d.Masks[mask+s*run.Width+j]>>lane&1 == 0 {
					continue
				}
				v := d.at(run.Pattern+j, (column+s*run.Width+j)*lanes+lane)
				y[row+s*lanes+lane+int(o)] += alpha * (v * xr)
			}
		}
	}
}

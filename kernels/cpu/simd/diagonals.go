package simd

import (
	"unsafe"

	"github.com/msrep-go/msrep/sparse"
)

// Diagonals is rows in slices, one row per lane, such that the lanes of a slice
// have their entries at the same distances from the main diagonal: column c of row
// r is r plus an offset, and no index is stored. Slices with the same offsets that
// follow each other are a run.
//
// With Values.Storage Same, all entries of a pattern at one offset have the same
// value, and Values.Table is as long as Offsets.
type Diagonals[V sparse.Value] struct {
	Runs    []DiagonalRun
	Offsets []int64 // of all patterns, one after the other
	// Masks has a word for each column of the masked runs: bit i says that lane i has
	// an entry there. The others are not read from x.
	Masks  []uint16
	Values Values[V]
	// Fused says to round a product and its sum once in plain Go too, as assembly does.
	Fused bool
	// Stream says to write y past the caches where beta is 0.
	Stream bool
	// Last is scratch of Values.Lanes elements.
	Last    []V
	carries []V // the same for transposed products, a register for each column of a run
}

// DiagonalRun is slices with the same offsets.
type DiagonalRun struct {
	Slices  int
	Pattern int // where its offsets begin
	Width   int // their number
	Masked  bool
}

// MultiplyDiagonals is y = alpha*A*x + beta*y; beta = 0 does not read y. A row is
// added up in the order of its offsets, beginning with 0, and stored as by Finish.
// The level must be the one whose Lanes the slices have, or Generic. Columns are not
// checked.
func MultiplyDiagonals[V sparse.Value](l Level, d *Diagonals[V], alpha, beta V, x, y []V) {
	if beta == 0 {
		beta = 0 // not -0: the kernels look at its bits
	}
	if d.Stream {
		defer Fence(l)
	}
	lanes := d.Values.Lanes
	row, column, mask := 0, 0, 0
	for i := range d.Runs {
		run := d.Runs[i]
		rows := run.Slices * lanes
		if row+rows > len(y) {
			// The last slice has fewer rows than lanes.
			out := d.Last
			clear(out)
			copy(out, y[row:])
			d.run(l, run, alpha, beta, x, row, column, mask, out)
			copy(y[row:], out)
			return
		}
		d.run(l, run, alpha, beta, x, row, column, mask, y[row:row+rows])
		row += rows
		column += run.Slices * run.Width
		if run.Masked {
			mask += run.Slices * run.Width
		}
	}
}

// run multiplies a run, whose first row, column and mask are given.
func (d *Diagonals[V]) run(l Level, run DiagonalRun, alpha, beta V, x []V, row, column, mask int, y []V) {
	switch {
	case run.Width == 0:
		for i := range y {
			y[i] = Finished(alpha, beta, 0, y[i])
		}
	case l == Generic:
		d.runGeneric(run, alpha, beta, x, row, column, mask, y)
	default:
		kernel := of[*diagonalTable[V]](diagonalTables)[l-AVX2][d.Values.Storage]
		kernel(run.Slices, &d.Offsets[run.Pattern], run.Width, d.masks(run, mask), d.Values.from(column),
			unsafe.SliceData(x), row, d.table(run, column), &y[0], alpha, beta, past(d.Stream && toRegister(l, y) == 0))
	}
}

// diagonalTable is kernels by Level-AVX2 and Storage.
type diagonalTable[V sparse.Value] [2][storages]func(n int, offsets *int64, width int, masks *uint16, val *byte, x *V, row int, table, y *V, alpha, beta V, stream int)

// masks is where the masks of a run begin, nil where it has none.
func (d *Diagonals[V]) masks(run DiagonalRun, mask int) *uint16 {
	if !run.Masked {
		return nil
	}
	return &d.Masks[mask]
}

// table is what the kernels need besides the values of a run, whose first column is given.
func (d *Diagonals[V]) table(run DiagonalRun, column int) *V {
	if d.Values.Storage == Same {
		return &d.Values.Table[run.Pattern]
	}
	return d.Values.table(column)
}

func (d *Diagonals[V]) runGeneric(run DiagonalRun, alpha, beta V, x []V, row, column, mask int, y []V) {
	lanes := d.Values.Lanes
	offsets := d.Offsets[run.Pattern : run.Pattern+run.Width]
	for s := range run.Slices {
		for lane := range lanes {
			var sum V
			for j, o := range offsets {
				if run.Masked && d.Masks[mask+s*run.Width+j]>>lane&1 == 0 {
					continue
				}
				v := d.at(run.Pattern+j, (column+s*run.Width+j)*lanes+lane)
				sum = mulAdd(d.Fused, v, x[row+s*lanes+lane+int(o)], sum)
			}
			y[s*lanes+lane] = Finished(alpha, beta, sum, y[s*lanes+lane])
		}
	}
}

// at is value k, which belongs to an offset.
func (d *Diagonals[V]) at(offset, k int) V {
	if d.Values.Storage == Same {
		return d.Values.Table[offset]
	}
	return d.Values.At(k)
}

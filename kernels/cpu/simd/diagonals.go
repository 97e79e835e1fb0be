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
	Columns int     // of all slices
	Offsets []int64 // of all patterns, one after the other
	// Masks has a word for each column of the masked runs: bit i says that lane i has
	// an entry there. The others are not read from x.
	Masks  []uint16
	Values Values[V]
	// Fused says to round a product and its sum once in plain Go too, as assembly does.
	Fused bool
	// Stream says to write y past the caches where beta is 0.
	Stream bool
	// Near says that values are so near that they are not asked for ahead.
	Near bool
	// Last is scratch of Values.Lanes elements.
	Last []V
	one  [1]DiagonalRun // the same, for some slices of a run
}

// DiagonalRun is slices with the same offsets.
type DiagonalRun struct {
	Slices  int
	Pattern int // where its offsets begin
	Width   int // their number
	Masked  bool
	Ends    bool // Masked, and the elements of x for lanes without an entry may lie before or behind it
}

// MultiplyDiagonals is y = alpha*A*x + beta*y; beta = 0 does not read y. A row is
// added up in the order of its offsets, beginning with 0, and stored as by Finish.
// The level must be the one whose Lanes the slices have, or Generic. Columns are not
// checked; in runs that are not Ends, x has an element for lanes without an entry too.
func MultiplyDiagonals[V sparse.Value](l Level, d *Diagonals[V], alpha, beta V, x, y []V) {
	if beta == 0 {
		beta = 0 // not -0: the kernels look at its bits
	}
	if d.Stream {
		defer Fence(l)
	}
	whole := len(y) - len(y)%d.Values.Lanes
	if whole == len(y) {
		d.runs(l, d.Runs, alpha, beta, x, diagonalPlace{}, y)
		return
	}
	// The last slice has fewer rows than lanes, and is a run.
	runs, last := d.Runs[:len(d.Runs)-1], d.Runs[len(d.Runs)-1:]
	d.runs(l, runs, alpha, beta, x, diagonalPlace{}, y[:whole])
	out := d.Last
	clear(out[copy(out, y[whole:]):])
	d.runs(l, last, alpha, beta, x, diagonalPlace{row: whole, column: d.Columns - last[0].Width, mask: len(d.Masks) - last[0].Width}, out)
	copy(y[whole:], out)
}

// runs multiplies runs, the first of which begins at a place. y has their rows.
func (d *Diagonals[V]) runs(l Level, runs []DiagonalRun, alpha, beta V, x []V, at diagonalPlace, y []V) {
	switch {
	case len(y) == 0:
	case l == Generic, len(x) < d.Values.Lanes: // the kernels read whole registers of x
		for i := range runs {
			rows := runs[i].Slices * d.Values.Lanes
			d.runGeneric(runs[i], alpha, beta, x, at.row, at.column, at.mask, y[:rows])
			y = y[rows:]
			at.advance(&runs[i], runs[i].Slices, d.Values.Lanes)
		}
	default:
		last := x[len(x)-d.Values.Lanes:]
		kernel := of[*diagonalTable[V]](diagonalTables)[l-AVX2][d.Values.Storage]
		kernel(&runs[0].Slices, len(runs), unsafe.SliceData(d.Offsets), unsafe.SliceData(d.Masks[at.mask:]), d.Values.from(at.column),
			unsafe.SliceData(x), unsafe.SliceData(last), at.row, d.Values.table(at.column), &y[0], alpha, beta, past(d.Stream && beta == 0 && toRegister(l, y) == 0), past(!d.Near))
	}
}

// diagonalTable is kernels by Level-AVX2 and Storage.
type diagonalTable[V sparse.Value] [2][storages]func(runs *int, count int, offsets *int64, masks *uint16, val *byte, x, last *V, row int, table, y *V, alpha, beta V, stream, ask int)

// masks is where the masks of a run begin, nil where it has none.
func (d *Diagonals[V]) masks(run DiagonalRun, mask int) *uint16 {
	if !run.Masked {
		return nil
	}
	return &d.Masks[mask]
}

func (d *Diagonals[V]) runGeneric(run DiagonalRun, alpha, beta V, x []V, row, column, mask int, y []V) {
	var room expanded[V]
	lanes := d.Values.Lanes
	for range run.Slices {
		var lane [2 * unrolled]V
		sums := lane[:lanes]
		offsets, masks := d.Offsets[run.Pattern:run.Pattern+run.Width], d.Masks[mask:]
		for len(offsets) > 0 {
			val := d.some(run.Pattern+run.Width-len(offsets), column*lanes, len(offsets), &room)
			n := len(val) / lanes
			if run.Masked {
				addMaskedDiagonals(d.Fused, val, offsets[:n], masks, x, row, sums)
				masks, mask = masks[n:], mask+n
			} else {
				addDiagonals(d.Fused, val, offsets[:n], x, row, sums)
			}
			offsets, column = offsets[n:], column+n
		}
		finishGeneric(alpha, beta, sums, y)
		row, y = row+lanes, y[lanes:]
	}
}

// some is values of columns from k on, the first of which belongs to an offset: of all n, or of as many as there is room for.
func (d *Diagonals[V]) some(offset, k, n int, room *expanded[V]) []V {
	lanes := d.Values.Lanes
	if d.Values.Storage != Same {
		return d.Values.some(k, n*lanes, room)
	}
	n = min(n*lanes, len(room.val))
	if room.holds != offset+1 {
		for i := range room.val[:n] {
			room.val[i] = d.Values.Table[offset+i/lanes]
		}
		room.holds = offset + 1
	}
	return room.val[:n]
}

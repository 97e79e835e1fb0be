package diagonals

import (
	"unsafe"

	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

// Diagonals stores slices of successive rows, one row per lane. All lanes of a slice have their
// entries at the same offsets from the main diagonal: an entry of row r is in column r plus an
// offset. No column index is stored. Successive slices with the same offsets are a run.
//
// If Values.Storage is Same, all entries of a pattern at one offset have the same value, and
// Values.Table is as long as Offsets.
type Diagonals[V sparse.Value] struct {
	Runs    []DiagonalRun
	Columns int     // number of columns of all slices
	Offsets []int64 // the offsets of all patterns, one pattern after the other
	// Masks has a word for each column of the masked runs: bit i is set if lane i has an entry
	// there. The elements of x of the other lanes are not read.
	Masks  []uint16
	Values form.Values[V]
	// Fused makes plain Go round a product and its sum once, as assembly does.
	Fused bool
	// Stream makes products write y past the caches if beta is 0.
	Stream bool
	// Near says that values are in the caches: they are not prefetched.
	Near bool
	// Last is scratch of Values.Lanes elements.
	Last []V
	one  [1]DiagonalRun // scratch: a part of a run
	args kernelArgs[V]
}

// DiagonalRun is a number of slices with the same offsets.
type DiagonalRun struct {
	Slices  int
	Pattern int // index of the first offset
	Width   int // number of offsets
	Masked  bool
	Ends    bool // Masked, and the elements of x for lanes without an entry may be outside x
}

// MultiplyDiagonals computes y = alpha*A*x + beta*y; beta = 0 does not read y. A sum starts with 0
// and adds by ascending offset; it is stored as by Finish. The slices must have the Lanes of the
// level, unless it is Generic. Columns are not checked. In runs that are not Ends, x must have an
// element for lanes without an entry too.
func MultiplyDiagonals[V sparse.Value](l simd.Level, d *Diagonals[V], alpha, beta V, x, y []V) {
	if beta == 0 {
		beta = 0 // not -0: the kernels test its bits
	}
	if d.Stream {
		defer form.Fence(l)
	}
	whole := len(y) - len(y)%d.Values.Lanes
	if whole == len(y) {
		d.runs(l, d.Runs, alpha, beta, x, diagonalPlace{}, y)
		return
	}
	// The last slice has fewer rows than lanes; it is a run.
	runs, last := d.Runs[:len(d.Runs)-1], d.Runs[len(d.Runs)-1:]
	d.runs(l, runs, alpha, beta, x, diagonalPlace{}, y[:whole])
	out := d.Last
	clear(out[copy(out, y[whole:]):])
	d.runs(l, last, alpha, beta, x, diagonalPlace{row: whole, column: d.Columns - last[0].Width, mask: len(d.Masks) - last[0].Width}, out)
	copy(y[whole:], out)
}

// runs multiplies runs; the first one begins at the given place. y has their rows.
func (d *Diagonals[V]) runs(l simd.Level, runs []DiagonalRun, alpha, beta V, x []V, at diagonalPlace, y []V) {
	switch {
	case len(y) == 0:
	case l == simd.Generic, len(x) < d.Values.Lanes: // the kernels read whole registers of x
		for i := range runs {
			rows := runs[i].Slices * d.Values.Lanes
			d.runGeneric(runs[i], alpha, beta, x, at.row, at.column, at.mask, y[:rows])
			y = y[rows:]
			at.advance(&runs[i], runs[i].Slices, d.Values.Lanes)
		}
	default:
		last := x[len(x)-d.Values.Lanes:]
		kernel := simd.ForType[*diagonalTable[V]](diagonalTables)[l.Index()][d.Values.Storage]
		a := &d.args.multiply
		a.runs, a.count, a.offsets = uintptr(unsafe.Pointer(&runs[0])), len(runs), unsafe.SliceData(d.Offsets)
		a.masks, a.val, a.x = unsafe.SliceData(d.Masks[at.mask:]), d.Values.From(at.column), unsafe.SliceData(x)
		a.last, a.row, a.table = unsafe.SliceData(last), at.row, d.Values.TableAt(at.column)
		a.y, a.stream, a.prefetch = &y[0], form.AsInt(d.Stream && beta == 0 && form.ToRegister(l, y) == 0), form.AsInt(!d.Near)
		a.alpha, a.beta = alpha, beta
		kernel(a)
		a.x, a.last, a.y = nil, nil, nil // the diagonals keep no vector
	}
}

// diagonalTable has kernels by Level.Index and Storage.
type diagonalTable[V sparse.Value] [2][form.Storages]func(*diagonalArgs[V])

func (d *Diagonals[V]) runGeneric(run DiagonalRun, alpha, beta V, x []V, row, column, mask int, y []V) {
	var room form.Expanded[V]
	lanes := d.Values.Lanes
	for range run.Slices {
		var lane [2 * form.Unrolled]V
		sums := lane[:lanes]
		offsets, masks := d.Offsets[run.Pattern:run.Pattern+run.Width], d.Masks[mask:]
		for len(offsets) > 0 {
			val := d.valuesFrom(run.Pattern+run.Width-len(offsets), column*lanes, len(offsets), &room)
			n := len(val) / lanes
			if run.Masked {
				addMaskedDiagonals(d.Fused, val, offsets[:n], masks, x, row, sums)
				masks, mask = masks[n:], mask+n
			} else {
				addDiagonals(d.Fused, val, offsets[:n], x, row, sums)
			}
			offsets, column = offsets[n:], column+n
		}
		form.StoreRowsGeneric(alpha, beta, sums, y)
		row, y = row+lanes, y[lanes:]
	}
}

// valuesFrom returns values from value k on, for n columns or as many as fit in room. offset is the
// index of the first column's offset.
func (d *Diagonals[V]) valuesFrom(offset, k, n int, room *form.Expanded[V]) []V {
	lanes := d.Values.Lanes
	if d.Values.Storage != form.Same {
		return d.Values.ValuesFrom(k, n*lanes, room)
	}
	n = min(n*lanes, len(room.Val))
	if room.Holds != offset+1 {
		for i := range room.Val[:n] {
			room.Val[i] = d.Values.Table[offset+i/lanes]
		}
		room.Holds = offset + 1
	}
	return room.Val[:n]
}

// These have no kernels on processors without assembly.
var (
	diagonalTables, diagonalTransposedTables simd.Kernels
)

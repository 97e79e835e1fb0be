package runs

import (
	"math/bits"

	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

// runsBuilder divides rows into groups and pieces. They are on the Go heap until copyRuns copies
// them to the memory of the form.
type runsBuilder[V sparse.Value] struct {
	form.Heap // of all arrays of the builder
	r         form.Rows[V]
	rows      int
	columns   int // most columns of a piece
	costs     runCosts
	runs      Runs[V] // without values
	entries   int     // number of entries of the groups so far
	cost      int     // cost of the groups so far
	windows   []runsStart
	// ends has one bit per entry, and at least 64 more. The bit is set if the next entry of the row
	// is not in the next column or if the row ends.
	ends []uint64
}

func newRunsBuilder[V sparse.Value](r form.Rows[V], l simd.Level) *runsBuilder[V] {
	b := &runsBuilder[V]{Heap: form.Heap{Mem: r.Mem}, r: r, rows: len(r.Ptr) - 1, columns: RunColumns[V](l), costs: runCostsOf(RunLevel[V](l)),
		windows: []runsStart{{}}, ends: runEnds(r.Ptr, r.Idx)}
	room := len(r.Idx) / (2 * b.columns)
	b.runs.First, b.runs.Masks = make([]int32, 0, room), make([]uint8, 0, room)
	return b
}

// count counts the memory that the builder uses now.
func (b *runsBuilder[V]) count() error {
	now := 8*int64(cap(b.ends)) + 4*int64(cap(b.runs.Groups)+cap(b.runs.First)) + int64(cap(b.runs.Masks)) + startBytes*int64(cap(b.windows))
	return b.Reserve(now - b.Reserved)
}

// cut divides all rows.
func (b *runsBuilder[V]) cut() (err error) {
	for row := 0; row < b.rows; {
		if row, err = b.next(row); err != nil {
			return err
		}
		if row > b.windows[len(b.windows)-1].row+runsWindow-2*form.RunRows || row == b.rows {
			b.endWindow(row)
			if err := b.count(); err != nil {
				return err
			}
		}
	}
	return nil
}

// endWindow ends the current window before row.
func (b *runsBuilder[V]) endWindow(row int) {
	w := &b.windows[len(b.windows)-1]
	if first := b.runs.First[w.at.Piece:]; len(first) > 0 {
		least, greatest := form.MinMax(simd.Default(), first)
		w.least, w.end = least, int32(min(int(greatest)+b.columns, b.r.Cols))
	}
	b.windows = append(b.windows, runsStart{row: row, at: b.end()})
}

// end returns the position after the last group.
func (b *runsBuilder[V]) end() RunPosition {
	return RunPosition{Group: len(b.runs.Groups), Piece: len(b.runs.First), Mask: len(b.runs.Masks), Entry: b.entries}
}

// next appends groups that begin with row and returns the row after them: one group with masks, of
// RunMasked rows, if this is cheapest; otherwise the groups of rows with equal columns that begin
// within RunMasked rows.
func (b *runsBuilder[V]) next(row int) (int, error) {
	const four = RunMasked
	limit := min(row+four, b.rows)
	var rows [four]int
	n, end, cost, most := 0, row, 0, 0
	for ; end < limit; n++ {
		rows[n] = b.sameColumns(end)
		pieces := b.countPieces(end)
		end += rows[n]
		cost += b.costs.same(rows[n], pieces) * (rows[n] - max(end-limit, 0)) / rows[n] // for the rows before limit
		most = max(most, pieces)
	}
	// A piece with masks contains at most one piece of each row.
	if bound := b.costs.mostMasked(cost); rows[0] < four && limit-row == four && most < bound && b.r.Cols >= b.columns {
		if pieces, ok := b.putMasked(row, bound); ok {
			b.put(limit, RunGroup(four, true, pieces), b.costs.withMasks(pieces))
			return limit, nil
		}
	}
	end = row
	for _, rows := range rows[:n] {
		pieces := b.putSame(end)
		if pieces > RunPieces {
			return 0, sparse.Inputf("matrix", "a row has %d runs of columns: this form takes at most %d", pieces, RunPieces)
		}
		end += rows
		b.put(end, RunGroup(rows, false, pieces), b.costs.same(rows, pieces))
	}
	return end, nil
}

// put appends a group that ends before row end.
func (b *runsBuilder[V]) put(end int, group uint32, cost int) {
	b.runs.Groups = append(b.runs.Groups, group)
	b.cost += cost
	b.entries = int(b.r.At(end))
}

// sameColumns returns the number of successive rows, at most RunRows, that have the columns of row.
func (b *runsBuilder[V]) sameColumns(row int) int {
	columns, n := b.r.Columns(row), 1
	for n < form.RunRows && row+n < b.rows && form.SameBits(columns, b.r.Columns(row+n)) {
		n++
	}
	return n
}

// putSame appends the pieces of a row and returns their number.
func (b *runsBuilder[V]) putSame(row int) (pieces int) {
	k, end := b.entriesOf(row)
	for ; k < end; pieces++ {
		mask := b.runFrom(k)
		b.runs.First, b.runs.Masks = append(b.runs.First, b.r.Idx[k]), append(b.runs.Masks, mask)
		k += bits.OnesCount8(mask)
	}
	return pieces
}

// fill stores the values.
func (b *runsBuilder[V]) fill(val []V) {
	row, mask := 0, b.runs.Masks
	for _, g := range b.runs.Groups {
		rows, masked, pieces := ParseRunGroup(g)
		var from [form.RunRows]int // the next entry of each row
		for i := range rows {
			from[i] = int(b.r.At(row + i))
		}
		for range pieces {
			m := mask[0]
			for i := range rows {
				if masked {
					m = mask[i]
				}
				n := bits.OnesCount8(m)
				putRun(val, b.r.Val[from[i]:], n)
				val, from[i] = val[n:], from[i]+n
			}
			mask = mask[1:]
			if masked {
				mask = mask[rows-1:]
			}
		}
		row += rows
	}
}

// putRun is copy(to, from[:n]), n <= RunRows, for calls with ascending to. If there is room it
// copies RunRows values; the next call overwrites those after the first n.
func putRun[V sparse.Value](to, from []V, n int) {
	if len(to) < form.RunRows || len(from) < form.RunRows {
		copy(to, from[:n])
		return
	}
	*(*[form.RunRows]V)(to) = [form.RunRows]V(from)
}

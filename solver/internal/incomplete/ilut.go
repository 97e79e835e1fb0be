package incomplete

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/sparse"
)

// Threshold are the rules by which ILUT drops entries and chooses pivots.
type Threshold struct {
	// Drop is the magnitude below which entries are dropped: of L D relative to the largest entry of its row of A, of
	// U relative to the pivot of its row. It grows where fill takes more than a quarter of Fill. With 0 only zeros are
	// dropped.
	Drop float64
	// Fill bounds the entries of L and U: the first i rows may have Fill times as many as the first i rows of A, and
	// a row may always have Fill times as many as its row of A. +Inf is no bound.
	Fill float64
	// Pivot is the least magnitude of a pivot relative to the largest entry of its row of U, at most 1: the column of
	// the largest entry is exchanged for one with a smaller pivot. With 0 no columns are exchanged.
	Pivot float64
}

// NoMemory is the error of factors whose next rows do not fit in memory: they need this many bytes.
type NoMemory struct{ Need, Have int64 }

func (e *NoMemory) Error() string {
	return fmt.Sprintf("the factors need %d bytes, %d are available", e.Need, e.Have)
}

// ILUT returns factors with the entries that the threshold keeps (ILUTP of Saad, 1994): row i of A is eliminated with
// the rows of U before it, and its small entries are dropped. Like the incomplete factors by columns of Li and Shao
// (2011), it measures what it drops beside the pivots, and bounds the fill of all rows together.
//
// The error is that of a context that has ended, or a *NoMemory.
func ILUT(ctx context.Context, a *sparse.CSR[float64], by Threshold) (*Factors, error) {
	e := newEliminator(a.Rows, by)
	e.watch.ctx = ctx
	for i := range a.Rows {
		lo, hi := a.RowPtr[i], a.RowPtr[i+1]
		if err := e.eliminate(i, a.ColIdx[lo:hi], a.Val[lo:hi]); err != nil {
			return nil, err
		}
	}
	return e.factors()
}

// A cell is an element of the row that is being eliminated, and where its column is.
type cell struct {
	value float64
	row   int32 // the last row that had an entry in this column
	place int32 // the place of the column in the order of the columns
}

type eliminator struct {
	Threshold
	*Factors // Upper.Col has columns of A; factors replaces them by their places
	cells    []cell
	columns  []int32 // the column at each place
	before   *queue  // places, smaller than the row, of entries that have not been eliminated
	allowed  float64 // entries that the rows so far may have
	lower    []entry // L D of the row, at places of columns
	upper    []entry // U of the row, at columns of A
	scores   []float64
	watch    watch
}

// An entry of a row, and its magnitude relative to what Drop is relative to.
type entry struct {
	at    int32
	value float64
	score float64
}

func newEliminator(n int, by Threshold) *eliminator {
	e := &eliminator{
		Threshold: by,
		Factors:   &Factors{Inverse: make([]float64, n)},
		cells:     make([]cell, n),
		columns:   make([]int32, n),
		before:    newQueue(n),
	}
	e.Lower.Ptr, e.Upper.Ptr = make([]int64, n+1), make([]int64, n+1)
	for j := range e.cells {
		e.cells[j] = cell{row: -1, place: int32(j)}
		e.columns[j] = int32(j)
	}
	return e
}

// eliminate computes row i of L and U from row i of A.
func (e *eliminator) eliminate(i int, col []int32, val []float64) error {
	most := largest(val)
	e.load(i, col, val)
	drop := e.drop()
	work := e.subtract(i, drop*most)
	diagonal := e.choosePivot(i)
	d := e.pivot(diagonal, most)
	e.Inverse[i] = 1 / d
	e.dropUpper(d, drop)
	for k := range e.lower {
		e.lower[k].score = math.Abs(e.lower[k].value) / most
	}
	e.bound(len(col))
	return e.store(i, work+len(e.lower)+len(e.upper))
}

// drop returns the magnitude below which entries of the next row are dropped: Drop while the rows so far use less than a
// quarter of the entries that Fill allows them, then more, up to 1000^(3/4) Drop. Large factors are thus bounded by their
// size everywhere, rather than by what is left for the last rows.
func (e *eliminator) drop() float64 {
	const free, growth = 0.25, 1000
	used := float64(len(e.Lower.Col)+len(e.Upper.Col)) / e.allowed
	if !(used > free) {
		return e.Drop
	}
	return min(e.Drop*math.Pow(growth, min(used, 1)-free), max(e.Drop, 1))
}

// load sets the cells to row i of A.
func (e *eliminator) load(i int, col []int32, val []float64) {
	e.lower, e.upper = e.lower[:0], e.upper[:0]
	for k, j := range col {
		e.fillIn(int32(i), j)
		e.cells[j].value = val[k]
	}
}

// fillIn gives the row an entry of value zero in column j. It is not inlined, as subtract rarely calls it.
//
//go:noinline
func (e *eliminator) fillIn(row, j int32) {
	c := &e.cells[j]
	c.value, c.row = 0, row
	if c.place < row {
		e.before.add(int(c.place))
	} else {
		e.upper = append(e.upper, entry{at: j})
	}
}

// subtract eliminates the entries before the diagonal in order, and drops those of at most least and those that are
// not finite. It returns the number of multiplications.
func (e *eliminator) subtract(i int, least float64) (work int) {
	cells, row := e.cells, int32(i)
	for place := e.before.take(); place >= 0; place = e.before.take() {
		v := cells[e.columns[place]].value
		if m := math.Abs(v); !(m > least && m <= math.MaxFloat64) {
			e.Dropped++
			continue
		}
		e.lower = append(e.lower, entry{at: int32(place), value: v})
		m := v * e.Inverse[place]
		col, val := e.Upper.row(place)
		val = val[:len(col)]
		work += len(col)
		for k, j := range col {
			c := &cells[j]
			if c.row != row {
				e.fillIn(row, j)
			}
			c.value -= float64(m * val[k])
		}
	}
	return work
}

// choosePivot exchanges columns if the diagonal element of U is too small, and returns the diagonal element. It takes
// that element out of upper, and sets the values of the others.
func (e *eliminator) choosePivot(i int) float64 {
	most, at, diagonal := 0.0, int32(-1), 0.0
	for k := range e.upper {
		u := &e.upper[k]
		u.value = e.cells[u.at].value
		if m := math.Abs(u.value); m > most {
			most, at = m, u.at
		}
	}
	own := e.columns[i]
	if e.cells[own].row == int32(i) {
		diagonal = e.cells[own].value
	}
	if at >= 0 && at != own && math.Abs(diagonal) < e.Pivot*most {
		other := &e.cells[at]
		diagonal = other.value
		e.columns[i], e.columns[other.place] = at, own
		e.cells[own].place, other.place = other.place, int32(i)
		own = at
		e.Exchanged++
	}
	for k := range e.upper {
		if e.upper[k].at == own {
			last := len(e.upper) - 1
			e.upper[k] = e.upper[last]
			e.upper = e.upper[:last]
			break
		}
	}
	return diagonal
}

// dropUpper drops entries of U that are small beside the pivot d.
func (e *eliminator) dropUpper(d, drop float64) {
	kept := e.upper[:0]
	for _, u := range e.upper {
		u.score = math.Abs(u.value / d)
		if u.score > drop {
			kept = append(kept, u)
		}
	}
	e.Dropped += int64(len(e.upper) - len(kept))
	e.upper = kept
}

// bound drops the entries with the smallest scores if there are more than Fill allows for a row of A with this many
// entries.
func (e *eliminator) bound(entries int) {
	own := e.Fill * float64(entries)
	e.allowed += own
	have := len(e.lower) + len(e.upper)
	used := float64(len(e.Lower.Col) + len(e.Upper.Col))
	room := max(own, e.allowed-used)
	if float64(have) <= room {
		return
	}
	keep := int(room)
	e.scores = e.scores[:0]
	for _, part := range [][]entry{e.lower, e.upper} {
		for _, x := range part {
			e.scores = append(e.scores, x.score)
		}
	}
	least := selectDescending(e.scores, keep)
	equal := keep // entries with the least score that is kept
	for _, s := range e.scores {
		if s > least {
			equal--
		}
	}
	for _, part := range []*[]entry{&e.lower, &e.upper} {
		kept := (*part)[:0]
		for _, x := range *part {
			if x.score == least && equal > 0 {
				equal--
			} else if x.score <= least {
				continue
			}
			kept = append(kept, x)
		}
		*part = kept
	}
	e.Dropped += int64(have - keep)
}

// selectDescending returns the k-th largest element of v, 1 <= k <= len(v), and +Inf for k = 0. It reorders v.
func selectDescending(v []float64, k int) float64 {
	if k == 0 {
		return math.Inf(1)
	}
	lo, hi := 0, len(v)-1
	for k--; lo < hi; {
		pivot := v[lo+(hi-lo)/2]
		i, j := lo, hi
		for i <= j {
			for v[i] > pivot {
				i++
			}
			for v[j] < pivot {
				j--
			}
			if i <= j {
				v[i], v[j] = v[j], v[i]
				i++
				j--
			}
		}
		switch {
		case k <= j:
			hi = j
		case k >= i:
			lo = i
		default:
			return v[k]
		}
	}
	return v[k]
}

// store appends the row to L and U.
func (e *eliminator) store(i, work int) error {
	if err := reserve(&e.Lower, len(e.lower)); err != nil {
		return err
	}
	if err := reserve(&e.Upper, len(e.upper)); err != nil {
		return err
	}
	for _, x := range e.lower {
		e.Lower.Col = append(e.Lower.Col, x.at)
		e.Lower.Val = append(e.Lower.Val, x.value*e.Inverse[x.at])
	}
	for _, x := range e.upper {
		e.Upper.Col = append(e.Upper.Col, x.at)
		e.Upper.Val = append(e.Upper.Val, x.value)
	}
	e.Lower.Ptr[i+1], e.Upper.Ptr[i+1] = int64(len(e.Lower.Col)), int64(len(e.Upper.Col))
	return e.watch.spend(work)
}

// reserve makes room for more entries.
func reserve(r *Rows, more int) error {
	if need := len(r.Col) + more; need > cap(r.Col) {
		room := max(need+need/2, 1024)
		if err := fits(room); err != nil {
			return err
		}
		r.Col = slices.Grow(r.Col, room-len(r.Col))
		r.Val = slices.Grow(r.Val, room-len(r.Val))
	}
	return nil
}

// fits returns an error if there is no memory for this many entries.
func fits(entries int) error {
	need := int64(entries) * sparse.EntryBytes
	if have, ok := mem.Fits(need); !ok {
		return &NoMemory{need, have}
	}
	return nil
}

// factors returns the factors, with sorted places of columns in Upper.
func (e *eliminator) factors() (*Factors, error) {
	f := e.Factors
	if err := fits(2 * len(f.Upper.Col)); err != nil { // Upper by columns and, sorted, by rows
		return nil, err
	}
	for k, j := range f.Upper.Col {
		f.Upper.Col[k] = e.cells[j].place
	}
	n := len(f.Inverse)
	byColumn := transposed(&f.Upper, n)
	f.Upper = transposed(&byColumn, n)
	if f.Exchanged > 0 {
		f.Cols = e.columns
	}
	f.finish()
	return f, nil
}

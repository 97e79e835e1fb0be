package form

import (
	"sort"

	"github.com/msrep-go/msrep/sparse"
)

// An Estimate is the expected size of a form, computed from a sample of the rows.
type Estimate struct {
	EntryBytes float64 // bytes that a product reads per entry of the matrix, without x and y
	Padding    float64 // slots without an entry, per entry
}

// Samples is the number of ranges of rows that estimates inspect.
const Samples = 16

// estimate returns the Estimate for a sample with these counts.
func NewEstimate(bytes float64, places, entries int64) Estimate {
	n := float64(max(entries, 1))
	return Estimate{EntryBytes: bytes / n, Padding: float64(places-entries) / n}
}

// The number of entries that a sample copies from one range: a sixteenth of all entries divided by the number of ranges, within
// these limits. A row contributes at most 1/RunRows of that number.
const (
	leastHead, mostHead = 8 * RunRows, 128 * RunRows
	headStretch         = 64 // most rows of a range
)

// heads is a sample of rows without values: the first entries of the rows of several ranges.
type heads[V sparse.Value] struct {
	Rows[V]
	from *Rows[V]
	n    int // entries of a range, approximately
	next int // first row that a further range may take
}

// heads returns an empty sample.
func (r *Rows[V]) heads() *heads[V] {
	n := min(max(len(r.Idx)/(16*Samples), leastHead), mostHead)
	return &heads[V]{from: r, n: n,
		Rows: Rows[V]{Ptr: make([]int64, 1, Samples*headStretch+1), Idx: make([]int32, 0, Samples*n), Cols: r.Cols}}
}

// ByRows returns a sample of ranges at equal distances of rows.
func (r *Rows[V]) ByRows() Rows[V] {
	h := r.heads()
	for s := range Samples {
		h.place(s * (len(r.Ptr) - 1) / Samples)
	}
	return h.Rows
}

// ByEntries returns a sample of ranges at equal distances of entries, or of every every-th of these ranges, so that a row counts
// by its number of entries. A range within a row that is much longer than the others is a range of columns of that row and of the
// equally long rows beside it.
func (r *Rows[V]) ByEntries(every int) Rows[V] {
	h, rows, nnz := r.heads(), len(r.Ptr)-1, len(r.Idx)
	if nnz == 0 {
		return h.Rows
	}
	mean := nnz/rows + 1
	long, most := max(h.n, RunRows*mean), min(h.n, headStretch*mean)
	for s := 0; s < Samples; s += every {
		at := int64(s) * int64(nnz) / Samples
		row := r.holder(at)
		if len(r.Columns(row)) <= long {
			h.place(row)
			continue
		}
		first := row / RunRows * RunRows
		h.placeLong(first, min(first+RunRows, rows), int(at-r.At(row)), long, most)
		h.next = max(h.next, row+1)
	}
	return h.Rows
}

// place adds the rows around row.
func (h *heads[V]) place(row int) {
	first, full, rows := max(row/RunRows*RunRows, h.next), len(h.Idx)+h.n, len(h.from.Ptr)-1
	for h.next = first; h.next < min(first+headStretch, rows) && (h.next < first+RunRows || len(h.Idx) < full); h.next++ {
		columns := h.from.Columns(h.next)
		h.add(columns[:min(len(columns), h.n/RunRows)])
	}
}

// placeLong adds about n entries of the rows first to end-1 with more than long entries: the same number of each, from its entry k
// on.
func (h *heads[V]) placeLong(first, end, k, long, n int) {
	var of [RunRows][]int32
	all := of[:0]
	for i := first; i < end; i++ {
		if columns := h.from.Columns(i); len(columns) > long {
			all = append(all, columns)
		}
	}
	each := (n/len(all) + RunRows - 1) / RunRows * RunRows // whole pieces of runs
	for _, columns := range all {
		lo := max(min(k, len(columns)-each), 0)
		h.add(columns[lo:min(lo+each, len(columns))])
	}
}

// add appends a row of columns.
func (h *heads[V]) add(columns []int32) {
	h.Idx = append(h.Idx, columns...)
	h.Ptr = append(h.Ptr, int64(len(h.Idx)))
}

// holder returns the row of entry k.
func (r *Rows[V]) holder(k int64) int {
	return sort.Search(len(r.Ptr)-1, func(i int) bool { return r.At(i+1) > k })
}

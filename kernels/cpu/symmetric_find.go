package cpu

import (
	"math"
	"sort"
	"sync/atomic"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
)

// isSymmetric reports whether a square matrix is symmetric, the bits of its values too, and
// all of its rows are sorted and without duplicates. border is the rows that the workers
// look at. It ends at the first entry that says otherwise.
func (p *packed[V]) isSymmetric(op *kernels.Packing[V], border []int) (bool, error) {
	var no atomic.Bool
	var more atomic.Int64 // entries behind the diagonal, less those before it
	err := p.each(func(i int) error {
		h := matching[V]{dev: p.dev, op: op, first: border[i], end: border[i+1], no: &no}
		if !h.match() {
			no.Store(true)
		}
		p.dev.inUse.Add(-8 * int64(len(h.next)))
		more.Add(h.more)
		return nil
	})
	return err == nil && !no.Load() && more.Load() == 0, err
}

// matching compares the entries before the diagonal of rows with those behind it.
type matching[V sparse.Value] struct {
	dev        *Device
	op         *kernels.Packing[V]
	first, end int
	no         *atomic.Bool // somebody found an entry without a partner
	more       int64

	low int
	// next is, from row low on, 1 + the place of the partner of the row that comes next; 0
	// where none came yet. The partners in a row follow each other.
	next []int64
}

// match reports whether every entry before the diagonal has its partner. If there are as
// many entries behind the diagonal in all rows, these have theirs as well.
func (h *matching[V]) match() bool {
	if !h.start() {
		return false
	}
	ptr, base := h.op.Ptr, h.op.Ptr[0]
	for r := h.first; r < h.end; r++ {
		if r%256 == 0 && h.no.Load() {
			return false
		}
		idx, val := h.row(r)
		last, k := -1, 0
		for ; k < len(idx) && int(idx[k]) < r; k++ {
			c := int(idx[k])
			if c <= last {
				return false
			}
			last = c
			at := &h.next[c-h.low]
			if *at == 0 {
				*at = h.begin(c)
			}
			if *at > ptr[c+1]-base || int(h.op.Idx[*at-1]) != r || !sameBits(h.op.Val[*at-1], val[k]) {
				return false
			}
			*at++
		}
		h.more -= int64(k)
		if k < len(idx) && int(idx[k]) == r {
			last, k = r, k+1
		}
		h.more += int64(len(idx) - k)
		for _, c := range idx[k:] {
			if int(c) <= last {
				return false
			}
			last = int(c)
		}
	}
	return true
}

// fewRows is a number of rows for which there is room anyway.
const fewRows = 1 << 12

// start makes room for the rows that have partners. It is false where that would take more
// memory than two thirds of the entries, or than the device has.
func (h *matching[V]) start() bool {
	h.low = h.first
	for r := h.first; r < h.end; r++ {
		if idx, _ := h.row(r); len(idx) > 0 {
			h.low = min(h.low, max(int(idx[0]), 0))
		}
	}
	rows, entries := int64(h.end-h.low), h.op.Ptr[h.end]-h.op.Ptr[h.first]
	if rows > max(entries, fewRows) || h.dev.take(8*rows) != nil {
		return false
	}
	h.next = make([]int64, rows)
	return true
}

// row is the columns and values of a row.
func (h *matching[V]) row(r int) ([]int32, []V) {
	base := h.op.Ptr[0]
	k, end := h.op.Ptr[r]-base, h.op.Ptr[r+1]-base
	return h.op.Idx[k:end], h.op.Val[k:end]
}

// begin is 1 + the place of the first partner in row c.
func (h *matching[V]) begin(c int) int64 {
	idx, _ := h.row(c)
	from := max(h.first, c+1) // of the rows that are looked at
	k := sort.Search(len(idx), func(k int) bool { return int(idx[k]) >= from })
	return h.op.Ptr[c] - h.op.Ptr[0] + int64(k) + 1
}

// sameBits tells apart zeros of either sign, and NaNs.
func sameBits[V sparse.Value](a, b V) bool {
	if a == b && a != 0 {
		return true
	}
	switch a := any(a).(type) {
	case float64:
		return math.Float64bits(a) == math.Float64bits(any(b).(float64))
	case float32:
		return math.Float32bits(a) == math.Float32bits(any(b).(float32))
	}
	return false
}

package cpu

import (
	"slices"
	"sync/atomic"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
)

// isSymmetric reports whether a square matrix is symmetric, including the bits of its values, and all its rows are
// sorted and without duplicates. border is the rows that each worker compares, rounded down to multiples of 64. The
// comparison ends soon after the first entry that has no equal partner.
func (p *packed[V]) isSymmetric(op *kernels.Packing[V], border []int) (bool, error) {
	if mem.Size[V]() == 4 {
		return symmetricWords[V, uint32](p, op, border)
	}
	return symmetricWords[V, uint64](p, op, border)
}

// symmetricWords is isSymmetric for values of the size of a W.
func symmetricWords[V sparse.Value, W word](p *packed[V], op *kernels.Packing[V], border []int) (bool, error) {
	var no atomic.Bool
	var more atomic.Int64 // entries after the diagonal, less those before it
	along, same := make([]uint64, (len(op.Ptr)+62)/64), make([]uint64, (len(op.Ptr)+62)/64)
	val, _ := mem.Slice[W](mem.Bytes(op.Val), int64(len(op.Val)))
	all := make([]matching[W], len(p.pieces))
	err := p.each(func(i int) error {
		h := &all[i]
		*h = matching[W]{ptr: op.Ptr, idx: op.Idx, val: val, along: along, same: same, first: border[i], end: border[i+1]}
		if !h.mark() {
			no.Store(true)
		}
		more.Add(h.more)
		return nil
	})
	if err != nil || no.Load() || more.Load() != 0 {
		return false, err
	}
	err = p.each(func(i int) error {
		h := &all[i]
		room := 8 * int64(h.end-h.low)
		if room > 8*max(h.ptr[h.end]-h.ptr[h.first], fewRows) || p.dev.take(room) != nil {
			no.Store(true)
			return nil
		}
		defer p.dev.inUse.Add(-room)
		h.next = make([]int64, h.end-h.low)
		if !h.match(&no) {
			no.Store(true)
		}
		return nil
	})
	return err == nil && !no.Load(), err
}

// fewRows is a number of rows for which there is always memory. More rows take at most two thirds of the memory of
// the entries.
const fewRows = 1 << 12

// mark marks the rows that are like the row before. It returns false if the columns of a row do not ascend from at
// least 0.
func (h *matching[W]) mark() bool {
	h.low = h.first
	var last []int32
	more := int64(0) // entries of one row
	for r := h.first; r < h.end; r++ {
		at, end := h.row(r)
		idx := h.idx[at:end]
		if r > h.first && moved(last, idx) {
			h.along[r/64] |= 1 << (r % 64)
		} else {
			if r > h.first && slices.Equal(last, idx) {
				h.same[r/64] |= 1 << (r % 64)
			} else if !ascend(idx) {
				return false
			}
			before, diagonal := slices.BinarySearch(idx, int32(r))
			more = int64(len(idx) - 2*before)
			if diagonal {
				more--
			}
			if len(idx) > 0 {
				h.low = min(h.low, int(idx[0]))
			}
		}
		h.more += more
		last = idx
	}
	return true
}

// ascend reports whether columns ascend, the first at least 0.
func ascend(idx []int32) bool {
	last := int32(-1)
	for _, c := range idx {
		if c <= last {
			return false
		}
		last = c
	}
	return true
}

// moved reports whether the columns of b are those of a plus 1.
func moved(a, b []int32) bool {
	if len(a) != len(b) || len(a) > 0 && b[0] != a[0]+1 {
		return false
	}
	b = b[:len(a)]
	differ := int32(0)
	for j, c := range a {
		differ |= c + 1 - b[j]
	}
	return differ == 0
}

package cpu

import (
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
)

// isSymmetric reports whether a square matrix is symmetric, the bits of its values too, and
// all of its rows are sorted and without duplicates. border is the rows that the workers
// look at, but for the last multiples of 64. It ends soon after the first entry that says
// otherwise.
func (p *packed[V]) isSymmetric(op *kernels.Packing[V], border []int) (bool, error) {
	if mem.Size[V]() == 4 {
		return symmetricWords[V, uint32](p, op, border)
	}
	return symmetricWords[V, uint64](p, op, border)
}

// symmetricWords is isSymmetric for values of the size of a W.
func symmetricWords[V sparse.Value, W word](p *packed[V], op *kernels.Packing[V], border []int) (bool, error) {
	var no atomic.Bool
	var more atomic.Int64 // entries behind the diagonal, less those before it
	along := make([]uint64, (len(op.Ptr)+62)/64)
	val, _ := mem.Slice[W](mem.Bytes(op.Val), int64(len(op.Val)))
	all := make([]matching[W], len(p.pieces))
	err := p.each(func(i int) error {
		h := &all[i]
		*h = matching[W]{ptr: op.Ptr, idx: op.Idx, val: val, along: along, first: border[i], end: border[i+1]}
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

// fewRows is a number of rows for which there is room anyway. That for more takes no more
// than two thirds of the memory of the entries.
const fewRows = 1 << 12

type word interface{ uint32 | uint64 }

// matching compares the entries before the diagonal of rows with those behind it: of rows
// that follow each other with entries at the same distances from the diagonal together.
type matching[W word] struct {
	ptr        []int64
	idx        []int32
	val        []W
	along      []uint64 // a bit for each row: it has the distances of the row before it
	first, end int

	more int64 // entries behind the diagonal, less those before it
	low  int   // the first column
	// next is, from row low on, a place in the row that no partner of later rows lies before.
	next []int64
}

// mark finds the rows with the distances of the one before. It is false where the columns of
// a row do not ascend from 0 on.
func (h *matching[W]) mark() bool {
	h.low = h.first
	var last []int32
	more := int64(0) // of one row
	for r := h.first; r < h.end; r++ {
		at, end := h.row(r)
		idx := h.idx[at:end]
		if r > h.first && moved(last, idx) {
			h.along[r/64] |= 1 << (r % 64)
		} else {
			for k := 1; k < len(idx); k++ {
				if idx[k] <= idx[k-1] {
					return false
				}
			}
			before, diagonal := slices.BinarySearch(idx, int32(r))
			more = int64(len(idx) - 2*before)
			if diagonal {
				more--
			}
			if len(idx) > 0 {
				if idx[0] < 0 {
					return false
				}
				h.low = min(h.low, int(idx[0]))
			}
		}
		h.more += more
		last = idx
	}
	return true
}

// moved reports whether the columns of b are those of a, each plus 1.
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

// partner is the place of an entry, and how far from it that in the next row is.
type partner struct{ at, step int64 }

// match reports whether every entry before the diagonal has its partner. If there are as
// many entries behind the diagonal in all rows, these have theirs as well. It ends where
// somebody else found one without. Of rows that are alike, as are those of their partners,
// the first finds where these are, and the others go on from there.
func (h *matching[W]) match(no *atomic.Bool) bool {
	ptr, idx, val, base := h.ptr, h.idx, h.val, h.ptr[0]
	var partners []partner
	for r := h.first; r < h.end; {
		if no.Load() {
			return false
		}
		at, end := h.row(r)
		n, own := h.alike(r, h.end-r), val[at:end]
		partners = partners[:0]
		for k, c := range idx[at:end] {
			if int(c) >= r {
				break
			}
			next, behind := &h.next[int(c)-h.low], ptr[c+1]-base
			other := max(ptr[c]-base, *next)
			for other < behind && int(idx[other]) < r {
				other++
			}
			if other == behind || int(idx[other]) > r || own[k] != val[other] {
				return false
			}
			*next = other + 1
			if n > 1 {
				n = h.alike(int(c), n)
				step := ptr[c+1] - ptr[c]
				partners = append(partners, partner{other + step, step})
			}
		}
		r += n
		for ; n > 1; n-- {
			at, end = end, 2*end-at
			if !same(val[at:end], val, partners) {
				return false
			}
		}
	}
	return true
}

// row is where the entries of a row are.
func (h *matching[W]) row(r int) (at, end int64) {
	return h.ptr[r] - h.ptr[0], h.ptr[r+1] - h.ptr[0]
}

// alike counts the rows from r on that have their entries at the same distances, up to a
// number of them.
func (h *matching[W]) alike(r, most int) int {
	n := 1
	for n < most {
		at := r + n
		some := bits.TrailingZeros64(^(h.along[at/64] >> (at % 64)))
		n += some
		if some < 64-at%64 {
			break
		}
	}
	return min(n, most)
}

// same reports whether values have the same bits as their partners, which go on to the next
// row.
func same[W word](own, val []W, partners []partner) bool {
	differ := W(0)
	for k, v := range own[:len(partners)] {
		p := &partners[k]
		differ |= v ^ val[p.at]
		p.at += p.step
	}
	return differ == 0
}

package cpu

import (
	"math/bits"
	"slices"
	"sync/atomic"
)

type word interface{ uint32 | uint64 }

// matching compares the entries of rows before the diagonal with those after it. Successive rows with entries at the
// same distances from the diagonal, or in the same columns, are compared together.
type matching[W word] struct {
	ptr        []int64
	idx        []int32
	val        []W
	along      []uint64 // one bit for each row: its distances are those of the row before
	same       []uint64 // one bit for each row: its columns are those of the row before, as in dense blocks
	first, end int

	more int64 // entries after the diagonal, less those before it
	low  int   // the first column
	// next is, for each row from low on, a place in the row; no partner of later rows lies before it.
	next     []int64
	partners []partner
}

// partner is the place of an entry, and the distance to the corresponding entry of the next row.
type partner struct{ at, step int64 }

// match reports whether every entry before the diagonal has its partner. If all rows together have as many entries
// after the diagonal, these have partners as well. It ends when another worker has found an entry without a partner.
func (h *matching[W]) match(no *atomic.Bool) bool {
	for r := h.first; r < h.end; {
		if no.Load() {
			return false
		}
		n, ok := alike(h.same, r, h.end-r), false
		if n > 1 {
			ok = h.matchSame(r, n)
		} else {
			n, ok = h.matchAlong(r)
		}
		if !ok {
			return false
		}
		r += n
	}
	return true
}

// matchAlong compares row r and the following rows whose entries, and whose partners, lie at the same distances. It
// finds the partners of the first row and steps from them to those of the others.
func (h *matching[W]) matchAlong(r int) (n int, ok bool) {
	at, end := h.row(r)
	n, h.partners = alike(h.along, r, h.end-r), h.partners[:0]
	own := h.val[at:end]
	for k, c := range h.idx[at:end] {
		if int(c) >= r {
			break
		}
		other, ok := h.find(int(c), r)
		if !ok || own[k] != h.val[other] {
			return 0, false
		}
		if n > 1 {
			n = alike(h.along, int(c), n)
			step := h.ptr[c+1] - h.ptr[c]
			h.partners = append(h.partners, partner{other + step, step})
		}
	}
	for range n - 1 {
		at, end = end, 2*end-at
		if !equal(h.val[at:end], h.val, h.partners) {
			return 0, false
		}
	}
	return n, true
}

// equal reports whether values have the same bits as their partners, and steps the partners to the next row.
func equal[W word](own, val []W, partners []partner) bool {
	differ := W(0)
	for k, v := range own[:len(partners)] {
		p := &partners[k]
		differ |= v ^ val[p.at]
		p.at += p.step
	}
	return differ == 0
}

// matchSame compares n rows from r on that have the same columns. One place leads to the partners in a column of all
// these rows, and to the partners in the following columns whose rows have the same columns, too.
func (h *matching[W]) matchSame(r, n int) bool {
	at, end := h.row(r)
	idx, width := h.idx[at:end], end-at
	k := 0
	for k < len(idx) && int(idx[k]) < r {
		c := int(idx[k])
		other, ok := h.find(c, r)
		if !ok || !follow(h.idx[other:h.ptr[c+1]-h.ptr[0]], n) {
			return false
		}
		m, most := 1, alike(h.same, c, min(len(idx)-k, r-c))
		for m < most && int(idx[k+m]) == c+m {
			m++
		}
		differ := W(0)
		for j := range m {
			for i, v := range h.val[other:][:n] {
				differ |= v ^ h.val[at+int64(i)*width+int64(k+j)]
			}
			h.next[c+j-h.low] = other + int64(n)
			other += h.ptr[c+1] - h.ptr[c]
		}
		if differ != 0 {
			return false
		}
		k += m
	}
	return h.matchAmong(r, n, k)
}

// matchAmong compares entries of n rows from r on, which have the same columns, with entries of the same rows. k is
// the first entry in such a column.
func (h *matching[W]) matchAmong(r, n, k int) bool {
	at, end := h.row(r)
	idx, width := h.idx[at:end], end-at
	for ; k < len(idx) && int(idx[k]) < r+n; k++ {
		row := int(idx[k]) - r
		rest := n - row
		if !follow(idx[k:], rest) {
			return false
		}
		behind := h.val[at+int64(row)*width+int64(k):][:rest]
		for i, v := range behind {
			if v != h.val[at+int64(row+i)*width+int64(k)] {
				return false
			}
		}
	}
	return true
}

// follow reports whether there are n columns and the first n are consecutive.
func follow(idx []int32, n int) bool {
	return n <= len(idx) && int(idx[n-1]-idx[0]) == n-1
}

// find returns the place of the entry in row c and column r; ok is false if there is none.
func (h *matching[W]) find(c, r int) (place int64, ok bool) {
	const near = 16 // the last entries are compared one by one
	next, end := &h.next[c-h.low], h.ptr[c+1]-h.ptr[0]
	place = max(h.ptr[c]-h.ptr[0], *next)
	for stop := min(place+near, end); place < stop && int(h.idx[place]) < r; {
		place++
	}
	if place < end && int(h.idx[place]) < r {
		n, _ := slices.BinarySearch(h.idx[place:end], int32(r))
		place += int64(n)
	}
	*next = place + 1
	return place, place < end && int(h.idx[place]) == r
}

// row returns the places of the entries of a row.
func (h *matching[W]) row(r int) (at, end int64) {
	return h.ptr[r] - h.ptr[0], h.ptr[r+1] - h.ptr[0]
}

// alike counts the rows from r on that are alike: row r and the following rows whose bit is set, up to most rows.
func alike(set []uint64, r, most int) int {
	n := 1
	for n < most {
		at := r + n
		some := bits.TrailingZeros64(^(set[at/64] >> (at % 64)))
		n += some
		if some < 64-at%64 {
			break
		}
	}
	return min(n, most)
}

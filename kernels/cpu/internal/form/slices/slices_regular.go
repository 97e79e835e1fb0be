package slices

import (
	"math"
	"slices"

	"github.com/msrep-go/msrep/sparse"
)

// reordered has the first entries of the rows of a slice, or all of a piece, in another order.
type reordered[V sparse.Value] struct {
	entries[V]            // row after row, if of a slice
	rest       entries[V] // scratch
	order      []int      // columns of a slice, consecutive ones first
}

// entries is a number of entries.
type entries[V sparse.Value] struct {
	idx []int32
	val []V
}

// makeRoom sets the length to n.
func (e *entries[V]) makeRoom(n int) {
	e.idx, e.val = slices.Grow(e.idx[:0], n)[:n], slices.Grow(e.val[:0], n)[:n]
}

// cut returns the entries k <= i < k+n.
func (e *entries[V]) cut(k, n int) entries[V] { return entries[V]{e.idx[k:][:n], e.val[k:][:n]} }

// copy copies from to the entries from k on and returns the index after them.
func (e *entries[V]) copy(k int, from entries[V]) int {
	copy(e.idx[k:], from.idx)
	return k + copy(e.val[k:], from.val)
}

// regularize moves to the front, among the first n entries of the rows, those that make columns for
// which consecutive elements of x are loaded at once. It sets the two numbers of the slice; see
// simd.Slices. If it returns true, the entries are in b.reordered; otherwise they have not moved.
func (b *sliceFiller[V]) regularize(rows []uint16, n int, regular []uint16) bool {
	t := &b.reordered
	consecutive, moved := b.findConsecutive(rows, n)
	if moved {
		b.reorder(rows, n)
	} else {
		t.makeRoom(n * len(rows))
	}
	regular[0], regular[1] = uint16(consecutive), 0
	pairs := math.MaxUint16
	for lane, r := range rows {
		to, at := t.cut(lane*n, n), b.start(r)
		from := entries[V]{b.idx[at:][:n], b.val[at:][:n]}
		if moved {
			t.rest.makeRoom(n)
			t.rest.copy(0, to)
			from = t.rest
		}
		if pairs = min(pairs, to.pairsFirst(from, consecutive)); fewPairs*pairs < n {
			return moved
		}
	}
	regular[1] = uint16(pairs)
	return true
}

// fewPairs is the ratio of columns to pairs of columns of a slice above which the pairs are not
// worth a loop of their own.
const fewPairs = 8

// findConsecutive returns how many of the first n columns of a slice are consecutive: the index in
// lane i is that in lane 0 plus i. If other columns are before them it sets moved and
// b.reordered.order, which has the consecutive columns first.
func (b *sliceFiller[V]) findConsecutive(rows []uint16, n int) (found int, moved bool) {
	t := &b.reordered
	t.order = t.order[:0]
	head, next := b.idx[b.start(rows[0]):][:n], b.idx[b.start(rows[1]):][:n]
	for j, c := range next {
		if c == head[j]+1 && len(t.order) < math.MaxUint16 && b.isConsecutive(rows[1:], j) {
			t.order = append(t.order, j)
		}
	}
	found = len(t.order)
	if found == 0 || t.order[found-1] == found-1 {
		return found, false
	}
	for j, next := 0, 0; j < n; j++ {
		if next < found && t.order[next] == j {
			next++
		} else {
			t.order = append(t.order, j)
		}
	}
	return found, true
}

// reorder copies the first n entries of the rows to b.reordered, in its order.
func (b *sliceFiller[V]) reorder(rows []uint16, n int) {
	t := &b.reordered
	t.makeRoom(n * len(rows))
	for lane, r := range rows {
		idx, val, to := b.idx[b.start(r):], b.val[b.start(r):], t.cut(lane*n, n)
		for i, j := range t.order {
			to.idx[i], to.val[i] = idx[j], val[j]
		}
	}
}

// isConsecutive reports whether the j-th entries of the rows are in consecutive columns.
func (b *sliceFiller[V]) isConsecutive(rows []uint16, j int) bool {
	first := b.idx[b.start(rows[0])+int64(j)]
	for lane, r := range rows[1:] {
		if b.idx[b.start(r)+int64(j)] != first+int32(lane)+1 {
			return false
		}
	}
	return true
}

// oneIfPair returns 1 if b is a+1, and 0 otherwise.
func oneIfPair(a, b int32) (one int) {
	if b == a+1 {
		one = 1
	}
	return one
}

// pairsFirst copies the first entries, then all pairs among the others, then the rest in reverse
// order. The columns of a pair are consecutive. It returns the number of pairs. It does not branch
// on columns, because such branches would be unpredictable.
func (e *entries[V]) pairsFirst(from entries[V], first int) (pairs int) {
	copy(e.idx, from.idx[:first])
	copy(e.val, from.val[:first])
	n := len(from.idx)
	if first == n {
		return 0
	}
	idx, val := from.idx[first:n], from.val[first:n]
	at, left, second := first, n-1, 0
	for i, c := range idx[:len(idx)-1] {
		pair := oneIfPair(c, idx[i+1]) &^ second
		one := pair | second
		k := left ^ (left^at)&-one
		e.idx[k], e.val[k] = c, val[i]
		at, left, second = at+one, left-1+one, pair
	}
	e.idx[at], e.val[at] = idx[len(idx)-1], val[len(idx)-1] // the only slot that is left
	return (at + second - first) / 2
}

// regularizePiece reorders the first columns of a piece, n entries each, like regularize:
// consecutive columns first, then pairs. The entries that it returns are valid until the next call.
func (t *reordered[V]) regularizePiece(all entries[V], n, columns int, regular []uint16) entries[V] {
	t.makeRoom(len(all.idx))
	t.rest.makeRoom(len(all.idx))
	consecutive, rest := 0, 0
	for k := 0; k < n*columns; k += n {
		if column := all.cut(k, n); allConsecutive(column.idx) {
			consecutive = t.copy(consecutive, column)
		} else {
			rest = t.rest.copy(rest, column)
		}
	}
	others, to := t.rest.cut(0, rest), t.cut(consecutive, rest)
	pairs := to.pairsFirst(others, 0) / n
	regular[0], regular[1] = uint16(consecutive/n), uint16(pairs)
	found := others.cut(0, 2*n*pairs)
	found.copy(0, to.cut(0, 2*n*pairs))
	for k := range n * pairs {
		at := k/n*2*n + k%n
		to.idx[at], to.val[at] = found.idx[2*k], found.val[2*k]
		to.idx[at+n], to.val[at+n] = found.idx[2*k+1], found.val[2*k+1]
	}
	t.copy(n*columns, all.cut(n*columns, len(all.idx)-n*columns))
	return t.entries
}

// allConsecutive reports whether the columns are consecutive.
func allConsecutive(idx []int32) bool {
	for i, c := range idx {
		if c != idx[0]+int32(i) {
			return false
		}
	}
	return true
}

// keepRegular returns nil if the slices have fewer than one consecutive column or pair per two
// slices, because testing for them takes time for each slice.
func keepRegular(regular []uint16) []uint16 {
	sum := 0
	for _, n := range regular {
		sum += int(n)
	}
	if 4*sum < len(regular) {
		return nil
	}
	return regular
}

package form

import (
	"math"
	"slices"

	"github.com/msrep-go/msrep/sparse"
)

// turned is the first entries of the rows of a slice, or all of a piece, in another order.
type turned[V sparse.Value] struct {
	entries[V]            // of a slice row after row
	rest       entries[V] // scratch
	order      []int      // the columns of a slice, the straight ones first
}

// entries is some entries.
type entries[V sparse.Value] struct {
	idx []int32
	val []V
}

// makeRoom makes room for n entries.
func (e *entries[V]) makeRoom(n int) {
	e.idx, e.val = slices.Grow(e.idx[:0], n)[:n], slices.Grow(e.val[:0], n)[:n]
}

// cut is n entries from place k on.
func (e *entries[V]) cut(k, n int) entries[V] { return entries[V]{e.idx[k:][:n], e.val[k:][:n]} }

// copy copies entries to place k on, and gives the place behind them.
func (e *entries[V]) copy(k int, from entries[V]) int {
	copy(e.idx[k:], from.idx)
	return k + copy(e.val[k:], from.val)
}

// regularize puts those of the first n entries of these rows first that make columns for which x is
// loaded at once, and sets the two numbers of a slice; see simd.Slices. The entries are in turned if
// it reports that it put them anywhere else.
func (b *sliceFiller[V]) regularize(rows []uint16, n int, regular []uint16) bool {
	t := &b.turned
	straight, moved := b.findStraight(rows, n)
	if moved {
		b.straighten(rows, n)
	} else {
		t.makeRoom(n * len(rows))
	}
	regular[0], regular[1] = uint16(straight), 0
	pairs := math.MaxUint16
	for lane, r := range rows {
		to, at := t.cut(lane*n, n), b.start(r)
		from := entries[V]{b.idx[at:][:n], b.val[at:][:n]}
		if moved {
			t.rest.makeRoom(n)
			t.rest.copy(0, to)
			from = t.rest
		}
		if pairs = min(pairs, to.pairsFirst(from, straight)); fewPairs*pairs < n {
			return moved
		}
	}
	regular[1] = uint16(pairs)
	return true
}

// fewPairs is how many times as many columns a slice has where its pairs are too few to look for them
// when it is multiplied.
const fewPairs = 8

// findStraight finds those of the first n columns of a slice with these rows whose indices follow each
// other from lane to lane, and how many they are. Where others are before them it reports that, and
// sets the order of turned.
func (b *sliceFiller[V]) findStraight(rows []uint16, n int) (found int, moved bool) {
	t := &b.turned
	t.order = t.order[:0]
	head, next := b.idx[b.start(rows[0]):][:n], b.idx[b.start(rows[1]):][:n]
	for j, c := range next {
		if c == head[j]+1 && len(t.order) < math.MaxUint16 && b.isStraight(rows[1:], j) {
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

// straighten puts the first n entries of these rows to turned, in its order.
func (b *sliceFiller[V]) straighten(rows []uint16, n int) {
	t := &b.turned
	t.makeRoom(n * len(rows))
	for lane, r := range rows {
		idx, val, to := b.idx[b.start(r):], b.val[b.start(r):], t.cut(lane*n, n)
		for i, j := range t.order {
			to.idx[i], to.val[i] = idx[j], val[j]
		}
	}
}

// isStraight reports whether the j-th entry of each row is in the column behind that of the row before.
func (b *sliceFiller[V]) isStraight(rows []uint16, j int) bool {
	first := b.idx[b.start(rows[0])+int64(j)]
	for lane, r := range rows[1:] {
		if b.idx[b.start(r)+int64(j)] != first+int32(lane)+1 {
			return false
		}
	}
	return true
}

// oneIfPair is 1 where b is the column behind a, and otherwise 0.
func oneIfPair(a, b int32) (one int) {
	if b == a+1 {
		one = 1
	}
	return one
}

// pairsFirst puts the first entries, then the pairs among those behind, of which the second one is in
// the column behind that of the first, then what is left, from the last to the first. It gives the
// number of pairs. Which they are cannot be foreseen: it does not branch.
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
	e.idx[at], e.val[at] = idx[len(idx)-1], val[len(idx)-1] // to the one place that is left
	return (at + second - first) / 2
}

// regularizePiece puts those of the first columns of a piece, n entries each, before the others for
// which x is loaded at once: straight ones, then pairs, as regularize does. It gives all entries, which
// hold until the next call.
func (t *turned[V]) regularizePiece(all entries[V], n, columns int, regular []uint16) entries[V] {
	t.makeRoom(len(all.idx))
	t.rest.makeRoom(len(all.idx))
	straight, rest := 0, 0
	for k := 0; k < n*columns; k += n {
		if column := all.cut(k, n); rises(column.idx) {
			straight = t.copy(straight, column)
		} else {
			rest = t.rest.copy(rest, column)
		}
	}
	others, to := t.rest.cut(0, rest), t.cut(straight, rest)
	pairs := to.pairsFirst(others, 0) / n
	regular[0], regular[1] = uint16(straight/n), uint16(pairs)
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

// rises reports whether each column is the one behind that before it.
func rises(idx []int32) bool {
	for i, c := range idx {
		if c != idx[0]+int32(i) {
			return false
		}
	}
	return true
}

// keepRegular forgets which columns are straight and which are pairs where there is fewer than one for
// two slices, as to look takes time for each slice.
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

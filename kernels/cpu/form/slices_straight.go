package form

import (
	"math"
	"slices"

	"github.com/msrep-go/msrep/sparse"
)

// turned is the first entries of the rows of a slice, in another order.
type turned[V sparse.Value] struct {
	idx   []int32 // row after row
	val   []V
	order []int // the columns of the slice as they follow
}

// straighten finds those of the first n columns of a slice with these rows whose indices follow each
// other from lane to lane: x is then loaded at once. It sets their number, and puts them before the
// others in turned where they are not; it reports whether it did.
func (b *sliceFiller[V]) straighten(rows []uint16, n int, number *uint16) bool {
	t := &b.turned
	t.order = t.order[:0]
	head, next := b.idx[b.start(rows[0]):][:n], b.idx[b.start(rows[1]):][:n]
	for j, c := range next {
		if c == head[j]+1 && len(t.order) < math.MaxUint16 && b.isStraight(rows[1:], j) {
			t.order = append(t.order, j)
		}
	}
	found := len(t.order)
	*number = uint16(found)
	if found == 0 || t.order[found-1] == found-1 {
		return false
	}
	for j, next := 0, 0; j < n; j++ {
		if next < found && t.order[next] == j {
			next++
		} else {
			t.order = append(t.order, j)
		}
	}
	t.idx, t.val = slices.Grow(t.idx[:0], n*len(rows)), slices.Grow(t.val[:0], n*len(rows))
	for _, r := range rows {
		idx, val := b.idx[b.start(r):], b.val[b.start(r):]
		for _, j := range t.order {
			t.idx, t.val = append(t.idx, idx[j]), append(t.val, val[j])
		}
	}
	return true
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

// straightenPiece puts those of the first columns of a piece, n entries each, before the others whose
// entries are in columns that follow each other. It gives all entries, which hold until the next call,
// and the number of those columns.
func (t *turned[V]) straightenPiece(idx []int32, val []V, n, columns int) ([]int32, []V, uint16) {
	t.idx, t.val = t.idx[:0], t.val[:0]
	number := 0
	for _, straight := range []bool{true, false} {
		for k := 0; k < n*columns; k += n {
			if rises(idx[k:k+n]) == straight {
				t.idx, t.val = append(t.idx, idx[k:k+n]...), append(t.val, val[k:k+n]...)
			}
		}
		if straight {
			number = len(t.idx) / n
		}
	}
	return append(t.idx, idx[n*columns:]...), append(t.val, val[n*columns:]...), uint16(number)
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

// keepStraight forgets which columns are straight where there are fewer than one for two slices, as
// to look takes time for each slice.
func keepStraight(straight []uint16) []uint16 {
	sum := 0
	for _, n := range straight {
		sum += int(n)
	}
	if 2*sum < len(straight) {
		return nil
	}
	return straight
}

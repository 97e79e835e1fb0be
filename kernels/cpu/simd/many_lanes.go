package simd

import (
	"unsafe"

	"github.com/msrep-go/msrep/sparse"
)

// Expansion is a buffer for expanded values. The zero value is empty. At most one goroutine uses it
// at a time.
type Expansion[V sparse.Value] struct{ val []V }

// expandedColumns is the number of columns that are expanded at a time, unless a slice has more.
// Their indices and values stay in the first-level cache.
const expandedColumns = 128

// full returns n columns of values from column c on, as stored or expanded. For each column that it
// expands it prefetches prefetchBytes bytes of the values after them.
func (e *Expansion[V]) full(l Level, v *Values[V], c, n, prefetchBytes int) []V {
	from, end := c*v.Lanes, (c+n)*v.Lanes
	if v.Storage == Full {
		return v.Full[from:end]
	}
	if len(e.val) < end-from {
		e.val = make([]V, max(end-from, expandedColumns*v.Lanes))
		if v.Storage == Same {
			for i := range e.val {
				e.val[i] = v.Table[0]
			}
		}
	}
	out := e.val[:end-from]
	switch {
	case v.Storage == Same || n == 0:
	case l == Generic:
		v.expand(from, out)
	default:
		forType[*expandTable[V]](expandTables)[l-AVX2][v.Storage](n, v.from(c), v.table(c), unsafe.SliceData(out), v.address(c+n), prefetchBytes)
	}
	return out
}

// expandTable has kernels by Level-AVX2 and Storage. For each column they prefetch step bytes from
// next on.
type expandTable[V sparse.Value] [2][storages]func(n int, val *byte, table, out *V, next uintptr, step int)

// MultiplySlicesMany multiplies n slices from position at on by x.Cols vectors at once, the columns
// of x and y: with row = order[s*Lanes + lane],
//
//	y[row][j] = alpha * sum over the entries k of lane of slice s of val[k]*x[idx[k]][j] + beta*y[row][j]
//
// Lanes after the end of order have no row; rows of order after the slices have no entries. beta =
// 0 does not read y. stream, which requires beta = 0 and y.Streams, writes y past the caches: Fence
// must follow. The slices must have the Lanes of the level, unless it is Generic. Indices and rows
// are not checked.
func MultiplySlicesMany[V sparse.Value](l Level, s *Slices[V], at Position, n int, alpha, beta V, x MultiVector[V], order []uint16, y MultiVector[V], stream bool, e *Expansion[V]) {
	lanes := s.Values.Lanes
	n = min(n, (len(order)+lanes-1)/lanes)
	if n*lanes < len(order) {
		scaleRows(l, lanes, beta, order[n*lanes:], y, stream)
	}
	s.multiplyMany(l, at, n, alpha, beta, x, order, false, y, stream, e)
}

// AddSlicesMany adds all lanes of a slice to one row of y, for len(rows) slices from position at
// on:
//
//	y[rows[s]][j] += alpha * sum over the entries k of slice s of val[k]*x[idx[k]][j]
//
// There are at most AddedAtOnce slices. Level, indices and e are those of MultiplySlicesMany.
func AddSlicesMany[V sparse.Value](l Level, s *Slices[V], at Position, alpha V, x MultiVector[V], rows []uint16, y MultiVector[V], e *Expansion[V]) {
	var order [AddedAtOnce * 16]uint16
	lanes := s.Values.Lanes
	for i := range order[:len(rows)*lanes] {
		order[i] = rows[i/lanes]
	}
	s.multiplyMany(l, at, len(rows), alpha, 1, x, order[:len(rows)*lanes], true, y, false, e)
}

// AddedAtOnce is the greatest number of slices of AddSlicesMany.
const AddedAtOnce = 32

// multiplyMany is MultiplySlicesMany for slices with rows, or AddSlicesMany if one is true.
func (s *Slices[V]) multiplyMany(l Level, at Position, n int, alpha, beta V, x MultiVector[V], order []uint16, one bool, y MultiVector[V], stream bool, e *Expansion[V]) {
	lanes := s.Values.Lanes
	full := s.Values.Storage == Full
	for n > 0 {
		count, end := n, at
		if !full || y.panels(l) > 1 {
			count, end = s.fewColumns(at, n)
		}
		shape := manyShape[V]{
			n: count, widths: s.Widths[2*at.Slice : 2*(at.Slice+count)], masks: s.Masks[at.Mask:], lanes: lanes, order: order, near: s.Near, one: one,
		}
		if full {
			shape.val = s.Values.Full[at.Column*lanes:]
		} else {
			shape.val = e.full(l, &s.Values, at.Column, end.Column-at.Column, 0)
		}
		if s.Narrow != nil {
			shape.narrow = s.Narrow[at.Column*lanes:]
		} else {
			shape.wide = s.Wide[at.Column*lanes:]
		}
		shape.multiply(l, alpha, beta, x, y, stream)
		order = order[min(count*lanes, len(order)):]
		at, n = end, n-count
	}
}

// scaleRows computes y[row] = beta*y[row] for the rows of order, as slices without columns.
func scaleRows[V sparse.Value](l Level, lanes int, beta V, order []uint16, y MultiVector[V], stream bool) {
	for len(order) > 0 {
		n := min(len(noColumns)/2*lanes, len(order))
		s := manyShape[V]{n: (n + lanes - 1) / lanes, widths: noColumns[:], lanes: lanes, order: order[:n]}
		s.multiply(l, 0, beta, y, y, stream)
		order = order[n:]
	}
}

// noColumns is the widths of slices without columns.
var noColumns [256]uint32

// fewColumns returns how many of n slices from position at on have at most expandedColumns columns
// in all, at least 1, and the position after them.
func (s *Slices[V]) fewColumns(at Position, n int) (count int, end Position) {
	for end = at; count < n; count++ {
		full, masked := int(s.Widths[2*end.Slice]), int(s.Widths[2*end.Slice+1])
		next := Position{end.Slice + 1, end.Column + full + masked, end.Mask + masked}
		if count > 0 && next.Column-at.Column > expandedColumns {
			break
		}
		end = next
	}
	return count, end
}

// successive is the order of successive rows.
var successive = func() (order [1024]uint16) {
	for i := range order {
		order[i] = uint16(i)
	}
	return order
}()

// manyShape is slices of rows: lane i of a slice has the entries of row order[i].
type manyShape[V sparse.Value] struct {
	n      int
	lanes  int
	widths []uint32 // full and masked columns of each slice; the same for all slices of diagonals
	masks  []uint16
	order  []uint16
	near   bool // Near of Slices
	one    bool // all lanes of a slice are one row, and beta is 1
	// One of these has the columns: as in Slices, followed by those of later slices, or as in
	// Diagonals for rows from row on.
	narrow   []uint16
	wide     []int32
	diagonal bool
	offsets  []int64
	row      int
	// One of these has the values; constants has one for each offset.
	val, constants []V
}

// multiply is MultiplySlicesMany for the slices of the shape.
func (s *manyShape[V]) multiply(l Level, alpha, beta V, x, y MultiVector[V], stream bool) {
	if len(s.order) == 0 {
		return
	}
	if l == Generic {
		s.generic(alpha, beta, x, y)
		return
	}
	lanes := registerBytes(l) / int(unsafe.Sizeof(alpha))
	for c := 0; c < y.Cols; c += manyVectors * lanes {
		w := min(manyVectors*lanes, y.Cols-c)
		s.assembly(l, alpha, beta, x.Columns(c, w), y.Columns(c, w), stream)
	}
}

// panels returns how often the kernels read the entries. If it is more than once, few slices are
// multiplied at a time, so that they and their elements of x stay in the caches.
func (b MultiVector[V]) panels(l Level) int {
	width := SlicedAtOnce[V](l)
	return (b.Cols + width - 1) / width
}

// manyVectors is the number of registers of columns that the kernels sum at once.
const manyVectors = 2

// SlicedAtOnce returns the number of vectors that MultiplySlicesMany multiplies at once.
func SlicedAtOnce[V sparse.Value](l Level) int {
	return manyVectors * registerBytes(l) / int(unsafe.Sizeof(*new(V)))
}

// generic is multiply in plain Go.
func (s *manyShape[V]) generic(alpha, beta V, x, y MultiVector[V]) {
	k, mask := 0, 0
	for i := range s.n {
		w := s.widths
		if !s.diagonal {
			w = w[2*i:]
		}
		full, columns := int(w[0]), int(w[0]+w[1])
		for lane := range min(s.lanes, len(s.order)-i*s.lanes) {
			out := y.From(int(s.order[i*s.lanes+lane])).Val[:y.Cols]
			for c := 0; c < len(out); c += 4 {
				var sum [4]V
				width := min(4, len(out)-c)
				for j := range columns {
					if j >= full && s.masks[mask+j-full]>>lane&1 == 0 {
						continue
					}
					from, v := s.entry(i, j, k+j*s.lanes+lane, lane)
					for q, xq := range x.Val[from*x.Stride+c:][:width] {
						sum[q] += v * xq
					}
				}
				for q, v := range sum[:width] {
					v *= alpha
					if beta != 0 {
						v += beta * out[c+q]
					}
					out[c+q] = v
				}
			}
		}
		k += columns * s.lanes
		mask += columns - full
	}
}

// entry returns the row of x and the value of entry k, which is in column j of a lane of slice i.
func (s *manyShape[V]) entry(i, j, k, lane int) (from int, v V) {
	switch {
	case s.wide != nil:
		return int(s.wide[k]), s.val[k]
	case !s.diagonal:
		return int(s.narrow[k]), s.val[k]
	}
	from = s.row + i*s.lanes + lane + int(s.offsets[j])
	if s.constants != nil {
		return from, s.constants[j]
	}
	return from, s.val[k]
}

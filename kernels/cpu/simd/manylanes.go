package simd

import (
	"unsafe"

	"github.com/msrep-go/msrep/sparse"
)

// Expansion is room for values that are stored in fewer bytes, at full length. The
// zero value is empty; it is used by one goroutine at a time.
type Expansion[V sparse.Value] struct{ val []V }

// expandedColumns is how many columns are expanded at a time where a slice has no
// more: their indices and values stay in the nearest cache.
const expandedColumns = 128

// full gives n columns of values as they are, from column c on: where they lie, or
// expanded. While it expands them it asks for so many bytes of those behind for each column.
func (e *Expansion[V]) full(l Level, v *Values[V], c, n, asks int) []V {
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
		of[*expandTable[V]](expandTables)[l-AVX2][v.Storage](n, v.from(c), v.table(c), unsafe.SliceData(out), v.address(c+n), asks)
	}
	return out
}

// expandTable is kernels by Level-AVX2 and Storage. They ask for step bytes from next on for
// each column.
type expandTable[V sparse.Value] [2][storages]func(n int, val *byte, table, out *V, next uintptr, step int)

// MultiplySlicesMany multiplies n slices from a position on by x.Cols vectors at
// once, the columns of x and y: with row = order[s*Lanes + lane],
//
//	y[row][j] = alpha * sum over the entries k of lane of slice s of val[k]*x[idx[k]][j] + beta*y[row][j]
//
// Lanes beyond order have no row, and rows of order beyond the slices no entries. beta = 0 does not read y.
// With stream, which needs beta = 0 and what MultiVector.Streams says, y is written around the caches: Fence must
// follow. The level must be the one whose Lanes the slices have, or Generic. Indices are not checked,
// nor are rows.
func MultiplySlicesMany[V sparse.Value](l Level, s *Slices[V], at Position, n int, alpha, beta V, x MultiVector[V], order []uint16, y MultiVector[V], stream bool, e *Expansion[V]) {
	lanes := s.Values.Lanes
	n = min(n, (len(order)+lanes-1)/lanes)
	if n*lanes < len(order) {
		scaleRows(l, lanes, beta, order[n*lanes:], y, stream)
	}
	s.multiplyMany(l, at, n, alpha, beta, x, order, false, y, stream, e)
}

// AddSlicesMany adds all lanes of a slice to one row of y, for slices from a position on, as many as rows:
//
//	y[rows[s]][j] += alpha * sum over the entries k of slice s of val[k]*x[idx[k]][j]
//
// At most AddedAtOnce slices are added by one call. Level, indices and e are those of MultiplySlicesMany.
func AddSlicesMany[V sparse.Value](l Level, s *Slices[V], at Position, alpha V, x MultiVector[V], rows []uint16, y MultiVector[V], e *Expansion[V]) {
	var order [AddedAtOnce * 16]uint16
	lanes := s.Values.Lanes
	for i := range order[:len(rows)*lanes] {
		order[i] = rows[i/lanes]
	}
	s.multiplyMany(l, at, len(rows), alpha, 1, x, order[:len(rows)*lanes], true, y, false, e)
}

// AddedAtOnce is how many slices AddSlicesMany adds.
const AddedAtOnce = 32

// multiplyMany is MultiplySlicesMany for slices all of which have rows, and with one AddSlicesMany.
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

// scaleRows is y[row] = beta*y[row] for the rows of order, as slices without columns.
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

// fewColumns is how many of n slices from a position on have few columns together, one at least, and where they end.
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

// successive is the order of rows that follow each other.
var successive = func() (order [1024]uint16) {
	for i := range order {
		order[i] = uint16(i)
	}
	return order
}()

// manyShape is slices of rows: the entries of lane i of a slice are those of row
// order[i].
type manyShape[V sparse.Value] struct {
	n      int
	lanes  int
	widths []uint32 // full columns and masked ones, for each slice; of diagonals the same for all
	masks  []uint16
	order  []uint16
	near   bool // see Slices
	one    bool // all lanes of a slice are one row, and beta is 1
	// One of these has the columns: as in Slices, with those of later slices behind, or
	// as in Diagonals for rows from row on.
	narrow   []uint16
	wide     []int32
	diagonal bool
	offsets  []int64
	row      int
	// One of these has the values; constants are one for each offset.
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

// panels is how many times the kernels go over the entries: slices are then few at a
// time, so that they and what they need of x are found in the caches again.
func (b MultiVector[V]) panels(l Level) int {
	width := SlicedAtOnce[V](l)
	return (b.Cols + width - 1) / width
}

// manyVectors is how many registers of columns the kernels sum at once.
const manyVectors = 2

// SlicedAtOnce is how many vectors MultiplySlicesMany multiplies at once.
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

// entry is the row of x and the value of entry k, in column j of a lane of slice i.
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

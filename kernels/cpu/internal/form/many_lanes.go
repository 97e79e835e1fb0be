package form

import (
	"unsafe"

	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/sparse"
)

// Expansion is a buffer for expanded values. The zero value is empty. At most one goroutine uses it
// at a time.
type Expansion[V sparse.Value] struct{ val []V }

// ExpandedColumns is the number of columns that are expanded at a time, unless a slice has more.
// Their indices and values stay in the first-level cache.
const ExpandedColumns = 128

// Full returns n columns of values from column c on, as stored or expanded. For each column that it
// expands it prefetches prefetchBytes bytes of the values after them.
func (e *Expansion[V]) Full(l simd.Level, v *Values[V], c, n, prefetchBytes int) []V {
	from, end := c*v.Lanes, (c+n)*v.Lanes
	if v.Storage == Full {
		return v.Full[from:end]
	}
	if len(e.val) < end-from {
		e.val = make([]V, max(end-from, ExpandedColumns*v.Lanes))
		if v.Storage == Same {
			for i := range e.val {
				e.val[i] = v.Table[0]
			}
		}
	}
	out := e.val[:end-from]
	switch {
	case v.Storage == Same || n == 0:
	case l < simd.AVX2:
		v.Expand(from, out)
	default:
		a := &v.args
		*a = expandArgs[V]{n, v.From(c), v.TableAt(c), unsafe.SliceData(out), v.Address(c + n), prefetchBytes}
		simd.ForType[*expandTable[V]](expandTables)[l-simd.AVX2][v.Storage](a)
		*a = expandArgs[V]{} // the values keep no buffer
	}
	return out
}

// expandTable has kernels by Level-AVX2 and Storage.
type expandTable[V sparse.Value] [2][Storages]func(*expandArgs[V])

// Successive is the order of successive rows.
var Successive = func() (order [1024]uint16) {
	for i := range order {
		order[i] = uint16(i)
	}
	return order
}()

// ManyShape is slices of rows: lane i of a slice has the entries of row order[i].
type ManyShape[V sparse.Value] struct {
	N      int
	Lanes  int
	Widths []uint32 // full and masked columns of each slice; the same for all slices of diagonals
	Masks  []uint16
	Order  []uint16
	Near   bool // Near of Slices
	One    bool // all lanes of a slice are one row, and beta is 1
	// One of these has the columns: as in Slices, followed by those of later slices, or as in
	// Diagonals for rows from row on.
	Narrow   []uint16
	Wide     []int32
	Diagonal bool
	Offsets  []int64
	Row      int
	// One of these has the values; constants has one for each offset.
	Val, Constants []V
	Args           *ManyArgs[V] // of the form; nothing is kept there
}

// Multiply is MultiplySlicesMany for the slices of the shape.
func (s *ManyShape[V]) Multiply(l simd.Level, alpha, beta V, x, y MultiVector[V], stream bool) {
	if len(s.Order) == 0 {
		return
	}
	if l < simd.AVX2 {
		s.generic(alpha, beta, x, y)
		return
	}
	lanes := simd.RegisterBytes(l) / int(unsafe.Sizeof(alpha))
	for c := 0; c < y.Cols; c += manyVectors * lanes {
		w := min(manyVectors*lanes, y.Cols-c)
		s.assembly(l, alpha, beta, x.Columns(c, w), y.Columns(c, w), stream)
	}
}

// Panels returns how often the kernels read the entries. If it is more than once, few slices are
// multiplied at a time, so that they and their elements of x stay in the caches.
func (b MultiVector[V]) Panels(l simd.Level) int {
	width := SlicedAtOnce[V](l)
	return (b.Cols + width - 1) / width
}

// manyVectors is the number of registers of columns that the kernels sum at once.
const manyVectors = 2

// SlicedAtOnce returns the number of vectors that MultiplySlicesMany multiplies at once.
func SlicedAtOnce[V sparse.Value](l simd.Level) int {
	return manyVectors * simd.RegisterBytes(l) / int(unsafe.Sizeof(*new(V)))
}

// generic is multiply in plain Go.
func (s *ManyShape[V]) generic(alpha, beta V, x, y MultiVector[V]) {
	k, mask := 0, 0
	for i := range s.N {
		w := s.Widths
		if !s.Diagonal {
			w = w[2*i:]
		}
		full, columns := int(w[0]), int(w[0]+w[1])
		for lane := range min(s.Lanes, len(s.Order)-i*s.Lanes) {
			out := y.From(int(s.Order[i*s.Lanes+lane])).Val[:y.Cols]
			for c := 0; c < len(out); c += 4 {
				var sum [4]V
				width := min(4, len(out)-c)
				for j := range columns {
					if j >= full && s.Masks[mask+j-full]>>lane&1 == 0 {
						continue
					}
					from, v := s.entry(i, j, k+j*s.Lanes+lane, lane)
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
		k += columns * s.Lanes
		mask += columns - full
	}
}

// entry returns the row of x and the value of entry k, which is in column j of a lane of slice i.
func (s *ManyShape[V]) entry(i, j, k, lane int) (from int, v V) {
	switch {
	case s.Wide != nil:
		return int(s.Wide[k]), s.Val[k]
	case !s.Diagonal:
		return int(s.Narrow[k]), s.Val[k]
	}
	from = s.Row + i*s.Lanes + lane + int(s.Offsets[j])
	if s.Constants != nil {
		return from, s.Constants[j]
	}
	return from, s.Val[k]
}

// These have no kernels on processors without assembly.
var (
	manyTables, expandTables simd.Kernels
)

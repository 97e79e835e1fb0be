package slices

import (
	"unsafe"

	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

// Slices stores rows in slices of Values.Lanes rows, one row per lane, column after column. Column
// c has the indices and values c*Lanes ... c*Lanes+Lanes-1. A slice has first full columns, in
// which all lanes have an entry, then masked columns: bit i of the mask is set if lane i has an
// entry. The other lanes take no part in a sum, but their indices must be valid.
type Slices[V sparse.Value] struct {
	Widths []uint32 // full and masked columns of each slice
	Masks  []uint16 // one mask per masked column
	// Regular is nil, or has two numbers for each slice. The first number counts the leading full
	// columns in which the index of lane i is that of lane 0 plus i. The second number counts the
	// pairs of columns after these: each index of the second column of a pair is that of the first
	// column plus 1.
	Regular []uint16
	// One of these has the indices.
	Narrow []uint16
	Wide   []int32
	Values form.Values[V]
	// Near says that the slices are in the caches: they are not prefetched. See the function Near.
	Near bool
	// Fused makes plain Go round a product and its sum once, as assembly does.
	Fused bool

	// The arguments of kernels during a call: kernels are called through tables, so that arguments
	// on the stack would be allocated.
	args       sliceArgs[V]
	transposed sliceTransposedArgs[V]
	many       form.ManyArgs[V]
}

// MultiplySlices multiplies n slices from position at on by x:
//
//	sums[s*Lanes + lane] = sum over the entries k of lane of slice s of val[k]*x[idx[k]]
//
// A sum starts with 0 and adds in the order of the columns. MultiplySlices also prefetches ahead.
// The slices must have the Lanes of the level, unless it is Generic. Indices are not checked.
func MultiplySlices[V sparse.Value](l simd.Level, s *Slices[V], at form.Position, n int, x, ahead, sums []V) {
	multiplySlicesFrom(l, s, at, n, x, ahead, sums, false, finished[V]{})
}

// MultiplySlicesToRows is MultiplySlices followed by Finish with beta = 0. Lane i, counted from the first
// slice, is row rows[i]:
//
//	y[rows[i]] = alpha * sum of lane i
//
// sums is scratch of the length of rows. Rows are not checked.
func MultiplySlicesToRows[V sparse.Value](l simd.Level, s *Slices[V], at form.Position, n int, x, ahead, sums []V, alpha V, rows []uint16, y []V) {
	rows = rows[:n*s.Values.Lanes]
	if n == 0 || s.assembly(l, len(x)) {
		multiplySlicesFrom(l, s, at, n, x, ahead, sums, false, finished[V]{unsafe.SliceData(rows), unsafe.SliceData(y), alpha})
		return
	}
	multiplySlicesFrom(l, s, at, n, x, ahead, sums, false, finished[V]{})
	for i, r := range rows {
		y[r] = form.RowValue(alpha, 0, sums[i], 0)
	}
}

// finished is where results go; rows is nil if only sums are needed.
type finished[V sparse.Value] struct {
	rows  *uint16
	y     *V
	alpha V
}

// AddSlices is MultiplySlices, except that a sum starts with the value in sums.
func AddSlices[V sparse.Value](l simd.Level, s *Slices[V], at form.Position, n int, x, sums []V) {
	multiplySlicesFrom(l, s, at, n, x, nil, sums, true, finished[V]{})
}

// multiplySlicesFrom is MultiplySlices, AddSlices if add is true, or MultiplySlicesToRows if to.rows is not
// nil.
func multiplySlicesFrom[V sparse.Value](l simd.Level, s *Slices[V], at form.Position, n int, x, ahead, sums []V, add bool, to finished[V]) {
	const line = 64
	size := int(unsafe.Sizeof(sums[0]))
	spread := min(len(ahead), n*line/size) // one line per slice
	form.Prefetch(l, ahead, spread, len(ahead))
	if n == 0 {
		return
	}
	sums = sums[:n*s.Values.Lanes]
	if len(ahead) == 0 {
		ahead = sums // an address that is in the caches
	}
	if !s.assembly(l, len(x)) {
		s.multiply(at, n, x, sums, add)
		return
	}
	keep := 0
	if add {
		keep = -1
	}
	wide, idx := s.indices(at)
	far := valuesAhead
	if s.Near {
		far = 0
	}
	kernel := simd.ForType[*sliceTable[V]](sliceTables)[l.Index()][s.Values.Storage][wide]
	var regular *uint16
	if s.Regular != nil {
		regular = &s.Regular[2*at.Slice : 2*(at.Slice+n)][0]
	}
	a := &s.args
	a.n, a.widths, a.regular = n, &s.Widths[2*at.Slice : 2*(at.Slice+n)][0], regular
	a.masks, a.val, a.idx = unsafe.SliceData(s.Masks[at.Mask:]), s.Values.From(at.Column), idx
	a.x, a.table, a.sums = unsafe.SliceData(x), unsafe.SliceData(s.Values.Table), unsafe.SliceData(sums)
	a.keep, a.ahead, a.step = keep, form.BytesFrom(ahead, 0), (spread*size+n-1)/n
	a.valuesAhead, a.indicesAhead, a.rows = far, far/4<<wide, to.rows
	a.y, a.alpha = to.y, to.alpha
	kernel(a)
	a.x, a.sums, a.ahead, a.y = nil, nil, nil, nil // the slices keep no vector
}

// valuesAhead is the number of bytes by which values are prefetched; indices of 2 bytes are
// prefetched by a quarter of it, those of 4 bytes by half of it. They go to the second-level cache:
// the first-level cache waits for few lines at a time, and these should be lines of x.
const valuesAhead = 8192

// assembly reports whether there is a kernel for the level and an x of n elements. Kernels with NEON take two indices
// from a register, of which the lower one must not reach into the address of the other.
func (s *Slices[V]) assembly(l simd.Level, n int) bool {
	return l >= simd.AVX2 || l == simd.NEON && (s.Narrow != nil || n <= 1<<29)
}

// sliceTable has kernels by Level.Index, Storage, and whether indices are wide.
type sliceTable[V sparse.Value] [2][form.Storages][2]func(*sliceArgs[V])

// indices returns the memory of the indices from position at on, and wide = 1 if they are wide.
func (s *Slices[V]) indices(at form.Position) (wide int, idx *byte) {
	k := at.Column * s.Values.Lanes
	if s.Narrow != nil {
		return 0, form.BytesFrom(s.Narrow, k)
	}
	return 1, form.BytesFrom(s.Wide, k)
}

func (s *Slices[V]) multiply(at form.Position, n int, x, sums []V, add bool) {
	if s.Narrow != nil {
		multiplySlices(s, s.Narrow, at, n, x, sums, add)
	} else {
		multiplySlices(s, s.Wide, at, n, x, sums, add)
	}
}

func multiplySlices[V sparse.Value, I uint16 | int32](s *Slices[V], idx []I, at form.Position, n int, x, sums []V, add bool) {
	lanes := s.Values.Lanes
	k := at.Column * lanes
	if s.Values.Storage == form.Full && !s.Fused && lanes%form.Unrolled == 0 {
		for lane := 0; lane < lanes; lane += form.Unrolled {
			multiplyEight(s.Widths[2*at.Slice:2*(at.Slice+n)], s.Masks[at.Mask:], s.Values.Full[k:], idx[k:], lanes, lane, x, sums, add)
		}
		return
	}
	var room form.Expanded[V]
	for i := range n {
		acc := sums[i*lanes : (i+1)*lanes]
		if !add {
			clear(acc)
		}
		full, masked := int(s.Widths[2*(at.Slice+i)]), int(s.Widths[2*(at.Slice+i)+1])
		for end := k + full*lanes; k < end; {
			val := s.Values.ValuesFrom(k, end-k, &room)
			addSlice(s.Fused, val, idx[k:], lanes, x, acc)
			k += len(val)
		}
		for end := k + masked*lanes; k < end; {
			val := s.Values.ValuesFrom(k, end-k, &room)
			for c := 0; c < len(val); c += lanes {
				addMasked(s.Fused, val[c:], idx[k+c:], s.Masks[at.Mask], x, acc)
				at.Mask++
			}
			k += len(val)
		}
	}
}

// addSlice adds columns without masks to the sums of their lanes.
func addSlice[V sparse.Value, I uint16 | int32](fused bool, val []V, idx []I, lanes int, x, sums []V) {
	if fused || lanes%form.Unrolled != 0 {
		for k := 0; k < len(val); k += lanes {
			addMasked(fused, val[k:], idx[k:], 1<<lanes-1, x, sums)
		}
		return
	}
	widths := [2]uint32{uint32(len(val) / lanes)}
	for lane := 0; lane < lanes; lane += form.Unrolled {
		multiplyEight(widths[:], nil, val, idx, lanes, lane, x, sums, true)
	}
}

// These have no kernels on processors without assembly.
var (
	sliceTables, sliceTransposedTables simd.Kernels
)

package simd

import (
	"unsafe"

	"github.com/msrep-go/msrep/sparse"
)

// Lanes is the number of elements in a register: of rows in a slice.
func Lanes[V sparse.Value](l Level) int {
	n := 16
	if _, double := any(*new(V)).(float64); double {
		n = 8
	}
	if l == AVX2 {
		n /= 2
	}
	return n
}

// Slices is rows in groups of Values.Lanes, one row per lane, stored column after
// column. Column c of the whole has the indices and values c*Lanes ... c*Lanes +
// Lanes-1; a slice has first columns in which all lanes have an entry, then columns
// with a mask, whose bit i says that lane i has one. What lies in the other lanes
// takes no part in a sum, but its index must be one of x.
type Slices[V sparse.Value] struct {
	Widths []uint32 // for each slice, the number of full columns and of masked ones
	Masks  []uint16 // of the masked columns
	// Regular is two numbers for each slice. Of its full columns first come as many as the first one
	// says that have the index of lane 0 plus i in lane i; then as many pairs as the second one says,
	// where each index of the second column is that of the first plus 1. It may be nil.
	Regular []uint16
	// One of these has the indices.
	Narrow []uint16
	Wide   []int32
	Values Values[V]
	// Near says that nothing of it is asked for ahead; see the function of that name.
	Near bool
	// Fused says to round a product and its sum once in plain Go too, as assembly does.
	Fused bool
}

// Position is a place in Slices.
type Position struct{ Slice, Column, Mask int }

// MultiplySlices multiplies n slices from a position on by x:
//
//	sums[s*Lanes + lane] = sum over the entries k of lane of slice s of val[k]*x[idx[k]]
//
// Each is added up in the order of the columns, beginning with 0. Meanwhile it asks for all of
// ahead, which is used soon.
// The level must be the one whose Lanes the slices have, or Generic. Indices are
// not checked.
func MultiplySlices[V sparse.Value](l Level, s *Slices[V], at Position, n int, x, ahead, sums []V) {
	multiplySlicesFrom(l, s, at, n, x, ahead, sums, false, finished[V]{})
}

// PutSlices is MultiplySlices whose sums are finished where beta is 0 (Finish): that of lane i, counted from the first
// slice, goes to y[rows[i]]. sums is room for as many. Places are not checked.
func PutSlices[V sparse.Value](l Level, s *Slices[V], at Position, n int, x, ahead, sums []V, alpha V, rows []uint16, y []V) {
	rows = rows[:n*s.Values.Lanes]
	if n == 0 || l != Generic {
		multiplySlicesFrom(l, s, at, n, x, ahead, sums, false, finished[V]{unsafe.SliceData(rows), unsafe.SliceData(y), alpha})
		return
	}
	multiplySlicesFrom(l, s, at, n, x, ahead, sums, false, finished[V]{})
	for i, r := range rows {
		y[r] = RowValue(alpha, 0, sums[i], 0)
	}
}

// finished says where finished sums go; rows is nil where they are not finished.
type finished[V sparse.Value] struct {
	rows  *uint16
	y     *V
	alpha V
}

// AddSlices is MultiplySlices, but that it begins with what sums has.
func AddSlices[V sparse.Value](l Level, s *Slices[V], at Position, n int, x, sums []V) {
	multiplySlicesFrom(l, s, at, n, x, nil, sums, true, finished[V]{})
}

// multiplySlicesFrom is AddSlices, or where add is false MultiplySlices, or PutSlices with rows.
func multiplySlicesFrom[V sparse.Value](l Level, s *Slices[V], at Position, n int, x, ahead, sums []V, add bool, to finished[V]) {
	const line = 64
	size := int(unsafe.Sizeof(sums[0]))
	spread := min(len(ahead), n*line/size) // a line for each slice
	LoadAhead(l, ahead, spread, len(ahead))
	if n == 0 {
		return
	}
	sums = sums[:n*s.Values.Lanes]
	if len(ahead) == 0 {
		ahead = sums // an address that the processor need not look for
	}
	if l == Generic {
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
	kernel := of[*sliceTable[V]](sliceTables)[l-AVX2][s.Values.Storage][wide]
	var regular *uint16
	if s.Regular != nil {
		regular = &s.Regular[2*at.Slice : 2*(at.Slice+n)][0]
	}
	kernel(n, &s.Widths[2*at.Slice : 2*(at.Slice+n)][0], regular, unsafe.SliceData(s.Masks[at.Mask:]), s.Values.from(at.Column), idx,
		unsafe.SliceData(x), unsafe.SliceData(s.Values.Table), unsafe.SliceData(sums), keep, bytesFrom(ahead, 0), (spread*size+n-1)/n, far, far/4<<wide,
		to.rows, to.y, to.alpha)
}

// valuesAhead is how many bytes before their turn values are asked for, indices of 2 bytes a quarter
// and those of 4 bytes half of it. They come to the second cache: the first one waits for few lines
// at a time, and then for those of x.
const valuesAhead = 8192

// sliceTable is kernels by Level-AVX2, Storage, and whether indices are wide.
type sliceTable[V sparse.Value] [2][storages][2]func(n int, widths *uint32, regular, masks *uint16, val, idx *byte, x, table, sums *V, keep int, ahead *byte, step, valuesAhead, indicesAhead int, rows *uint16, y *V, alpha V)

// indices is where the indices from a position on lie, and 1 where they are wide.
func (s *Slices[V]) indices(at Position) (wide int, idx *byte) {
	k := at.Column * s.Values.Lanes
	if s.Narrow != nil {
		return 0, bytesFrom(s.Narrow, k)
	}
	return 1, bytesFrom(s.Wide, k)
}

func (s *Slices[V]) multiply(at Position, n int, x, sums []V, add bool) {
	if s.Narrow != nil {
		multiplySlices(s, s.Narrow, at, n, x, sums, add)
	} else {
		multiplySlices(s, s.Wide, at, n, x, sums, add)
	}
}

func multiplySlices[V sparse.Value, I uint16 | int32](s *Slices[V], idx []I, at Position, n int, x, sums []V, add bool) {
	lanes := s.Values.Lanes
	k := at.Column * lanes
	if s.Values.Storage == Full && !s.Fused && lanes%unrolled == 0 {
		for lane := 0; lane < lanes; lane += unrolled {
			multiplyEight(s.Widths[2*at.Slice:2*(at.Slice+n)], s.Masks[at.Mask:], s.Values.Full[k:], idx[k:], lanes, lane, x, sums, add)
		}
		return
	}
	var room expanded[V]
	for i := range n {
		acc := sums[i*lanes : (i+1)*lanes]
		if !add {
			clear(acc)
		}
		full, masked := int(s.Widths[2*(at.Slice+i)]), int(s.Widths[2*(at.Slice+i)+1])
		for end := k + full*lanes; k < end; {
			val := s.Values.some(k, end-k, &room)
			addSlice(s.Fused, val, idx[k:], lanes, x, acc)
			k += len(val)
		}
		for end := k + masked*lanes; k < end; {
			val := s.Values.some(k, end-k, &room)
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
	if fused || lanes%unrolled != 0 {
		for k := 0; k < len(val); k += lanes {
			addMasked(fused, val[k:], idx[k:], 1<<lanes-1, x, sums)
		}
		return
	}
	widths := [2]uint32{uint32(len(val) / lanes)}
	for lane := 0; lane < lanes; lane += unrolled {
		multiplyEight(widths[:], nil, val, idx, lanes, lane, x, sums, true)
	}
}

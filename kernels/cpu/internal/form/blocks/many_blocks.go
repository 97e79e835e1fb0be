package blocks

import (
	"unsafe"

	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

// blockBytes is the number of bytes of values that are multiplied at a time, unless one slice has
// more: the kernels read them lane after lane, so they should stay in the first-level cache.
const blockBytes = 1 << 14

// MultiplyBlocksMany multiplies n slices of blocks from position at on by x.Cols vectors at once,
// the columns of x and y: with row = order[s*Lanes + lane]*Height + i,
//
//	y[row][c] = alpha * sum over j and the blocks k of lane of slice s of val[k][i][j]*x[idx[k]+j][c] + beta*y[row][c]
//
// Lanes after the end of order have no rows. beta = 0 does not read y. stream, which requires beta
// = 0 and y.Streams, writes y past the caches: Fence must follow. The slices must have the Lanes of
// the level, unless it is Generic. Indices and rows are not checked.
func MultiplyBlocksMany[V sparse.Value](l simd.Level, b *Blocks[V], at form.Position, n int, alpha, beta V, x form.MultiVector[V], order []uint16, y form.MultiVector[V], stream bool, e *form.Expansion[V]) {
	lanes, size := b.Values.Lanes, b.Height*b.Width
	n = min(n, (len(order)+lanes-1)/lanes)
	most := blockBytes / (lanes * size * int(unsafe.Sizeof(alpha)))
	bytes := b.Values.ColumnBytes()
	for n > 0 {
		count, end := b.fewColumns(at, n, most)
		columns := (end.Column - at.Column) * size
		some := manyBlocks[V]{
			n: count, lanes: lanes, height: b.Height, width: b.Width, order: order,
			widths: b.Widths[2*at.Slice : 2*end.Slice], masks: b.Masks[at.Mask:end.Mask], idx: b.Idx[at.Column*lanes : end.Column*lanes],
			val: e.Full(l, &b.Values, at.Column*size, columns, bytes/4), next: b.Values.Address(end.Column * size), prefetchBytes: bytes,
		}
		if b.Values.Storage != form.Full { // e.full has prefetched a quarter
			some.next += uintptr(columns * (bytes / 4))
			some.prefetchBytes -= bytes / 4
		}
		if l < simd.AVX2 {
			some.generic(alpha, beta, x, y)
		} else {
			some.assembly(l, alpha, beta, x, y, stream)
		}
		order = order[min(count*lanes, len(order)):]
		at, n = end, n-count
	}
}

// fewColumns returns how many of n slices have at most columns columns in all, at least 1, and the
// position after them.
func (b *Blocks[V]) fewColumns(at form.Position, n, columns int) (count int, end form.Position) {
	end = at
	for ; count < n; count++ {
		full, masked := int(b.Widths[2*end.Slice]), int(b.Widths[2*end.Slice+1])
		next := form.Position{Slice: end.Slice + 1, Column: end.Column + full + masked, Mask: end.Mask + masked}
		if count > 0 && next.Column-at.Column > columns {
			break
		}
		end = next
	}
	return count, end
}

// manyBlocks is slices of block rows with expanded values: lane i of a slice has the blocks of
// block row order[i].
type manyBlocks[V sparse.Value] struct {
	n, lanes      int
	height, width int
	widths        []uint32
	masks, order  []uint16
	idx           []int32
	val           []V
	// The address of the stored values after these, and the bytes of them that the kernels prefetch
	// for each column of values.
	next          uintptr
	prefetchBytes int
}

// generic is MultiplyBlocksMany for the slices in plain Go.
func (s *manyBlocks[V]) generic(alpha, beta V, x, y form.MultiVector[V]) {
	k, mask := 0, 0
	for i := range s.n {
		full, masked := int(s.widths[2*i]), int(s.widths[2*i+1])
		masks := s.masks[mask : mask+masked]
		for lane := range min(s.lanes, len(s.order)-i*s.lanes) {
			for r := range s.height {
				out := y.From(int(s.order[i*s.lanes+lane])*s.height + r).Val[:y.Cols]
				for c := range out {
					sum := alpha * s.sum(k, full, masks, lane, r, x, c)
					if beta != 0 {
						sum += beta * out[c]
					}
					out[c] = sum
				}
			}
		}
		k += full + masked
		mask += masked
	}
}

// sum returns row r of the blocks of a lane times column c of x. The slice begins with column k of
// blocks; it has full columns in which every lane has a block, then columns with masks.
func (s *manyBlocks[V]) sum(k, full int, masks []uint16, lane, r int, x form.MultiVector[V], c int) (sum V) {
	for j := range full + len(masks) {
		if j >= full && masks[j-full]>>lane&1 == 0 {
			continue
		}
		at := k + j
		from := int(s.idx[at*s.lanes+lane])
		for q := range s.width {
			sum += s.val[((at*s.width+q)*s.height+r)*s.lanes+lane] * x.Val[(from+q)*x.Stride+c]
		}
	}
	return sum
}

// manyBlockTable has kernels by Level-AVX2 and height-2.
type manyBlockTable[V sparse.Value] [2][BlockMax - 1]func(a manyBlockArgs[V])

// manyBlocksTogether returns the number of lanes of a slice that a kernel multiplies: as many as
// have their sums in registers.
func manyBlocksTogether(l simd.Level, height int) int {
	registers := 10
	if l >= simd.AVX512 {
		registers = 24
	}
	n := 4
	for n*height > registers {
		n /= 2
	}
	return n
}

// assembly multiplies with the kernels of a level, as many columns of y at a time as fill a
// register.
func (s *manyBlocks[V]) assembly(l simd.Level, alpha, beta V, x, y form.MultiVector[V], stream bool) {
	kernel := simd.ForType[*manyBlockTable[V]](manyBlockTables)[l-simd.AVX2][s.height-2]
	size, together := int(unsafe.Sizeof(alpha)), manyBlocksTogether(l, s.height)
	most := simd.RegisterBytes(l) / size
	calls := (y.Cols + most - 1) / most * (s.lanes / together)
	next, step := s.next, s.height*s.prefetchBytes/calls
	for c := 0; c < y.Cols; c += most {
		n := min(most, y.Cols-c)
		x, y := x.Columns(c, n), y.Columns(c, n)
		for first := 0; first < min(s.lanes, len(s.order)); first += together {
			kernel(manyBlockArgs[V]{
				n: s.n, widths: unsafe.SliceData(s.widths), masks: unsafe.SliceData(s.masks), first: first,
				val: unsafe.SliceData(s.val[min(first, len(s.val)):]), idx: unsafe.SliceData(s.idx[min(first, len(s.idx)):]), columns: s.width,
				x: unsafe.SliceData(x.Val), ldx: x.Stride * size, y: unsafe.SliceData(y.Val), ldy: y.Stride * size,
				order: unsafe.SliceData(s.order[first:]), rows: len(s.order) - first,
				alpha: alpha, beta: beta, last: n, reads: beta != 0, stream: stream, next: next, step: step,
			})
			next += uintptr(step * s.width * len(s.idx) / s.lanes)
		}
	}
}

// manyBlockTables has no kernels on processors without assembly.
var manyBlockTables simd.Kernels

package simd

import (
	"unsafe"

	"github.com/msrep-go/msrep/sparse"
)

// blockBytes is how many bytes of values are multiplied at a time, where one slice
// has no more: lane after lane, so that they should stay in the nearest cache.
const blockBytes = 1 << 14

// MultiplyBlocksMany multiplies n slices of blocks from a position on by x.Cols
// vectors at once, the columns of x and y: with row = order[s*Lanes + lane]*Height + i,
//
//	y[row][c] = alpha * sum over the blocks k of lane of slice s, and j, of val[k][i][j]*x[idx[k]+j][c] + beta*y[row][c]
//
// Lanes beyond order have no rows. beta = 0 does not read y. With stream, which needs
// beta = 0 and what MultiVector.Streams says, y is written around the caches: Fence must
// follow. The level must be the one whose Lanes the slices have, or Generic. Indices are not checked,
// nor are rows.
func MultiplyBlocksMany[V sparse.Value](l Level, b *Blocks[V], at Position, n int, alpha, beta V, x MultiVector[V], order []uint16, y MultiVector[V], stream bool, e *Expansion[V]) {
	lanes, size := b.Values.Lanes, b.Height*b.Width
	n = min(n, (len(order)+lanes-1)/lanes)
	most := blockBytes / (lanes * size * int(unsafe.Sizeof(alpha)))
	bytes := b.Values.columnBytes()
	for n > 0 {
		count, end := b.few(at, n, most)
		columns := (end.Column - at.Column) * size
		some := manyBlocks[V]{
			n: count, lanes: lanes, height: b.Height, width: b.Width, order: order,
			widths: b.Widths[2*at.Slice : 2*end.Slice], masks: b.Masks[at.Mask:end.Mask], idx: b.Idx[at.Column*lanes : end.Column*lanes],
			val: e.full(l, &b.Values, at.Column*size, columns, bytes/4), next: b.Values.address(end.Column * size), asks: bytes,
		}
		if b.Values.Storage != Full { // a quarter has been asked for
			some.next += uintptr(columns * (bytes / 4))
			some.asks -= bytes / 4
		}
		if l == Generic {
			some.generic(alpha, beta, x, y)
		} else {
			some.assembly(l, alpha, beta, x, y, stream)
		}
		order = order[min(count*lanes, len(order)):]
		at, n = end, n-count
	}
}

// few is as many of n slices as have at most so many columns, but one at least, and
// the position behind them.
func (b *Blocks[V]) few(at Position, n, columns int) (count int, end Position) {
	end = at
	for ; count < n; count++ {
		full, masked := int(b.Widths[2*end.Slice]), int(b.Widths[2*end.Slice+1])
		next := Position{end.Slice + 1, end.Column + full + masked, end.Mask + masked}
		if count > 0 && next.Column-at.Column > columns {
			break
		}
		end = next
	}
	return count, end
}

// manyBlocks is slices of rows of blocks, with their values at full length: the
// blocks of lane i of a slice are those of row order[i] of blocks.
type manyBlocks[V sparse.Value] struct {
	n, lanes      int
	height, width int
	widths        []uint32
	masks, order  []uint16
	idx           []int32
	val           []V
	// The stored values behind these, and how many bytes of them the kernels ask for with
	// each column of values: while they multiply, the next ones come from memory.
	next uintptr
	asks int
}

// generic is MultiplyBlocksMany for the slices in plain Go.
func (s *manyBlocks[V]) generic(alpha, beta V, x, y MultiVector[V]) {
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

// sum is row r of the blocks of a lane times column c of x. The slice begins with column k of
// blocks, and has full columns of which every lane has a block, then those with a mask.
func (s *manyBlocks[V]) sum(k, full int, masks []uint16, lane, r int, x MultiVector[V], c int) (sum V) {
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

// manyBlockKernel multiplies the lanes of n slices from lane first on, as many as
// are summed at once: the arguments are those of manyBlocks, with val, idx and order
// at lane first. rows counts the rows of blocks of order from there. ldx and ldy are
// bytes; last is the columns of y. step bytes from next on are brought to the second
// cache for each column of a block.
type manyBlockKernel[V sparse.Value] func(n int, widths *uint32, masks *uint16, first int, val *V, idx *int32, columns int, x *V, ldx int, y *V, ldy int, order *uint16, rows int, alpha, beta V, last int, reads, stream bool, next uintptr, step int)

// manyBlockTable is kernels by Level-AVX2 and height-2.
type manyBlockTable[V sparse.Value] [2][BlockMax - 1]manyBlockKernel[V]

// manyBlocksTogether is how many lanes of a slice a kernel serves: as many as the
// generator found registers for.
func manyBlocksTogether(l Level, height int) int {
	registers := 10
	if l >= AVX512 {
		registers = 24
	}
	n := 4
	for n*height > registers {
		n /= 2
	}
	return n
}

// assembly multiplies by the kernels of a level, as many columns of y as fill a register at a time.
func (s *manyBlocks[V]) assembly(l Level, alpha, beta V, x, y MultiVector[V], stream bool) {
	kernel := of[*manyBlockTable[V]](manyBlockTables)[l-AVX2][s.height-2]
	size, together := int(unsafe.Sizeof(alpha)), manyBlocksTogether(l, s.height)
	most := registerBytes(l) / size
	calls := (y.Cols + most - 1) / most * (s.lanes / together)
	next, step := s.next, s.height*s.asks/calls
	for c := 0; c < y.Cols; c += most {
		n := min(most, y.Cols-c)
		x, y := x.Columns(c, n), y.Columns(c, n)
		for first := 0; first < min(s.lanes, len(s.order)); first += together {
			kernel(s.n, unsafe.SliceData(s.widths), unsafe.SliceData(s.masks), first, unsafe.SliceData(s.val[min(first, len(s.val)):]),
				unsafe.SliceData(s.idx[min(first, len(s.idx)):]), s.width, unsafe.SliceData(x.Val), x.Stride*size,
				unsafe.SliceData(y.Val), y.Stride*size, unsafe.SliceData(s.order[first:]), len(s.order)-first,
				alpha, beta, n, beta != 0, stream, next, step)
			next += uintptr(step * s.width * len(s.idx) / s.lanes)
		}
	}
}

package simd

import (
	"unsafe"

	"github.com/msrep-go/msrep/sparse"
)

// MultiVector is a dense matrix of Cols columns, stored row by row: element (i, j) is Val[i*Stride+j].
// The elements between two rows are not accessed.
type MultiVector[V sparse.Value] struct {
	Val          []V
	Cols, Stride int
}

// Rows returns the number of rows for which Val has room.
func (b MultiVector[V]) Rows() int {
	if len(b.Val) < b.Cols {
		return 0
	}
	return (len(b.Val)-b.Cols)/max(b.Stride, 1) + 1
}

// From returns the block without its first row rows.
func (b MultiVector[V]) From(row int) MultiVector[V] {
	b.Val = b.Val[min(row*b.Stride, len(b.Val)):]
	return b
}

// First returns the first rows of the block. The block must have that many.
func (b MultiVector[V]) First(rows int) MultiVector[V] {
	n := 0
	if rows > 0 {
		n = (rows-1)*b.Stride + b.Cols
	}
	b.Val = b.Val[:n]
	return b
}

// Columns returns the columns lo <= j < lo+n of the block.
func (b MultiVector[V]) Columns(lo, n int) MultiVector[V] {
	if len(b.Val) > 0 {
		b.Val = b.Val[lo : len(b.Val)-(b.Cols-lo-n)]
	}
	b.Cols = n
	return b
}

// Streams reports whether writing the block past the caches is possible and worthwhile: it is
// large, its rows fill whole registers, and they are aligned to registers.
func (b MultiVector[V]) Streams(l Level) bool { return l >= AVX2 && b.streams(registerBytes(l)) }

// streams is Streams for registers of that many bytes.
func (b MultiVector[V]) streams(bytes int) bool {
	size := int(unsafe.Sizeof(*new(V)))
	return len(b.Val)*size >= streamed && b.Cols*size%bytes == 0 && b.Stride*size%bytes == 0 &&
		uintptr(unsafe.Pointer(unsafe.SliceData(b.Val)))%uintptr(bytes) == 0
}

// StreamsWhole is Streams for a block with contiguous rows that is written from end to end: it
// needs no alignment.
func (b MultiVector[V]) StreamsWhole(l Level) bool {
	return l >= AVX2 && len(b.Val)*int(unsafe.Sizeof(*new(V))) >= streamed && b.Stride == b.Cols
}

// far reports whether rows of the block are worth prefetching: it is larger than the caches of a
// core.
func (b MultiVector[V]) far() bool { return len(b.Val)*int(unsafe.Sizeof(*new(V))) > 1<<20 }

// across reports whether rows, loaded as that many bytes, may touch more cache lines than they
// fill.
func (b MultiVector[V]) across(bytes int) bool {
	unit := min(bytes, 64)
	return b.Stride*int(unsafe.Sizeof(*new(V)))%unit != 0 || int(uintptr(unsafe.Pointer(unsafe.SliceData(b.Val)))%uintptr(unit)) != 0
}

// streamed is the size of y, in bytes, from which it is written past the caches: its next reader
// would not find it there.
const streamed = 16 << 20

// nearManyBytes is nearBytes for several vectors. Each entry then takes longer, so that entries in
// the last-level cache arrive in time. It was measured only on Zen 4 and 5.
var nearManyBytes = func() int64 {
	if zen4 {
		return 8 << 20
	}
	return nearBytes
}()

// farRowsBytes is the size of x above which RowsMany prefetches rows of x. On Zen 4 and 5, rows
// arrive in time from an x a little larger than the second-level cache; other processors were not
// measured.
var farRowsBytes = func() int64 {
	if zen4 {
		return 3 << 20
	}
	return 1 << 20
}()

// RowsMany is Rows for y.Cols vectors at once, the columns of x and y:
//
//	y[r][j] = alpha * sum over k of val[k]*x[idx[k]][j] + beta*y[r][j]
//
// y has at least len(ptr)-1 rows; the others do not change. x.Cols is y.Cols, at least 1. beta = 0
// does not read y. RowsMany panics if a pointer or an index is out of range, as Rows does.
func RowsMany[V sparse.Value](l Level, alpha, beta V, ptr []int64, idx []int32, val []V, x, y MultiVector[V]) {
	rows := len(ptr) - 1
	if rows == 0 {
		return
	}
	val = val[:len(idx)]
	all := y // y is written past the caches if all of it is large
	y.Val = y.Val[:(rows-1)*y.Stride+y.Cols]
	if l < AVX2 {
		manyGeneric(alpha, beta, ptr[0], ptr, idx, val, x, y)
		return
	}
	size := int(unsafe.Sizeof(alpha))
	register := rowRegister(l, y.Cols*size)
	stream := beta == 0 && all.streams(register)
	if stream {
		defer Fence(l)
	}
	lanes := register / size
	tile := 4 * lanes
	predicted := predictsRows && rows+len(idx)/64 <= 2*predictedRows
	block := rows
	if y.Cols > tile {
		block = 32 // the entries then stay in the cache for the second tile of columns
	}
	for r := 0; r < rows; r += block {
		n := min(block, rows-r)
		for c := 0; c < y.Cols; c += tile {
			w := min(tile, y.Cols-c)
			manyColumns(l, register, alpha, beta, ptr[0], ptr[r:r+n+1], idx, val, x.Columns(c, w), y.From(r).Columns(c, w), stream, predicted)
		}
	}
}

// registerBytes returns the size of a register.
func registerBytes(l Level) int {
	if l >= AVX512 {
		return 64
	}
	return 32
}

// rowRegister returns the size of the registers that multiply rows of x of row bytes: a longer,
// partly filled register would reach into the next line.
func rowRegister(l Level, row int) int {
	bytes := registerBytes(l)
	for bytes > shortRegister && row <= bytes/2 {
		bytes /= 2
	}
	return bytes
}

// manyColumns is RowsMany for at most four registers of columns; entry k is idx[k-base].
func manyColumns[V sparse.Value](l Level, register int, alpha, beta V, base int64, ptr []int64, idx []int32, val []V, x, y MultiVector[V], stream, predicted bool) {
	rows, size := len(ptr)-1, int(unsafe.Sizeof(alpha))
	lanes := register / size
	k := ptr[0] - base
	last := (y.Cols-1)%lanes + 1
	prefetchEnd := 0
	if int64(len(x.Val)*size) > farRowsBytes {
		prefetchEnd = int(base) + len(idx)
	}
	vectors := (y.Cols + lanes - 1) / lanes
	near := prefetchEnd == 0 && int64(len(idx))*int64(4+size) <= nearManyBytes
	kernel := forType[*manyRowsTable[V]](manyRowsTables)[l-AVX2][register/(2*shortRegister)]
	done := kernel(alpha, beta, ptr, idx[k:], val[k:], x.Val, y.Val, x.Rows(), x.rowBytes(), y.rowBytes(),
		vectors, last, prefetchEnd, x.across(vectors*register), stream, near, predicted)
	if done < rows { // the next row has an index out of range
		manyGeneric(alpha, beta, base, ptr[done:], idx, val, x, y.From(done))
	}
}

// manyRowsKernel computes the rows before the first one with an index out of range, and returns
// their number.
type manyRowsKernel[V sparse.Value] func(alpha, beta V, ptr []int64, idx []int32, val, x, y []V, rowsX, ldx, ldy, vectors, last, prefetchEnd int, across, stream, near, predicted bool) int

// manyRowsTable has kernels by Level-AVX2, and by the bytes of their registers: 16, 32, 64.
type manyRowsTable[V sparse.Value] [2][3]manyRowsKernel[V]

// manyGeneric is RowsMany in plain Go; entry k is idx[k-base].
func manyGeneric[V sparse.Value](alpha, beta V, base int64, ptr []int64, idx []int32, val []V, x, y MultiVector[V]) {
	for r := range len(ptr) - 1 {
		idx, val := idx[ptr[r]-base:ptr[r+1]-base], val[ptr[r]-base:ptr[r+1]-base]
		for _, i := range idx {
			if i < 0 || int(i) >= x.Rows() {
				panic(indexError{i, x.Rows()})
			}
		}
		out := y.From(r).Val[:y.Cols]
		for c := 0; c < len(out); c += 4 {
			var sum [4]V
			if w := len(out) - c; w >= 4 {
				sum = fourOfRow(idx, val, x.Val, c, x.Stride)
			} else {
				for j, i := range idx {
					at := int(i)*x.Stride + c
					for q, v := range x.Val[at : at+w] {
						sum[q] += val[j] * v
					}
				}
			}
			for q, s := range sum[:min(4, len(out)-c)] {
				s *= alpha
				if beta != 0 {
					s += beta * out[c+q]
				}
				out[c+q] = s
			}
		}
	}
}

// fourOfRow returns the sums of a row for four vectors; row i of x begins at x[first+i*stride].
func fourOfRow[V sparse.Value](idx []int32, val, x []V, first, stride int) [4]V {
	var s0, s1, s2, s3 V
	val = val[:len(idx)]
	for k, i := range idx {
		v, u := val[k], (*[4]V)(x[first+int(i)*stride:])
		s0 += v * u[0]
		s1 += v * u[1]
		s2 += v * u[2]
		s3 += v * u[3]
	}
	return [4]V{s0, s1, s2, s3}
}

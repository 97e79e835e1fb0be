package simd

import (
	"unsafe"

	"github.com/msrep-go/msrep/sparse"
)

// MultiVector is a dense matrix of Cols columns, row by row: element (i, j) is
// Val[i*Stride+j]. The elements between two rows are not touched.
type MultiVector[V sparse.Value] struct {
	Val          []V
	Cols, Stride int
}

// Rows is how many rows Val has room for.
func (b MultiVector[V]) Rows() int {
	if len(b.Val) < b.Cols {
		return 0
	}
	return (len(b.Val)-b.Cols)/max(b.Stride, 1) + 1
}

// From is the block without its first rows.
func (b MultiVector[V]) From(row int) MultiVector[V] {
	b.Val = b.Val[min(row*b.Stride, len(b.Val)):]
	return b
}

// First is the first rows of the block, which must have as many.
func (b MultiVector[V]) First(rows int) MultiVector[V] {
	n := 0
	if rows > 0 {
		n = (rows-1)*b.Stride + b.Cols
	}
	b.Val = b.Val[:n]
	return b
}

// Columns is the columns [lo, lo+n) of the block.
func (b MultiVector[V]) Columns(lo, n int) MultiVector[V] {
	if len(b.Val) > 0 {
		b.Val = b.Val[lo : len(b.Val)-(b.Cols-lo-n)]
	}
	b.Cols = n
	return b
}

// Streams reports whether a block is worth writing around the caches, and can be:
// it is large, fills its registers, and its rows begin at multiples of them.
func (b MultiVector[V]) Streams(l Level) bool { return l >= AVX2 && b.streams(registerBytes(l)) }

// streams is Streams for registers of so many bytes.
func (b MultiVector[V]) streams(bytes int) bool {
	size := int(unsafe.Sizeof(*new(V)))
	return len(b.Val)*size >= streamed && b.Cols*size%bytes == 0 && b.Stride*size%bytes == 0 &&
		uintptr(unsafe.Pointer(unsafe.SliceData(b.Val)))%uintptr(bytes) == 0
}

// StreamsWhole is Streams for a block whose rows follow each other, that is written from end
// to end: it may begin anywhere.
func (b MultiVector[V]) StreamsWhole(l Level) bool {
	return l >= AVX2 && len(b.Val)*int(unsafe.Sizeof(*new(V))) >= streamed && b.Stride == b.Cols
}

// far reports whether rows of the block are worth bringing to the cache before their
// turn: it is larger than the caches next to a core.
func (b MultiVector[V]) far() bool { return len(b.Val)*int(unsafe.Sizeof(*new(V))) > 1<<20 }

// across reports whether rows of so many bytes, as they are loaded, may lie across more cache lines than
// they fill.
func (b MultiVector[V]) across(bytes int) bool {
	unit := min(bytes, 64)
	return b.Stride*int(unsafe.Sizeof(*new(V)))%unit != 0 || int(uintptr(unsafe.Pointer(unsafe.SliceData(b.Val)))%uintptr(unit)) != 0
}

// streamed is the size of y, in bytes, from which it is written around the caches:
// it would not be found in them by whoever reads it next.
const streamed = 16 << 20

// nearManyBytes is nearBytes for several vectors: entries that lie in the last cache come soon enough, as
// each of them takes longer. It was measured on Zen 4 and 5 only.
var nearManyBytes = func() int64 {
	if zen4 {
		return 8 << 20
	}
	return nearBytes
}()

// farRowsBytes is from more than how many bytes of x on RowsMany brings rows of x to the caches before their turn: a
// little more than the second cache holds comes soon enough on Zen 4 and 5, and elsewhere that was not measured.
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
// y has len(ptr)-1 rows or more: those behind are left alone. x.Cols is y.Cols, 1 or
// more. beta = 0 does not read y. Arrays that are left are a panic, as with Rows.
func RowsMany[V sparse.Value](l Level, alpha, beta V, ptr []int64, idx []int32, val []V, x, y MultiVector[V]) {
	rows := len(ptr) - 1
	if rows == 0 {
		return
	}
	val = val[:len(idx)]
	all := y // whether y is written around the caches is a question of all of it
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
	known := foreseesRows && rows+len(idx)/64 <= 2*foreseenRows
	block := rows
	if y.Cols > tile {
		block = 32 // so that the entries are found in the cache for the second tile of columns
	}
	for r := 0; r < rows; r += block {
		n := min(block, rows-r)
		for c := 0; c < y.Cols; c += tile {
			w := min(tile, y.Cols-c)
			manyColumns(l, register, alpha, beta, ptr[0], ptr[r:r+n+1], idx, val, x.Columns(c, w), y.From(r).Columns(c, w), stream, known)
		}
	}
}

// registerBytes is the size of a register.
func registerBytes(l Level) int {
	if l >= AVX512 {
		return 64
	}
	return 32
}

// rowRegister is the bytes of the registers that multiply rows of x of so many bytes: a longer one,
// though filled in part, would reach into the next line.
func rowRegister(l Level, row int) int {
	bytes := registerBytes(l)
	for bytes > shortRegister && row <= bytes/2 {
		bytes /= 2
	}
	return bytes
}

// manyColumns is RowsMany for at most four registers of columns, where entry k is
// idx[k-base].
func manyColumns[V sparse.Value](l Level, register int, alpha, beta V, base int64, ptr []int64, idx []int32, val []V, x, y MultiVector[V], stream, known bool) {
	rows, size := len(ptr)-1, int(unsafe.Sizeof(alpha))
	lanes := register / size
	k := ptr[0] - base
	last := (y.Cols-1)%lanes + 1
	asks := 0
	if int64(len(x.Val)*size) > farRowsBytes {
		asks = int(base) + len(idx)
	}
	vectors := (y.Cols + lanes - 1) / lanes
	near := asks == 0 && int64(len(idx))*int64(4+size) <= nearManyBytes
	kernel := of[*manyRowsTable[V]](manyRowsTables)[l-AVX2][register/(2*shortRegister)]
	done := kernel(alpha, beta, ptr, idx[k:], val[k:], x.Val, y.Val, x.Rows(), x.rowBytes(), y.rowBytes(),
		vectors, last, asks, x.across(vectors*register), stream, near, known)
	if done < rows { // what it did not do has an index that is out of range
		manyGeneric(alpha, beta, base, ptr[done:], idx, val, x, y.From(done))
	}
}

// manyRowsKernel does the rows before the first that is out of range, and gives their number.
type manyRowsKernel[V sparse.Value] func(alpha, beta V, ptr []int64, idx []int32, val, x, y []V, rowsX, ldx, ldy, vectors, last, asks int, across, stream, near, known bool) int

// manyRowsTable is kernels by Level-AVX2, and by the bytes of their registers: 16, 32, 64.
type manyRowsTable[V sparse.Value] [2][3]manyRowsKernel[V]

// manyGeneric is RowsMany in plain Go, where entry k is idx[k-base].
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

// fourOfRow is the sums of a row for four vectors, whose row i begins at x[first+i*stride].
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

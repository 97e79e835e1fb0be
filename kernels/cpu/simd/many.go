package simd

import (
	"unsafe"

	"github.com/msrep-go/msrep/sparse"
)

// Block is a dense matrix of Cols columns, row by row: element (i, j) is
// Val[i*Stride+j]. The elements between two rows are not touched.
type Block[V sparse.Value] struct {
	Val          []V
	Cols, Stride int
}

// Rows is how many rows Val has room for.
func (b Block[V]) Rows() int {
	if len(b.Val) < b.Cols {
		return 0
	}
	return (len(b.Val)-b.Cols)/max(b.Stride, 1) + 1
}

// From is the block without its first rows.
func (b Block[V]) From(row int) Block[V] {
	b.Val = b.Val[min(row*b.Stride, len(b.Val)):]
	return b
}

// columns is the columns [lo, lo+n) of the block.
func (b Block[V]) columns(lo, n int) Block[V] {
	last := len(b.Val) - (b.Cols - lo - n)
	return Block[V]{b.Val[lo:last], n, b.Stride}
}

// streamed is the size of y, in bytes, from which it is written around the caches:
// it would not be found in them by whoever reads it next.
const streamed = 16 << 20

// RowsMany is Rows for y.Cols vectors at once, the columns of x and y:
//
//	y[r][j] = alpha * sum over k of val[k]*x[idx[k]][j] + beta*y[r][j]
//
// y has len(ptr)-1 rows. x.Cols is y.Cols, 1 or more. beta = 0 does not read y.
// Arrays that are left are a panic, as with Rows.
func RowsMany[V sparse.Value](l Level, alpha, beta V, ptr []int64, idx []int32, val []V, x, y Block[V]) {
	rows := len(ptr) - 1
	if rows == 0 {
		return
	}
	val = val[:len(idx)]
	y.Val = y.Val[:(rows-1)*y.Stride+y.Cols]
	if l < AVX2 {
		manyGeneric(alpha, beta, ptr[0], ptr, idx, val, x, y)
		return
	}
	lanes := registerBytes(l) / int(unsafe.Sizeof(alpha))
	tile := 4 * lanes
	if y.Cols <= tile {
		manyColumns(l, lanes, alpha, beta, ptr[0], ptr, idx, val, x, y)
		return
	}
	// More columns than registers: a few rows at a time, whose entries are found in
	// the cache for the second tile of columns and those that follow.
	const block = 32
	for r := 0; r < rows; r += block {
		n := min(block, rows-r)
		for c := 0; c < y.Cols; c += tile {
			w := min(tile, y.Cols-c)
			manyColumns(l, lanes, alpha, beta, ptr[0], ptr[r:r+n+1], idx, val, x.columns(c, w), y.From(r).columns(c, w))
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

// manyColumns is RowsMany for at most four registers of columns, where entry k is
// idx[k-base].
func manyColumns[V sparse.Value](l Level, lanes int, alpha, beta V, base int64, ptr []int64, idx []int32, val []V, x, y Block[V]) {
	rows, size := len(ptr)-1, int(unsafe.Sizeof(alpha))
	k := ptr[0] - base
	full := y.Cols%lanes == 0
	stream := full && beta == 0 && rows*y.Stride*size >= streamed && y.Stride*size%registerBytes(l) == 0 &&
		uintptr(unsafe.Pointer(unsafe.SliceData(y.Val)))%uintptr(registerBytes(l)) == 0
	last := y.Cols % lanes
	if full {
		last = lanes
	}
	done := manyRows(l, alpha, beta, ptr, idx[k:], val[k:], x.Val, y.Val, x.Rows(), x.Stride*size, y.Stride*size,
		(y.Cols+lanes-1)/lanes, last, stream)
	if done < rows { // what it did not do has an index that is out of range
		manyGeneric(alpha, beta, base, ptr[done:], idx, val, x, y.From(done))
	}
}

// manyGeneric is RowsMany in plain Go, where entry k is idx[k-base].
func manyGeneric[V sparse.Value](alpha, beta V, base int64, ptr []int64, idx []int32, val []V, x, y Block[V]) {
	for r := range len(ptr) - 1 {
		idx, val := idx[ptr[r]-base:ptr[r+1]-base], val[ptr[r]-base:ptr[r+1]-base]
		out := y.From(r).Val[:y.Cols]
		for c := 0; c < len(out); c += 4 {
			w := min(4, len(out)-c)
			var sum [4]V
			for j, i := range idx {
				if i < 0 || int(i) >= x.Rows() {
					panic(indexError{i, x.Rows()})
				}
				at := int(i)*x.Stride + c
				for q, v := range x.Val[at : at+w] {
					sum[q] += val[j] * v
				}
			}
			for q, s := range sum[:w] {
				s *= alpha
				if beta != 0 {
					s += beta * out[c+q]
				}
				out[c+q] = s
			}
		}
	}
}

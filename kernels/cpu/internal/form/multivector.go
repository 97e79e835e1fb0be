package form

import (
	"unsafe"

	"github.com/msrep-go/msrep/internal/simd"
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
func (b MultiVector[V]) Streams(l simd.Level) bool {
	return l >= simd.AVX2 && b.StreamsBy(simd.RegisterBytes(l))
}

// StreamsBy is Streams for registers of that many bytes.
func (b MultiVector[V]) StreamsBy(bytes int) bool {
	size := int(unsafe.Sizeof(*new(V)))
	return len(b.Val)*size >= Streamed && b.Cols*size%bytes == 0 && b.Stride*size%bytes == 0 &&
		uintptr(unsafe.Pointer(unsafe.SliceData(b.Val)))%uintptr(bytes) == 0
}

// StreamsWhole is Streams for a block with contiguous rows that is written from end to end: it
// needs no alignment.
func (b MultiVector[V]) StreamsWhole(l simd.Level) bool {
	return l >= simd.AVX2 && len(b.Val)*int(unsafe.Sizeof(*new(V))) >= Streamed && b.Stride == b.Cols
}

// far reports whether rows of the block are worth prefetching: it is larger than the caches of a
// core.
func (b MultiVector[V]) far() bool { return len(b.Val)*int(unsafe.Sizeof(*new(V))) > 1<<20 }

// Across reports whether rows, loaded as that many bytes, may touch more cache lines than they
// fill.
func (b MultiVector[V]) Across(bytes int) bool {
	unit := min(bytes, 64)
	return b.Stride*int(unsafe.Sizeof(*new(V)))%unit != 0 || int(uintptr(unsafe.Pointer(unsafe.SliceData(b.Val)))%uintptr(unit)) != 0
}

// Streamed is the size of y, in bytes, from which it is written past the caches: its next reader
// would not find it there.
const Streamed = 16 << 20

// RowRegister returns the size of the registers that multiply rows of x of row bytes: a longer,
// partly filled register would reach into the next line.
func RowRegister(l simd.Level, row int) int {
	bytes := simd.RegisterBytes(l)
	for bytes > ShortRegister && row <= bytes/2 {
		bytes /= 2
	}
	return bytes
}

// RowBytes returns the bytes from one row to the next.
func (b MultiVector[V]) RowBytes() int { return b.Stride * int(unsafe.Sizeof(*new(V))) }

// ShortRegister is the bytes of the shortest register.
const ShortRegister = 16

// VectorsAtOnce returns the greatest number of columns of RowsTransposedMany: those of a cache line.
func VectorsAtOnce[V sparse.Value]() int { return 64 / int(unsafe.Sizeof(*new(V))) }

// CopyRows copies the first n rows of a multi-vector.
func CopyRows[V sparse.Value](to, from MultiVector[V], n int) {
	if from.Stride == from.Cols && to.Stride == from.Cols {
		copy(to.Val[:n*to.Stride], from.Val)
		return
	}
	for i := range n {
		copy(to.Val[i*to.Stride:][:to.Cols], from.Val[i*from.Stride:])
	}
}

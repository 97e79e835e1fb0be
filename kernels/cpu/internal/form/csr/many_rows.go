package csr

import (
	"math/bits"
	"unsafe"

	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

// nearManyBytes is nearBytes for several vectors. Each entry then takes longer, so that entries in
// the last-level cache arrive in time. It was measured only on Zen 4 and 5.
var nearManyBytes = func() int64 {
	if form.Zen4 {
		return 8 << 20
	}
	return form.NearBytes
}()

// farRowsBytes is the size of x above which RowsMany prefetches rows of x. On Zen 4 and 5, rows
// arrive in time from an x a little larger than the second-level cache; other processors were not
// measured.
var farRowsBytes = func() int64 {
	if form.Zen4 {
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
func RowsMany[V sparse.Value](l simd.Level, alpha, beta V, ptr []int64, idx []int32, val []V, x, y form.MultiVector[V]) {
	rows := len(ptr) - 1
	if rows == 0 {
		return
	}
	val = val[:len(idx)]
	all := y // y is written past the caches if all of it is large
	y.Val = y.Val[:(rows-1)*y.Stride+y.Cols]
	if l == simd.Generic {
		manyGeneric(alpha, beta, ptr[0], ptr, idx, val, x, y)
		return
	}
	size := int(unsafe.Sizeof(alpha))
	register := form.RowRegister(l, y.Cols*size)
	if l == simd.NEON {
		register = form.ShortRegister
	}
	stream := l >= simd.AVX2 && beta == 0 && all.StreamsBy(register)
	if stream {
		defer form.Fence(l)
	}
	lanes := register / size
	tile := 4 * lanes
	predicted := predictsRows && rows+len(idx)/64 <= 2*predictedRows
	block := rows
	if y.Cols > tile {
		block = 32 // the entries then stay in the cache for the second tile of columns
	}
	base := ptr[0]
	for r := 0; r < rows; r += block {
		n := min(block, rows-r)
		ptr, y, done := ptr[r:r+n+1], y.From(r), n
		for c := 0; c < y.Cols; {
			w := columnsAtOnce(l, lanes, y.Cols-c)
			x, y := x.Columns(c, w), y.Columns(c, w)
			if l == simd.NEON && w < lanes {
				manyGeneric(alpha, beta, base, ptr[:done+1], idx, val, x, y)
			} else {
				done = manyColumns(l, register, alpha, beta, base, ptr, idx, val, x, y, stream, predicted)
			}
			c += w
		}
		if done < n { // row done has an index out of range, as all columns find
			manyGeneric(alpha, beta, base, ptr[done:], idx, val, x, y.From(done))
		}
	}
}

// columnsAtOnce returns the number of columns of the next call, of cols that are left. Registers have so many lanes. With
// NEON they are 1, 2 or 4 registers, or less than one, which plain Go multiplies.
func columnsAtOnce(l simd.Level, lanes, cols int) int {
	w := min(4*lanes, cols)
	if l != simd.NEON || w < lanes {
		return w
	}
	return lanes << (bits.Len(uint(w/lanes)) - 1)
}

// manyColumns is RowsMany for at most four registers of columns; entry k is idx[k-base]. It returns the number of rows
// before the first one with an index or a pointer out of range, or with NEON of a few rows less.
func manyColumns[V sparse.Value](l simd.Level, register int, alpha, beta V, base int64, ptr []int64, idx []int32, val []V, x, y form.MultiVector[V], stream, predicted bool) int {
	size := int(unsafe.Sizeof(alpha))
	lanes := register / size
	k := ptr[0] - base
	last := (y.Cols-1)%lanes + 1
	prefetchEnd := 0
	if int64(len(x.Val)*size) > farRowsBytes {
		prefetchEnd = int(base) + len(idx)
	}
	vectors := (y.Cols + lanes - 1) / lanes
	near := prefetchEnd == 0 && int64(len(idx))*int64(4+size) <= nearManyBytes
	a := manyArgs[V]{
		ptr: unsafe.SliceData(ptr), pointers: len(ptr),
		idx: unsafe.SliceData(idx[k:]), entries: len(idx[k:]), val: unsafe.SliceData(val[k:]),
		x: unsafe.SliceData(x.Val), y: unsafe.SliceData(y.Val), rowsX: x.Rows(), ldx: x.RowBytes(), ldy: y.RowBytes(),
		vectors: vectors, last: last, prefetchEnd: prefetchEnd, across: x.Across(vectors * register),
		stream: stream, near: near, predicted: predicted, alpha: alpha, beta: beta,
	}
	manyRows(l, register, &a)
	return a.pointers - 1
}

// manyGeneric is RowsMany in plain Go; entry k is idx[k-base].
func manyGeneric[V sparse.Value](alpha, beta V, base int64, ptr []int64, idx []int32, val []V, x, y form.MultiVector[V]) {
	for r := range len(ptr) - 1 {
		idx, val := idx[ptr[r]-base:ptr[r+1]-base], val[ptr[r]-base:ptr[r+1]-base]
		for _, i := range idx {
			if i < 0 || int(i) >= x.Rows() {
				panic(IndexError{Index: i, Rows: x.Rows()})
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

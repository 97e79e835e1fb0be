//go:build amd64

package simd

import (
	"unsafe"

	"github.com/msrep-go/msrep/sparse"
)

// rowsAVX2 does the rows before the first that is out of range, and gives their
// number. work has rowsWork elements.
func rowsAVX2[V sparse.Value](alpha, beta V, ptr []int64, idx []int32, val, x, y, work []V) int {
	switch y := any(y).(type) {
	case []float64:
		return rowsF64AVX2(float64(alpha), float64(beta), ptr, idx, any(val).([]float64), any(x).([]float64), y, any(work).([]float64))
	case []float32:
		return rowsF32AVX2(float32(alpha), float32(beta), ptr, idx, any(val).([]float32), any(x).([]float32), y, any(work).([]float32))
	}
	return 0
}

// spreadAVX2 writes alpha*x[r] to f for each entry of row r, and gives the number of
// rows before the first that finds no room or ends before it begins.
func spreadAVX2[V sparse.Value](alpha V, ptr []int64, x, f []V) int {
	switch f := any(f).(type) {
	case []float64:
		return spreadF64AVX2(float64(alpha), ptr, any(x).([]float64), f)
	case []float32:
		return spreadF32AVX2(float32(alpha), ptr, any(x).([]float32), f)
	}
	return 0
}

// scatterAVX2 adds the first n entries, times f each, up to the first that is out of
// range, and gives their number.
func scatterAVX2[V sparse.Value](n int, idx []int32, val, f, y []V, first int, far bool) int {
	switch y := any(y).(type) {
	case []float64:
		return scatterF64AVX2(n, idx, any(val).([]float64), any(f).([]float64), y, first, far)
	case []float32:
		return scatterF32AVX2(n, idx, any(val).([]float32), any(f).([]float32), y, first, far)
	}
	return 0
}

type manyRowsKernel[V sparse.Value] func(alpha, beta V, ptr []int64, idx []int32, val, x, y []V, rowsX, ldx, ldy, vectors, last, asks int, across, stream bool) int

// The kernels of manyRows with AVX-512 by the bytes of their registers: 16, 32, 64.
var (
	manyRows64 = [...]manyRowsKernel[float64]{manyF64AVX512Quarter, manyF64AVX512Half, manyF64AVX512}
	manyRows32 = [...]manyRowsKernel[float32]{manyF32AVX512Quarter, manyF32AVX512Half, manyF32AVX512}
)

// manyRows does the rows before the first that is out of range, and gives their
// number, by registers of so many bytes.
func manyRows[V sparse.Value](l Level, register int, alpha, beta V, ptr []int64, idx []int32, val, x, y []V, rowsX, ldx, ldy, vectors, last, asks int, across, stream bool) int {
	switch y := any(y).(type) {
	case []float64:
		kernel := manyF64AVX2
		if l >= AVX512 {
			kernel = manyRows64[register/(2*shortRegister)]
		}
		return kernel(float64(alpha), float64(beta), ptr, idx, any(val).([]float64), any(x).([]float64), y, rowsX, ldx, ldy, vectors, last, asks, across, stream)
	case []float32:
		kernel := manyF32AVX2
		if l >= AVX512 {
			kernel = manyRows32[register/(2*shortRegister)]
		}
		return kernel(float32(alpha), float32(beta), ptr, idx, any(val).([]float32), any(x).([]float32), y, rowsX, ldx, ldy, vectors, last, asks, across, stream)
	}
	return 0
}

// scatterMany does the entries before the first that has no place, and gives that one.
func scatterMany[V sparse.Value](l Level, alpha V, from int, ptr []int64, idx []int32, val, x, y, spill []V, marks []byte, ldx, ldy, lds, rows, first, done, open, vectors, last, asks int) int {
	switch y := any(y).(type) {
	case []float64:
		val, x, spill := any(val).([]float64), any(x).([]float64), any(spill).([]float64)
		if l >= AVX512 {
			return scatterManyF64AVX512(float64(alpha), from, ptr, idx, val, x, y, spill, marks, ldx, ldy, lds, rows, first, done, open, vectors, last, asks)
		}
		return scatterManyF64AVX2(float64(alpha), from, ptr, idx, val, x, y, spill, marks, ldx, ldy, lds, rows, first, done, open, vectors, last, asks)
	case []float32:
		val, x, spill := any(val).([]float32), any(x).([]float32), any(spill).([]float32)
		if l >= AVX512 {
			return scatterManyF32AVX512(float32(alpha), from, ptr, idx, val, x, y, spill, marks, ldx, ldy, lds, rows, first, done, open, vectors, last, asks)
		}
		return scatterManyF32AVX2(float32(alpha), from, ptr, idx, val, x, y, spill, marks, ldx, ldy, lds, rows, first, done, open, vectors, last, asks)
	}
	return from
}

// orderRowsAssembly is OrderRows for rows of full whole registers and last elements of another.
func orderRowsAssembly[V sparse.Value](l Level, order []int32, x, to Block[V], full, last int) {
	n, at, ldx, ldt := len(order), unsafe.SliceData(order), x.Stride*int(unsafe.Sizeof(*new(V))), to.Stride*int(unsafe.Sizeof(*new(V)))
	switch to := any(to.Val).(type) {
	case []float64:
		kernel := orderRowsF64AVX512
		if l == AVX2 {
			kernel = orderRowsF64AVX2
		}
		kernel(n, at, unsafe.SliceData(any(x.Val).([]float64)), ldx, unsafe.SliceData(to), ldt, full, last)
	case []float32:
		kernel := orderRowsF32AVX512
		if l == AVX2 {
			kernel = orderRowsF32AVX2
		}
		kernel(n, at, unsafe.SliceData(any(x.Val).([]float32)), ldx, unsafe.SliceData(to), ldt, full, last)
	}
}

//go:build amd64

package simd

import (
	"unsafe"

	"github.com/msrep-go/msrep/sparse"
)

type binKernel[V sparse.Value] func(to, x *V, columns *uint16, values *byte, runs *uint32, n int, next *V, lines int)

// The kernels of Bins.Products, by Storage.
var (
	binKernels64 = [4]binKernel[float64]{Full: binProductsF64FullAVX2, Short: binProductsF64ShortAVX2, Same: binProductsF64SameAVX2}
	binKernels32 = [4]binKernel[float32]{Full: binProductsF32FullAVX2, Same: binProductsF32SameAVX2}
)

// binProductsAssembly is Bins.Products for one run or more.
func binProductsAssembly[V sparse.Value](b *Bins[V], k int, runs []BinRun, x, next, to []V) {
	columns := unsafe.SliceData(b.Columns[k:])
	values := unsafe.Pointer(unsafe.SliceData(b.Values.Table))
	switch b.Values.Storage {
	case Full:
		values = unsafe.Pointer(unsafe.SliceData(b.Values.Full[k:]))
	case Short:
		values = unsafe.Pointer(unsafe.SliceData(b.Values.Short[k:]))
	}
	first, lines := &runs[0].To, len(next)/BinLine[V]()
	switch x := any(x).(type) {
	case []float64:
		binKernels64[b.Values.Storage](unsafe.SliceData(any(to).([]float64)), unsafe.SliceData(x), columns, (*byte)(values), first, len(runs),
			unsafe.SliceData(any(next).([]float64)), lines)
	case []float32:
		binKernels32[b.Values.Storage](unsafe.SliceData(any(to).([]float32)), unsafe.SliceData(x), columns, (*byte)(values), first, len(runs),
			unsafe.SliceData(any(next).([]float32)), lines)
	}
}

// addBinAssembly is AddBin for one line or more.
func addBinAssembly[V sparse.Value](products []V, rows []uint16, sums []V) {
	lines := len(rows) / BinLine[V]()
	switch sums := any(sums).(type) {
	case []float64:
		addBinF64AVX2(unsafe.SliceData(sums), unsafe.SliceData(any(products).([]float64)), unsafe.SliceData(rows), lines)
	case []float32:
		addBinF32AVX2(unsafe.SliceData(sums), unsafe.SliceData(any(products).([]float32)), unsafe.SliceData(rows), lines)
	}
}

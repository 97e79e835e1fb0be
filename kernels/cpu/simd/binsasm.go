//go:build amd64

package simd

import (
	"unsafe"

	"github.com/msrep-go/msrep/sparse"
)

// binKernel writes to or adds to to what x, or the factors, and the entries give.
type binKernel[V sparse.Value] func(to, from *V, columns *uint16, values *byte, runs *uint32, n int, next *V, lines int)

// binKernels is kernels by Storage.
type binKernels[V sparse.Value] [4]binKernel[V]

// The kernels of Bins.Products and AddTransposed.
var (
	binProducts64 = binKernels[float64]{Full: binProductsF64FullAVX2, Short: binProductsF64ShortAVX2, Same: binProductsF64SameAVX2}
	binProducts32 = binKernels[float32]{Full: binProductsF32FullAVX2, Same: binProductsF32SameAVX2}
	addRuns64     = binKernels[float64]{Full: addBinRunsF64FullAVX2, Short: addBinRunsF64ShortAVX2, Same: addBinRunsF64SameAVX2}
	addRuns32     = binKernels[float32]{Full: addBinRunsF32FullAVX2, Same: addBinRunsF32SameAVX2}
)

// binProductsAssembly is Bins.Products for one run or more.
func binProductsAssembly[V sparse.Value](b *Bins[V], k int, runs []BinRun, x, next, to []V) {
	switch b := any(b).(type) {
	case *Bins[float64]:
		callBins(&binProducts64, b, k, runs, any(to).([]float64), any(x).([]float64), any(next).([]float64))
	case *Bins[float32]:
		callBins(&binProducts32, b, k, runs, any(to).([]float32), any(x).([]float32), any(next).([]float32))
	}
}

// addRunsAssembly is Bins.AddTransposed for one run or more, after = 1.
func addRunsAssembly[V sparse.Value](b *Bins[V], k int, runs []BinRun, factors, y, next []V) {
	switch b := any(b).(type) {
	case *Bins[float64]:
		callBins(&addRuns64, b, k, runs, any(y).([]float64), any(factors).([]float64), any(next).([]float64))
	case *Bins[float32]:
		callBins(&addRuns32, b, k, runs, any(y).([]float32), any(factors).([]float32), any(next).([]float32))
	}
}

func callBins[V sparse.Value](kernels *binKernels[V], b *Bins[V], k int, runs []BinRun, to, from, next []V) {
	values := unsafe.Pointer(unsafe.SliceData(b.Values.Table))
	switch b.Values.Storage {
	case Full:
		values = unsafe.Pointer(unsafe.SliceData(b.Values.Full[k:]))
	case Short:
		values = unsafe.Pointer(unsafe.SliceData(b.Values.Short[k:]))
	}
	kernels[b.Values.Storage](unsafe.SliceData(to), unsafe.SliceData(from), unsafe.SliceData(b.Columns[k:]), (*byte)(values), &runs[0].To, len(runs),
		unsafe.SliceData(next), len(next)/BinLine[V]())
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

//go:build amd64

package simd

import (
	"unsafe"

	"github.com/msrep-go/msrep/sparse"
)

// binKernel writes to to what x and the entries give.
type binKernel[V sparse.Value] func(to, x *V, columns *uint16, values *byte, runs *uint32, n int, next *V, lines int)

// addRunsKernel adds to y what the factors and the entries give, times after.
type addRunsKernel[V sparse.Value] func(y, factors *V, columns *uint16, values *byte, runs *uint32, n int, next *V, lines int, after V)

// binTwoKernel is binKernel for two vectors side by side: to is the place of line from.
type binTwoKernel[V sparse.Value] func(to, x *V, columns *uint16, values *byte, runs *uint32, n, from int, next *V, lines int)

// multiplyBinKernel multiplies whole lines of x by values and adds them to sums.
type multiplyBinKernel[V sparse.Value] func(sums, x *V, rows *uint16, values *byte, lines int)

// The kernels of Bins.Products, AddTransposed and ProductsOfTwo, and of MultiplyBin, by Storage.
var (
	binProducts64 = [4]binKernel[float64]{Full: binProductsF64FullAVX2, Short: binProductsF64ShortAVX2, Same: binProductsF64SameAVX2}
	binProducts32 = [4]binKernel[float32]{Full: binProductsF32FullAVX2, Same: binProductsF32SameAVX2}
	addRuns64     = [4]addRunsKernel[float64]{Full: addBinRunsF64FullAVX2, Short: addBinRunsF64ShortAVX2, Same: addBinRunsF64SameAVX2}
	addRuns32     = [4]addRunsKernel[float32]{Full: addBinRunsF32FullAVX2, Same: addBinRunsF32SameAVX2}
	binTwo64      = [4]binTwoKernel[float64]{Full: binProductsOfTwoF64FullAVX2, Short: binProductsOfTwoF64ShortAVX2, Same: binProductsOfTwoF64SameAVX2}
	binTwo32      = [4]binTwoKernel[float32]{Full: binProductsOfTwoF32FullAVX2, Same: binProductsOfTwoF32SameAVX2}
	multiplyBin64 = [4]multiplyBinKernel[float64]{Full: multiplyBinF64FullAVX2, Short: multiplyBinF64ShortAVX2, Same: multiplyBinF64SameAVX2}
	multiplyBin32 = [4]multiplyBinKernel[float32]{Full: multiplyBinF32FullAVX2, Same: multiplyBinF32SameAVX2}
)

// binProductsAssembly is Bins.Products for one run or more.
func binProductsAssembly[V sparse.Value](b *Bins[V], k int, runs []BinRun, x, next, to []V) {
	switch b := any(b).(type) {
	case *Bins[float64]:
		callBins(binProducts64[b.Values.Storage], b, k, runs, any(to).([]float64), any(x).([]float64), any(next).([]float64))
	case *Bins[float32]:
		callBins(binProducts32[b.Values.Storage], b, k, runs, any(to).([]float32), any(x).([]float32), any(next).([]float32))
	}
}

func callBins[V sparse.Value](kernel binKernel[V], b *Bins[V], k int, runs []BinRun, to, x, next []V) {
	kernel(unsafe.SliceData(to), unsafe.SliceData(x), unsafe.SliceData(b.Columns[k:]), placesFrom(&b.Values, k), &runs[0].To, len(runs),
		unsafe.SliceData(next), len(next)/BinLine[V]())
}

// addRunsAssembly is Bins.AddTransposed for one run or more, after finite.
func addRunsAssembly[V sparse.Value](b *Bins[V], k int, runs []BinRun, after V, factors, y, next []V) {
	switch b := any(b).(type) {
	case *Bins[float64]:
		callAddRuns(addRuns64[b.Values.Storage], b, k, runs, float64(after), any(factors).([]float64), any(y).([]float64), any(next).([]float64))
	case *Bins[float32]:
		callAddRuns(addRuns32[b.Values.Storage], b, k, runs, float32(after), any(factors).([]float32), any(y).([]float32), any(next).([]float32))
	}
}

func callAddRuns[V sparse.Value](kernel addRunsKernel[V], b *Bins[V], k int, runs []BinRun, after V, factors, y, next []V) {
	kernel(unsafe.SliceData(y), unsafe.SliceData(factors), unsafe.SliceData(b.Columns[k:]), placesFrom(&b.Values, k), &runs[0].To, len(runs),
		unsafe.SliceData(next), len(next)/BinLine[V](), after)
}

// placesFrom is where the values from place k on lie.
func placesFrom[V sparse.Value](v *Values[V], k int) *byte {
	switch v.Storage {
	case Full:
		return bytesFrom(v.Full, k)
	case Short:
		return bytesFrom(v.Short, k)
	}
	return bytesFrom(v.Table, 0)
}

// productsOfTwoAssembly is Bins.ProductsOfTwo for one run or more.
func productsOfTwoAssembly[V sparse.Value](b *Bins[V], k int, runs []BinRun, from int, x, next, to []V) {
	switch b := any(b).(type) {
	case *Bins[float64]:
		callBinsOfTwo(binTwo64[b.Values.Storage], b, k, runs, from, any(to).([]float64), any(x).([]float64), any(next).([]float64))
	case *Bins[float32]:
		callBinsOfTwo(binTwo32[b.Values.Storage], b, k, runs, from, any(to).([]float32), any(x).([]float32), any(next).([]float32))
	}
}

func callBinsOfTwo[V sparse.Value](kernel binTwoKernel[V], b *Bins[V], k int, runs []BinRun, from int, to, x, next []V) {
	kernel(unsafe.SliceData(to), unsafe.SliceData(x), unsafe.SliceData(b.Columns[k:]), placesFrom(&b.Values, k), &runs[0].To, len(runs), from,
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

// multiplyBinAssembly is MultiplyBin for one line or more.
func multiplyBinAssembly[V sparse.Value](values *Values[V], first int, x []V, rows []uint16, sums []V) {
	switch sums := any(sums).(type) {
	case []float64:
		callMultiplyBin(multiplyBin64[values.Storage], any(values).(*Values[float64]), first, any(x).([]float64), rows, sums)
	case []float32:
		callMultiplyBin(multiplyBin32[values.Storage], any(values).(*Values[float32]), first, any(x).([]float32), rows, sums)
	}
}

func callMultiplyBin[V sparse.Value](kernel multiplyBinKernel[V], values *Values[V], first int, x []V, rows []uint16, sums []V) {
	kernel(unsafe.SliceData(sums), unsafe.SliceData(x), unsafe.SliceData(rows), placesFrom(values, first), len(rows)/BinLine[V]())
}

// addBinOfTwoAssembly is AddBinOfTwo for one line or more.
func addBinOfTwoAssembly[V sparse.Value](products []V, rows []uint16, sums []V) {
	lines := len(rows) / BinLine[V]()
	switch sums := any(sums).(type) {
	case []float64:
		addBinOfTwoF64AVX2(unsafe.SliceData(sums), unsafe.SliceData(any(products).([]float64)), unsafe.SliceData(rows), lines)
	case []float32:
		addBinOfTwoF32AVX2(unsafe.SliceData(sums), unsafe.SliceData(any(products).([]float32)), unsafe.SliceData(rows), lines)
	}
}

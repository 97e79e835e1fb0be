//go:build amd64

package simd

import (
	"unsafe"

	"github.com/msrep-go/msrep/sparse"
)

// binKernel takes whole lines of entries by rows: it adds to sums what they and x give, or writes it
// to to.
type binKernel[V sparse.Value] func(to, x *V, rows *uint16, values *byte, lines int)

// The kernels of Bins.Multiply, MultiplyOfTwo and Spread, by Storage.
var (
	multiplyBin64      = [4]binKernel[float64]{Full: multiplyBinF64FullAVX2, Short: multiplyBinF64ShortAVX2, Same: multiplyBinF64SameAVX2}
	multiplyBin32      = [4]binKernel[float32]{Full: multiplyBinF32FullAVX2, Same: multiplyBinF32SameAVX2}
	multiplyBinOfTwo64 = [4]binKernel[float64]{Full: multiplyBinOfTwoF64FullAVX2, Short: multiplyBinOfTwoF64ShortAVX2, Same: multiplyBinOfTwoF64SameAVX2}
	multiplyBinOfTwo32 = [4]binKernel[float32]{Full: multiplyBinOfTwoF32FullAVX2, Same: multiplyBinOfTwoF32SameAVX2}
	spreadBin64        = [4]binKernel[float64]{Full: spreadBinF64FullAVX2, Short: spreadBinF64ShortAVX2, Same: spreadBinF64SameAVX2}
	spreadBin32        = [4]binKernel[float32]{Full: spreadBinF32FullAVX2, Same: spreadBinF32SameAVX2}
)

// byBinRows calls the kernel for n entries from place k by rows on.
func byBinRows[V sparse.Value](b *Bins[V], double *[4]binKernel[float64], single *[4]binKernel[float32], k, n int, x, to []V) {
	switch b := any(b).(type) {
	case *Bins[float64]:
		callBinRows(double[b.Values.Storage], b, k, n, any(x).([]float64), any(to).([]float64))
	case *Bins[float32]:
		callBinRows(single[b.Values.Storage], b, k, n, any(x).([]float32), any(to).([]float32))
	}
}

func callBinRows[V sparse.Value](kernel binKernel[V], b *Bins[V], k, n int, x, to []V) {
	kernel(unsafe.SliceData(to), unsafe.SliceData(x), unsafe.SliceData(b.Rows[k:k+n]), b.valuesFrom(k), n/BinLine[V]())
}

// valuesFrom is where the values from place k by rows on lie.
func (b *Bins[V]) valuesFrom(k int) *byte {
	switch b.Values.Storage {
	case Full:
		return bytesFrom(b.Values.Full, k)
	case Short:
		return bytesFrom(b.Values.Short, k)
	}
	return bytesFrom(b.Values.Table, 0)
}

// multiplyBinAssembly is Bins.Multiply for one line or more.
func multiplyBinAssembly[V sparse.Value](b *Bins[V], k int, x, sums []V) {
	byBinRows(b, &multiplyBin64, &multiplyBin32, k, len(x), x, sums)
}

// multiplyBinOfTwoAssembly is Bins.MultiplyOfTwo for one line or more.
func multiplyBinOfTwoAssembly[V sparse.Value](b *Bins[V], k int, x, sums []V) {
	byBinRows(b, &multiplyBinOfTwo64, &multiplyBinOfTwo32, k, len(x)/2, x, sums)
}

// spreadBinAssembly is Bins.Spread for one line or more.
func spreadBinAssembly[V sparse.Value](b *Bins[V], k int, x, to []V) {
	byBinRows(b, &spreadBin64, &spreadBin32, k, len(to), x, to)
}

// copyBinsAssembly is Bins.Copy for one run or more.
func copyBinsAssembly[V sparse.Value](b *Bins[V], k int, runs []BinRun, x, next, to []V) {
	columns, asked := unsafe.SliceData(b.Columns[k:]), len(next)/BinLine[V]()
	switch x := any(x).(type) {
	case []float64:
		copyBinsF64AVX2(unsafe.SliceData(any(to).([]float64)), unsafe.SliceData(x), columns, &runs[0].To, len(runs), unsafe.SliceData(any(next).([]float64)), asked)
	case []float32:
		copyBinsF32AVX2(unsafe.SliceData(any(to).([]float32)), unsafe.SliceData(x), columns, &runs[0].To, len(runs), unsafe.SliceData(any(next).([]float32)), asked)
	}
}

// copyBinsOfTwoAssembly is Bins.CopyOfTwo for one run or more.
func copyBinsOfTwoAssembly[V sparse.Value](b *Bins[V], k int, runs []BinRun, from int, x, next, to []V) {
	columns, asked := unsafe.SliceData(b.Columns[k:]), len(next)/BinLine[V]()
	switch x := any(x).(type) {
	case []float64:
		copyBinsOfTwoF64AVX2(unsafe.SliceData(any(to).([]float64)), unsafe.SliceData(x), columns, &runs[0].To, len(runs), from, unsafe.SliceData(any(next).([]float64)), asked)
	case []float32:
		copyBinsOfTwoF32AVX2(unsafe.SliceData(any(to).([]float32)), unsafe.SliceData(x), columns, &runs[0].To, len(runs), from, unsafe.SliceData(any(next).([]float32)), asked)
	}
}

// addRunsAssembly is Bins.AddTransposed for one run or more, after finite.
func addRunsAssembly[V sparse.Value](b *Bins[V], k int, runs []BinRun, after V, products, y, next []V) {
	columns, asked := unsafe.SliceData(b.Columns[k:]), len(next)/BinLine[V]()
	switch y := any(y).(type) {
	case []float64:
		addBinRunsF64AVX2(unsafe.SliceData(y), unsafe.SliceData(any(products).([]float64)), columns, &runs[0].To, len(runs), unsafe.SliceData(any(next).([]float64)), asked, float64(after))
	case []float32:
		addBinRunsF32AVX2(unsafe.SliceData(y), unsafe.SliceData(any(products).([]float32)), columns, &runs[0].To, len(runs), unsafe.SliceData(any(next).([]float32)), asked, float32(after))
	}
}

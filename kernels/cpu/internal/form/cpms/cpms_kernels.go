package cpms

import (
	"unsafe"

	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/sparse/cpms"
)

// The kernels by Level-AVX2, source of values, and width of the vector over 2, as far as these
// apply.
type (
	joinTable       [2][sources]func(dst *float64, src *byte, step, n int)
	headRowsTable   [sources][5]func(a headRowArgs)
	headSlicesTable [2][sources][5]slicesKernel
	rankTable       [5][2]func(sum *float64, n int, cur, next *byte, degree *int32, damping, add float64) float64

	slicesKernel func(a headSliceArgs)
)

// The sources of values: all 1, plain, or the first segments of 2 or 4. After oneOf2 and oneOf4
// follow the sources that read one more segment each.
const (
	ones = iota
	plain
	oneOf2
	_
	oneOf4
	_
	_
	_
	sources
)

// sourceOf returns the source that reads the first read segments.
func sourceOf(a *cpms.Array, read int) int {
	if a.Segments32() != nil {
		return oneOf2 + read - 1
	}
	return oneOf4 + read - 1
}

// segmentsFrom returns the memory of an array from segment at on, and the bytes of step segments.
func segmentsFrom(a *cpms.Array, at, step int) (*byte, int) {
	if s := a.Segments32(); s != nil {
		return (*byte)(unsafe.Pointer(&s[at])), 4 * step
	}
	return (*byte)(unsafe.Pointer(&a.Segments16()[at])), 2 * step
}

func joinSegments(l simd.Level, dst []float64, a *cpms.Array, at, step, k int) {
	src, step := segmentsFrom(a, at, step)
	joinKernels[l-simd.AVX2][sourceOf(a, k)](&dst[0], src, step, len(dst))
}

// readsSegments reports whether kernels read the values directly for vectors of that width.
func readsSegments(a *cpms.Array, read, width int) bool {
	return headRowsKernels[sourceOf(a, read)][width/2] != nil
}

// plainOf returns the source of values that are plain or all 1, and their memory.
func plainOf(e Entries) (int, *byte) {
	if e.Plain == nil {
		return ones, nil
	}
	return plain, (*byte)(unsafe.Pointer(unsafe.SliceData(e.Plain)))
}

func headRows(y []float64, ptr []int64, e Entries, x *cpms.Heads) {
	s, val := plainOf(e)
	headRowsKernels[s][x.Width()/2](headRowArgs{unsafe.SliceData(y), len(y), &ptr[0], &e.Idx[0], val, 0, tails(x)})
}

func headRowsSegments(y []float64, ptr []int64, idx []int32, a *cpms.Array, at, step, read int, x *cpms.Heads) {
	val, step := segmentsFrom(a, at, step)
	headRowsKernels[sourceOf(a, read)][x.Width()/2](headRowArgs{&y[0], len(y), &ptr[0], &idx[0], val, step, tails(x)})
}

func headSlices(l simd.Level, y []float64, count []int32, off []int64, e Entries, x *cpms.Heads) {
	s, val := plainOf(e)
	e.sliceKernel(l, s, x)(headSliceArgs{
		y: unsafe.SliceData(y), slices: len(off) - 1, count: &count[0], off: &off[0],
		idx: e.indices(), start: unsafe.SliceData(e.Start), val: val, x: tails(x),
	})
}

func headSlicesSegments(l simd.Level, y []float64, count []int32, off []int64, e Entries, at, step int, x *cpms.Heads) {
	val, step := segmentsFrom(e.Segments, at, step)
	e.sliceKernel(l, sourceOf(e.Segments, e.Read), x)(headSliceArgs{
		y: &y[0], slices: len(off) - 1, count: &count[0], off: &off[0],
		idx: e.indices(), start: unsafe.SliceData(e.Start), val: val, step: step, x: tails(x),
	})
}

// sliceKernel returns the kernel for a source.
func (e Entries) sliceKernel(l simd.Level, source int, x *cpms.Heads) slicesKernel {
	if e.Near != nil {
		return nearSlicesKernels[l-simd.AVX2][source][x.Width()/2]
	}
	return headSlicesKernels[l-simd.AVX2][source][x.Width()/2]
}

// indices returns the memory of the columns.
func (e Entries) indices() *byte {
	if e.Near != nil {
		return (*byte)(unsafe.Pointer(&e.Near[0]))
	}
	return (*byte)(unsafe.Pointer(&e.Idx[0]))
}

// rank computes Rank for the first done nodes; done is 0 if the vectors have different widths or a
// width without a kernel.
func rank(sum []float64, cur, next *cpms.Heads, first int, degree []int32, damping, add float64) (done int, diff float64) {
	w := next.Width()
	done = len(sum) &^ 3
	kernel := rankKernels[w/2][0]
	if degree != nil {
		kernel = rankKernels[w/2][1]
	}
	if done == 0 || cur.Width() != w || kernel == nil {
		return 0, 0
	}
	from := (*byte)(unsafe.Add(unsafe.Pointer(tails(cur)), w*first))
	to := (*byte)(unsafe.Add(unsafe.Pointer(tails(next)), w*first+8-w))
	return done, kernel(&sum[0], done, from, to, unsafe.SliceData(degree), damping, add)
}

// tails returns the address that kernels use for value 0: 8 bytes before its end.
func tails(x *cpms.Heads) *byte {
	if f := x.Floats(); f != nil {
		return (*byte)(unsafe.Pointer(unsafe.SliceData(f)))
	}
	return unsafe.SliceData(x.Tails())
}

// These have no kernels on processors without assembly.
var (
	joinKernels       joinTable
	headRowsKernels   headRowsTable
	headSlicesKernels headSlicesTable
	nearSlicesKernels headSlicesTable
	rankKernels       rankTable
)

package form

import (
	"unsafe"

	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/sparse"
)

// CopyLines copies the listed lines of BinLine elements of x:
//
//	to[i*BinLine+j] = x[lines[i]*BinLine+j]  for 0 <= j < BinLine and every i
//
// Lines are not checked; they must be in x.
func CopyLines[V sparse.Value](l simd.Level, lines []int32, x, to []V) {
	n := BinLine[V]()
	to = to[:len(lines)*n]
	switch {
	case len(lines) == 0:
	case l != simd.Generic:
		copyLinesAVX2(BytesFrom(x, 0), BytesFrom(to, 0), &lines[0], len(lines))
	default:
		for i, at := range lines {
			copy(to[i*n:][:n], x[int(at)*n:])
		}
	}
}

// AddLines adds to the listed lines of BinLine elements of y:
//
//	y[lines[i]*BinLine+j] += from[i*BinLine+j]  for 0 <= j < BinLine and every i
//
// Lines are not checked; they must be in y, and none may be listed twice.
func AddLines[V sparse.Value](l simd.Level, lines []int32, from, y []V) {
	n := BinLine[V]()
	from = from[:len(lines)*n]
	switch {
	case len(lines) == 0:
	case l != simd.Generic:
		simd.ForType[addLinesKernel[V]](addLinesKernels)(unsafe.SliceData(y), &from[0], &lines[0], len(lines))
	default:
		for i, at := range lines {
			line := y[int(at)*n:][:n]
			for j, v := range from[i*n:][:n] {
				line[j] += v
			}
		}
	}
}

type addLinesKernel[V sparse.Value] func(y, from *V, lines *int32, n int)

// addLinesKernels has no kernels on processors without assembly.
var addLinesKernels simd.Kernels

// BinLine returns the number of slots of a line: the number of elements in 64 bytes.
func BinLine[V sparse.Value]() int { return 64 / int(unsafe.Sizeof(*new(V))) }

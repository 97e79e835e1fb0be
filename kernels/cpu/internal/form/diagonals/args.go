package diagonals

import (
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

// kernelArgs are the arguments of kernels during a call. Kernels are called through tables, so that
// arguments on the stack would be allocated.
type kernelArgs[V sparse.Value] struct {
	multiply   diagonalArgs[V]
	transposed diagonalTransposedArgs[V]
	many       form.ManyArgs[V]
	widths     [2]uint32 // of the slices of many
	few        fewArgs[V]
}

// aligned gives the next field an address that is a multiple of 8 bytes, so that fields have the
// same places for each type of value.
type aligned = [0]uint64

// diagonalArgs are the arguments of the kernels of MultiplyDiagonals. val and masks begin with those
// of the first run; value is a value of its storage:
//
//	for each slice of each of count runs {
//		var sums [lanes]V
//		for c, o := range offsets[run.Pattern:][:run.Width] {
//			for lane := range lanes {
//				if !run.Masked || masks[m]>>lane&1 == 1 {
//					sums[lane] += value(val, k+lane) * x[row+o+lane]
//				}
//			}
//			k += lanes // m++ if run.Masked
//		}
//		for lane := range lanes {
//			y[lane] = alpha*sums[lane] + beta*y[lane]
//		}
//		row, y = row+lanes, y[lanes:]
//	}
//
// Kernels change runs, the address of the next DiagonalRun, and count. runs ends behind the last
// run, where the garbage collector allows no pointer; the diagonals keep the runs alive.
type diagonalArgs[V sparse.Value] struct {
	runs     uintptr
	count    int
	offsets  *int64
	masks    *uint16
	val      *byte
	x, last  *V  // last: where the last register of x begins
	row      int // of the first slice, as an index in x
	table, y *V  // y begins with the first slice
	stream   int // 1: y is written past the caches; beta is 0
	prefetch int // 1: values are prefetched
	alpha    V
	_        aligned
	beta     V // 0: y is not read
}

// diagonalTransposedArgs are the arguments of the kernels of AddDiagonalsTransposed:
//
//	for each slice of each of count runs {
//		for c, o := range offsets[run.Pattern:][:run.Width] {
//			for lane := range lanes {
//				if !run.Masked || masks[m]>>lane&1 == 1 {
//					y[row+o+lane] += alpha*x[lane] * value(val, k+lane)
//				}
//			}
//			k += lanes // m++ if run.Masked
//		}
//		row, x = row+lanes, x[lanes:]
//	}
//
// Kernels change runs and count as in diagonalArgs.
type diagonalTransposedArgs[V sparse.Value] struct {
	runs     uintptr
	count    int
	offsets  *int64
	masks    *uint16
	val      *byte
	y, last  *V  // last: where the last register of y begins
	row      int // of the first slice, as an index in y
	table, x *V  // x begins with the first slice
	alpha    V
}

// fewArgs are the arguments of the kernels of MultiplyDiagonalsMany for a few vectors, the columns
// of x and y, whose rows are contiguous:
//
//	for range n {
//		var sums [lanes][vectors]V
//		for c := range width {
//			for lane := range lanes {
//				if masks == nil || masks[m]>>lane&1 == 1 {
//					sums[lane] += val[k+lane] * x[row+lane+offsets[c]] // all elements of the row
//				}
//			}
//			k, m = k+lanes, m+1
//		}
//		for lane := range lanes {
//			y[lane] = alpha*sums[lane] + beta*y[lane]
//		}
//		row, y = row+lanes, y[lanes:]
//	}
//
// Kernels change n.
type fewArgs[V sparse.Value] struct {
	n, width int // slices, and columns of each
	masks    *uint16
	val      *V
	offsets  *int64
	x        *V // row 0
	row      int
	y        *V  // begins with row row
	reads    int // 0: beta is 0 and y is not read
	stream   int // 1: y is written past the caches
	alpha    V
	_        aligned
	beta     V
}

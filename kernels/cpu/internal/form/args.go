package form

import "github.com/msrep-go/msrep/sparse"

// aligned gives the next field an address that is a multiple of 8 bytes, so that fields have the
// same places for each type of value.
type aligned = [0]uint64

// ManyArgs are the arguments of the kernels of ManyShape during a call. Kernels are called through
// tables, so that arguments on the stack would be allocated: a form keeps one ManyArgs. A kernel
// multiplies together lanes of each slice, from lane first on; val, idx and order begin with that
// lane:
//
//	for s := range n {
//		var sums [together][columns]V
//		for c := range full + masked columns of slice s {
//			for i := range together {
//				if c < full || masks[m]>>(first+i)&1 == 1 {
//					sums[i] += val[k+i] * x[idx[k+i]] // all elements of the row
//				}
//			}
//			k += lanes // m++ after a masked column
//		}
//		for i := range min(together, rows-s*lanes) {
//			y[order[s*lanes+i]] = alpha*sums[i] + beta*y[order[s*lanes+i]]
//		}
//	}
//
// For diagonals idx has an offset for each column: the row of x is row+s*lanes+i+offset; with one
// value for each offset, val[c] is the value. Kernels change n and rows.
type ManyArgs[V sparse.Value] struct {
	n           int     // slices
	widths      *uint32 // full and masked columns of each slice; of all slices for diagonals
	masks       *uint16
	first       int
	val         *V
	idx         *byte // indices of 16 or 32 bits, or offsets of 64 bits
	x           *V
	row, ldx    int // ldx: bytes from one row of x to the next
	y           *V
	ldy         int // bytes from one row of y to the next
	order       *uint16
	rows        int   // length of order
	prefetchEnd *byte // rows of x are prefetched for the indices before it, or for all offsets if it is not nil
	last        int   // elements in the last register of columns
	reads       int   // 0: beta is 0 and y is not read
	stream      int   // 1: y is written past the caches
	near        int   // 1: nothing of the slices is prefetched
	one         int   // 1: order has the same row for all lanes of a slice, and slices have all lanes
	alpha       V
	_           aligned
	beta        V
}

// expandArgs are the arguments of the kernels of Expansion.Full:
//
//	for k := range n*lanes {
//		out[k] = value(val, k)
//	}
//
// For each of the n > 0 columns a kernel prefetches the line at next, which it moves by step bytes.
type expandArgs[V sparse.Value] struct {
	n          int
	val        *byte
	table, out *V
	next       uintptr
	step       int
}

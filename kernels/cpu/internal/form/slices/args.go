package slices

import "github.com/msrep-go/msrep/sparse"

// sliceArgs are the arguments of the kernels of MultiplySlices, AddSlices and MultiplySlicesToRows.
// val, idx and masks begin with those of the first of n slices; value is a value of its storage, and
// column one of the two numbers of columns in widths after the other:
//
//	for s := range n {
//		var acc [lanes]V // or sums[s*lanes:][:lanes], if keep is -1
//		for c := range full + masked columns of slice s {
//			for lane := range lanes {
//				if c < full || masks[m]>>lane&1 == 1 {
//					acc[lane] += value(val, k+lane) * x[idx[k+lane]]
//				}
//			}
//			k += lanes // m++ after a masked column
//		}
//		copy(sums[s*lanes:], acc) // or y[rows[s*lanes+lane]] = alpha*acc[lane], if rows is not nil
//	}
//
// For each slice a kernel prefetches the line at ahead, which it moves by step, and for each column
// the values and indices that are valuesAhead and indicesAhead after it.
type sliceArgs[V sparse.Value] struct {
	n                         int // slices
	widths                    *uint32
	regular                   *uint16 // Slices.Regular from the first slice on, or nil
	masks                     *uint16
	val, idx                  *byte
	x, table, sums            *V
	keep                      int // -1: sums start with what is in sums; 0: with 0
	ahead                     *byte
	step                      int     // bytes
	valuesAhead, indicesAhead int     // bytes; nothing is prefetched if valuesAhead is 0
	rows                      *uint16 // nil: sums are stored
	y                         *V
	alpha                     V
}

// sliceTransposedArgs are the arguments of the kernels of AddSlicesTransposed:
//
//	for s := range n {
//		for c := range full + masked columns of slice s {
//			for lane := range lanes {
//				if c < full || masks[m]>>lane&1 == 1 {
//					y[idx[k+lane]-first] += value(val, k+lane) * factors[s*lanes+lane]
//				}
//			}
//			k += lanes // m++ after a masked column
//		}
//	}
//
// In the first prefetchColumns columns a kernel prefetches the elements of y of entries
// prefetchEntries later. Kernels change n.
type sliceTransposedArgs[V sparse.Value] struct {
	n                 int // slices
	widths            *uint32
	masks             *uint16
	val, idx          *byte
	table, factors, y *V
	first             int // index of y[0]
	prefetchColumns   int
	products          *V // scratch of lanes elements
}

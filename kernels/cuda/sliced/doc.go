// Package sliced keeps the rows of a part for the kernels msrep_major_slices of
// kernels/cuda: slices of 32 rows, a thread of a warp for each, in as few bytes for an
// entry as the slice allows.
//
// A slice is some steps of 32 places, one a lane. In memory its values come first, step
// by step, then its columns, in the way that takes the fewest bytes:
//
//	runs   8 bytes a step: the column of lane 0, and a mask of the lanes that have an
//	       entry, in the column of lane 0 plus their number. A step is a diagonal.
//	near   64 bytes a step: 16 bits a place, counted from the least column of the
//	       slice, which must reach all others so
//	far    128 bytes a step: 32 bits a place
//
// Values of float64 that float32 holds to the last bit are kept in 4 bytes. A place
// without an entry takes no part in any sum, so that an infinity or NaN in x stays where
// it belongs; its value is stored as 0.
//
// Rows keep their order, or are sorted by falling length within windows of 1024 rows
// where that takes fewer bytes (SELL-C-sigma: Kreutzer et al., SIAM J. Sci. Comput.
// 36(5), 2014).
package sliced

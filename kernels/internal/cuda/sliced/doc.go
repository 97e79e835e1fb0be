// Package sliced builds the form of the msrep_major_slices kernels of kernels/internal/cuda:
// slices of 32 rows, one row for each thread of a warp, with few bytes for each entry.
//
// A slice consists of steps of 32 places, one for each lane. It stores its values, step
// by step, then its columns, in the kind that takes the fewest bytes:
//
//	runs   8 bytes a step: the column of lane 0, and a mask of the lanes that have an
//	       entry; lane l has the column of lane 0 plus l. A step is a diagonal.
//	near   64 bytes a step: 16 bits a place, counted from the least column of the
//	       slice; possible if 16 bits reach all columns
//	far    128 bytes a step: 32 bits a place
//
// float64 values that float32 represents exactly are stored in 4 bytes. A place without
// an entry stores the value 0 and takes part in no sum, so an infinity or NaN in x
// affects only rows with an entry in its column.
//
// Rows keep their order, or are sorted by decreasing length in windows of 1024 rows if
// that takes fewer bytes (SELL-C-sigma: Kreutzer et al., SIAM J. Sci. Comput. 36(5),
// 2014).
package sliced

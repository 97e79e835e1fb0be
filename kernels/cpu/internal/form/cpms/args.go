package cpms

// headRowArgs are the arguments of the kernels of HeadRows:
//
//	for r := range rows {
//		y[r] = sum over ptr[r] <= k < ptr[r+1] of value(k-ptr[0]) * x[idx[k-ptr[0]]]
//	}
type headRowArgs struct {
	y    *float64
	rows int
	ptr  *int64
	idx  *int32
	val  *byte // segments of one kind are contiguous
	step int   // bytes to the segments of the next kind
	x    *byte // 8 bytes before the end of the first value
}

// headSliceArgs are the arguments of the kernels of HeadSlices:
//
//	for s := range slices {
//		for i := range 8 {
//			y[8*s+i] += sum over t < count[8*s+i] of value(k) * x[idx[k]],  k = off[s] - off[0] + 8*t + i
//		}
//	}
type headSliceArgs struct {
	y      *float64
	slices int
	count  *int32
	off    *int64
	idx    *byte  // 4 bytes each; near ones 2 bytes, relative to start[s]
	start  *int32 // of near indices
	val    *byte  // as in headRowArgs
	step   int
	x      *byte
}

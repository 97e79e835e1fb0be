package kernels

import "github.com/msrep-go/msrep/sparse"

// The shape of the sums of GatherFixed.
const (
	FixedLanes   = 8    // partial sums in a chunk
	FixedChunk   = 1024 // entries of a row that are summed by themselves
	FixedStripes = 4    // partial sums over the chunks of a long row
)

// GatherFixed is Gather for parts that hold whole majors only (Part.StartFlag is not
// set, and the last major ends in the part), with the same bits on every device:
//
//	y[r] = alpha * sum over the entries k of major r of val[k]*x[idx[k]] + beta*y[r]
//
// Everything is computed in V, with fused multiply-add. A row is cut into chunks of
// FixedChunk entries, from its first. Of the n entries of a chunk the first n - n%8
// are summed in lanes, lane j those with k%8 = j, in order and beginning with 0. The
// rest is added to that one by one:
//
//	lane[j] = fma(val[k], x[idx[k]], lane[j])
//	t[j]    = lane[j] + lane[j+4]                     j = 0 ... 3
//	chunk   = (t[0]+t[2]) + (t[1]+t[3])
//	chunk   = fma(val[k], x[idx[k]], chunk)           for the rest
//
// In float32, 0 is added to each lane before t. A row of one chunk has the sum of
// that. In a longer one stripe g sums the chunks g, g+4, g+8, ... in order, beginning
// with 0, and
//
//	sum = (s[0]+s[1]) + (s[2]+s[3])
//	y   = fma(beta, y, alpha*sum)
//
// where beta = 0 gives alpha*sum. A NaN is stored as the quiet one without a payload.
type GatherFixed[V sparse.Value] struct {
	A           Compressed[V]
	Alpha, Beta V
	X, Y        Array[V]
	Short       bool // no major has more than FixedChunk entries: nobody has to look
}

// Kernel names the operation.
func (*GatherFixed[V]) Kernel() string { return "gather-fixed" }

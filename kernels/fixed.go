package kernels

import "github.com/msrep-go/msrep/sparse"

// The shape of the sums of GatherFixed.
const (
	FixedLanes   = 4   // partial sums in a chunk
	FixedChunk   = 256 // entries of a row that are summed by themselves
	FixedStripes = 8   // partial sums over the chunks of a long row
)

// GatherFixed is Gather for parts that hold whole majors only (Part.StartFlag is not
// set, and the last major ends in the part), with the same bits on every device:
//
//	y[r] = alpha * sum over the entries k of major r of val[k]*x[idx[k]] + beta*y[r]
//
// Everything is computed in float64, with fused multiply-add. A row is cut into
// chunks of FixedChunk entries, from its first. Lane j of a chunk sums its entries
// j, j+4, j+8, ... in order, beginning with 0:
//
//	lane[j] = fma(val[k], x[idx[k]], lane[j])
//	chunk   = (lane[0]+lane[1]) + (lane[2]+lane[3])
//
// A row of one chunk has the sum of that. In a longer one stripe g sums the chunks
// g, g+8, g+16, ... in order, beginning with 0, and
//
//	sum = ((s[0]+s[1])+(s[2]+s[3])) + ((s[4]+s[5])+(s[6]+s[7]))
//	y   = fma(beta, y, alpha*sum)
//
// rounded to V once; beta = 0 gives alpha*sum. A NaN is stored as the quiet one
// without a payload.
type GatherFixed[V sparse.Value] struct {
	A           Compressed[V]
	Alpha, Beta V
	X, Y        Array[V]
}

// Kernel names the operation.
func (*GatherFixed[V]) Kernel() string { return "gather fixed" }

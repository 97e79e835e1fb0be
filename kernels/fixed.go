package kernels

import "github.com/msrep-go/msrep/sparse"

// These constants are the shape of the sums of MajorProductFixed.
const (
	FixedChunk   = 512 // entries of a chunk, which are summed one after the other
	FixedStripes = 32  // partial sums over the chunks of a row
)

// MajorProductFixed is MajorProduct with the same bits on every device. The part must hold whole majors
// only: Part.StartFlag is not set, and the last major ends in the part.
//
//	y[r] = alpha * sum over the entries k of major r of val[k]*x[idx[k]] + beta*y[r]
//
// All arithmetic is in V, with fused multiply-add. A row is cut into chunks of FixedChunk entries; the last
// chunk has the rest. The entries of a chunk are added in the order in which they are stored, beginning
// with 0:
//
//	chunk = fma(val[k], x[idx[k]], chunk)
//
// The sum of a row of up to FixedChunk entries is the sum of its chunk. In a longer row, stripe g adds the
// chunks g, g+FixedStripes, g+2*FixedStripes, ... in order, beginning with 0. The stripes are then summed
// as a tree:
//
//	s[g] = s[g] + s[g+d]      g = 0 ... d-1, for d = FixedStripes/2, ..., 2, 1
//	sum  = s[0]
//
// Then
//
//	y = fma(beta, y, alpha*sum)
//
// where beta = 0 gives alpha*sum and does not read y. A NaN is stored as the quiet NaN without a payload.
//
// Some packed forms sum in the same order. Packing.Fixed asks for one of them.
type MajorProductFixed[V sparse.Value] struct {
	A           Compressed[V]
	Alpha, Beta V
	X, Y        Array[V]
	Short       bool // no major has more than FixedChunk entries, so the device need not check
}

// Name returns the name of the operation.
func (*MajorProductFixed[V]) Name() string { return "major-product-fixed" }

package kernels

import "github.com/msrep-go/msrep/sparse"

// The shape of the sums of MajorProductFixed.
const (
	FixedChunk   = 512 // entries of a row that are summed by themselves, at most
	FixedStripes = 32  // partial sums over the chunks of a long row
)

// MajorProductFixed is Gather for parts that hold whole majors only (Part.StartFlag is not
// set, and the last major ends in the part), with the same bits on every device:
//
//	y[r] = alpha * sum over the entries k of major r of val[k]*x[idx[k]] + beta*y[r]
//
// Everything is computed in V, with fused multiply-add. A row is cut into chunks of
// FixedChunk entries, from its first; the last has what is left. The entries of a
// chunk are added in the order in which they are stored, beginning with 0:
//
//	chunk = fma(val[k], x[idx[k]], chunk)
//
// A row of up to FixedChunk entries has the sum of its chunk. In a longer one stripe
// g sums the chunks g, g+FixedStripes, g+2*FixedStripes, ... in order, beginning with
// 0, and the stripes are summed as a tree:
//
//	s[g] = s[g] + s[g+d]      g = 0 ... d-1, for d = FixedStripes/2, ..., 2, 1
//	sum  = s[0]
//
// Then
//
//	y = fma(beta, y, alpha*sum)
//
// where beta = 0 gives alpha*sum. A NaN is stored as the quiet one without a payload.
//
// Forms that keep a row in one lane of a register, or entry by entry, sum so anyway
// as long as they take the entries in their order: Packing.Fixed asks for those.
type MajorProductFixed[V sparse.Value] struct {
	A           Compressed[V]
	Alpha, Beta V
	X, Y        Array[V]
	Short       bool // no major has more than FixedChunk entries: nobody has to look
}

// Name names the operation.
func (*MajorProductFixed[V]) Name() string { return "major-product-fixed" }

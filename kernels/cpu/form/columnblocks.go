package form

import (
	"math/bits"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/sparse"
)

// columnBlocks is x in blocks of columns, and where the entries lie of the pieces that a matrix
// is cut into along them.
type columnBlocks[V sparse.Value] struct {
	cols   int
	shift  uint8 // log2 of the columns of a block
	across int   // blocks, which are pieces side by side: at least one
	// first is where the entries of each piece begin, all those side by side one after the other,
	// and where the last one's end.
	first []int64
}

// newColumnBlocks cuts columns into blocks of a width that is a power of two.
func newColumnBlocks[V sparse.Value](cols, width int) columnBlocks[V] {
	return columnBlocks[V]{cols: cols, shift: uint8(bits.TrailingZeros(uint(width))), across: int(tilesAcross(cols, width))}
}

// tilesAcross is how many pieces of so many columns lie side by side, at least one.
func tilesAcross(cols, width int) int64 {
	return max(1, (int64(cols)+int64(width)-1)/int64(width))
}

// part is the columns of x in block c.
func (b *columnBlocks[V]) part(x []V, c int) []V {
	lo := c << b.shift
	return x[lo:min(lo+1<<b.shift, len(x))]
}

// ahead is the part of x that piece p needs, if it is worth reading as a whole.
func (b *columnBlocks[V]) ahead(x []V, p int) []V {
	if p+1 >= len(b.first) {
		return nil
	}
	part := b.part(x, p%b.across)
	if !b.worthAhead(p, len(part)) {
		return nil
	}
	return part
}

// worthAhead reports whether piece p has an entry for every other cache line of its elements of
// a vector.
func (b *columnBlocks[V]) worthAhead(p, elements int) bool {
	return (b.first[p+1]-b.first[p])*2*cacheLine >= int64(elements)*mem.Size[V]()
}

// cacheLine is the bytes that a cache loads at a time.
const cacheLine = 64

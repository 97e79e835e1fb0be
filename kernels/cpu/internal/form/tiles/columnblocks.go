package tiles

import (
	"math/bits"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

// columnBlocks divides the columns of a matrix into blocks. A piece is what tiles store for one block
// of columns in a block of rows.
type columnBlocks[V sparse.Value] struct {
	cols   int
	shift  uint8 // log2 of the number of columns of a block
	across int   // number of blocks of columns, at least 1
	// first has the index of the first entry of each piece, then the number of entries. The pieces
	// of all blocks of columns follow each other, block by block.
	first []int64
}

// newColumnBlocks divides cols columns into blocks of width columns, a power of two.
func newColumnBlocks[V sparse.Value](cols, width int) columnBlocks[V] {
	return columnBlocks[V]{cols: cols, shift: uint8(bits.TrailingZeros(uint(width))), across: int(tilesAcross(cols, width))}
}

// tilesAcross returns the number of blocks of width columns, at least 1.
func tilesAcross(cols, width int) int64 {
	return max(1, (int64(cols)+int64(width)-1)/int64(width))
}

// elements returns the elements of x of block c.
func (b *columnBlocks[V]) elements(x []V, c int) []V {
	lo := c << b.shift
	return x[lo:min(lo+1<<b.shift, len(x))]
}

// toPrefetch returns the part of x of piece p if it is worth prefetching, and nil otherwise.
func (b *columnBlocks[V]) toPrefetch(x []V, p int) []V {
	if p+1 >= len(b.first) {
		return nil
	}
	part := b.elements(x, p%b.across)
	if !b.worthPrefetching(p, len(part)) {
		return nil
	}
	return part
}

// worthPrefetching reports whether piece p has at least one entry for every two cache lines of a
// vector of that many elements.
func (b *columnBlocks[V]) worthPrefetching(p, elements int) bool {
	return (b.first[p+1]-b.first[p])*2*form.CacheLine >= int64(elements)*mem.Size[V]()
}

package form

import (
	"math/bits"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/sparse"
)

// ColumnBlocks divides the columns of a matrix into blocks. A piece is what a form stores for one
// block of columns: a tile, or the runs of a group.
type ColumnBlocks[V sparse.Value] struct {
	Cols   int
	Shift  uint8 // log2 of the number of columns of a block
	Across int   // number of blocks of columns, at least 1
	// First has the index of the first entry of each piece, then the number of entries. The pieces
	// of all blocks of columns follow each other, block by block.
	First []int64
}

// NewColumnBlocks divides cols columns into blocks of width columns, a power of two.
func NewColumnBlocks[V sparse.Value](cols, width int) ColumnBlocks[V] {
	return ColumnBlocks[V]{Cols: cols, Shift: uint8(bits.TrailingZeros(uint(width))), Across: int(TilesAcross(cols, width))}
}

// TilesAcross returns the number of blocks of width columns, at least 1.
func TilesAcross(cols, width int) int64 {
	return max(1, (int64(cols)+int64(width)-1)/int64(width))
}

// Elements returns the elements of x of block c.
func (b *ColumnBlocks[V]) Elements(x []V, c int) []V {
	lo := c << b.Shift
	return x[lo:min(lo+1<<b.Shift, len(x))]
}

// ToPrefetch returns the part of x of piece p if it is worth prefetching, and nil otherwise.
func (b *ColumnBlocks[V]) ToPrefetch(x []V, p int) []V {
	if p+1 >= len(b.First) {
		return nil
	}
	part := b.Elements(x, p%b.Across)
	if !b.WorthPrefetching(p, len(part)) {
		return nil
	}
	return part
}

// WorthPrefetching reports whether piece p has at least one entry for every two cache lines of a
// vector of that many elements.
func (b *ColumnBlocks[V]) WorthPrefetching(p, elements int) bool {
	return (b.First[p+1]-b.First[p])*2*CacheLine >= int64(elements)*mem.Size[V]()
}

// CacheLine is the bytes of a cache line.
const CacheLine = 64

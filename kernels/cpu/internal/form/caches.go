package form

import (
	"math/bits"
	"slices"

	"github.com/klauspost/cpuid/v2"
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/sparse"
)

// ManyTiles is the number of tiles that is allowed however few entries they have.
const ManyTiles = 1 << 16

// Cache sizes, if the processor does not report them.
const FirstCache = 32 << 10

const SecondCache = 512 << 10

// TileSize returns the rows and columns of a piece, which is a tile or a panel. Blocks of rows have
// about equal heights of at most mostRows. The width is cols. If mostRows or cols is 0, the cache
// sizes determine it.
func TileSize[V sparse.Value](piece string, rows, mostRows, cols int) (height, width int, err error) {
	if mostRows < 0 || mostRows > TileRows || cols < 0 || cols > TileCols || cols&(cols-1) != 0 {
		return 0, 0, sparse.Inputf(piece, "%d rows and %d columns: use at most %d rows, and a power of two up to %d of columns",
			mostRows, cols, TileRows, TileCols)
	}
	if mostRows == 0 {
		mostRows = min(HalfCache[V](cpuid.CPU.Cache.L2, SecondCache), TileRows)
	}
	if cols == 0 {
		cols = min(HalfCache[V](cpuid.CPU.Cache.L1D, FirstCache), TileCols)
	}
	blocks := max(1, (rows+mostRows-1)/mostRows)
	return max(1, (rows+blocks-1)/blocks), cols, nil
}

// HalfCache returns the number of elements that half of a cache holds, rounded down to a power of
// two.
func HalfCache[V sparse.Value](cache, unknown int) int {
	if cache <= 0 {
		cache = unknown
	}
	return 1 << (bits.Len(uint(cache/2/int(mem.Size[V]()))) - 1)
}

// WithoutTable returns s with another storage if s uses a table: a table is read by pairs of
// values, but tiles begin at any entry.
func (s ValueSet[V]) WithoutTable() ValueSet[V] {
	switch s.StoredAs {
	case Bits57:
		return s.Not57()
	case Table:
	default:
		return s
	}
	s.StoredAs = Full
	if mem.Size[V]() == 8 && !slices.ContainsFunc(s.Values, func(v V) bool { return BitsOf(V(float32(v))) != BitsOf(v) }) {
		s.StoredAs = Short
	}
	return s
}

// LineShift returns log2 of the number of elements of a cache line.
func LineShift[V sparse.Value]() int {
	if mem.Size[V]() == 8 {
		return 3
	}
	return 4
}

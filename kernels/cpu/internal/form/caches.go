package form

import (
	"math/bits"
	"runtime"

	"github.com/klauspost/cpuid/v2"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/sparse"
)

// The first and the second cache of a processor that does not report their sizes.
const (
	FirstCache  = 32 << 10
	SecondCache = 512 << 10
)

// ManyTiles is the number of tiles that is allowed however few entries they have.
const ManyTiles = 1 << 16

// TileRows and TileCols are the greatest numbers of rows and columns of a tile.
const (
	TileRows = 1 << 16
	TileCols = 1 << 16
)

// RunRows is the greatest number of rows of a group of Runs, and of columns of a piece.
const RunRows = 8

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

// LineShift returns log2 of the number of elements of a cache line.
func LineShift[V sparse.Value]() int {
	if mem.Size[V]() == 8 {
		return 3
	}
	return 4
}

// Zen4 and Zen5 report whether the processor is an AMD Zen 4 or Zen 5, respectively, or a later
// one. Zen 4 was the first AMD processor with AVX-512.
var (
	Zen4 = cpuid.CPU.VendorID == cpuid.AMD && cpuid.CPU.Supports(cpuid.AVX512F)
	Zen5 = cpuid.CPU.VendorID == cpuid.AMD && cpuid.CPU.Family >= 0x1A
)

// xeon reports whether the processor is an Intel processor with AVX-512. One of 2023, model 207,
// was measured.
var xeon = cpuid.CPU.VendorID == cpuid.Intel && cpuid.CPU.Supports(cpuid.AVX512F)

// PrefetchesBlocks reports whether kernels of blocks prefetch values. They are then 1.2 times as
// fast on Zen 5, 1.1 times on the Xeon (1.5 times with values in 57 bits), and up to an eighth
// slower on Zen 4. Other processors were not measured.
var PrefetchesBlocks = Zen5 || xeon

// NearBytes is the number of bytes of entries up to which prefetching them costs more than it
// gains: 1.5 second-level caches, where an unknown cache counts as SecondCache. On Zen 4 and 5 it is an
// eighth of the last-level cache, measured with two CPUs; more CPUs, which share that cache, get a
// quarter of it together.
var NearBytes = func() int64 {
	second := int64(cpuid.CPU.Cache.L2)
	if second <= 0 {
		second = SecondCache
	}
	second = 3 * second / 2
	if Zen4 {
		return max(second, LastCache()/4/int64(max(2, runtime.NumCPU())))
	}
	return second
}()

// Near reports whether that many bytes of entries are so near to the CPU that kernels do not
// prefetch them.
func Near(bytes int64) bool { return bytes <= NearBytes }

// NearDiagonals is Near for diagonals. Zen 5 gains by prefetching them even from the last-level
// cache.
func NearDiagonals(bytes int64) bool { return !Zen5 && Near(bytes) }

// LineCycles returns the cycles that the first-level cache needs to load a line from the
// second-level cache while it waits for other lines: 2.0 to 2.2 on Zen 4, which moves 32 bytes per
// cycle, and about 1, fitted, on Zen 5.
func LineCycles() int64 {
	if Zen4 && !Zen5 {
		return 2
	}
	return 1
}

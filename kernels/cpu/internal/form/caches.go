package form

import (
	"runtime"

	"github.com/klauspost/cpuid/v2"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/sparse"
)

// SecondCache is the second cache of a processor that does not report its size.
const SecondCache = 512 << 10

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

// CacheLine is the bytes of a cache line.
const CacheLine = 64

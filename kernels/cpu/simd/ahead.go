package simd

import (
	"runtime"

	"github.com/klauspost/cpuid/v2"
)

// zen4 and zen5 say whether the processor is of AMD's Zen 4 or Zen 5, or of a later one. Zen 4 was the first with AVX-512.
var (
	zen4 = cpuid.CPU.VendorID == cpuid.AMD && cpuid.CPU.Supports(cpuid.AVX512F)
	zen5 = cpuid.CPU.VendorID == cpuid.AMD && cpuid.CPU.Family >= 0x1A
)

// xeon says whether the processor is Intel's with AVX-512; one of 2023, model 207, was measured.
var xeon = cpuid.CPU.VendorID == cpuid.Intel && cpuid.CPU.Supports(cpuid.AVX512F)

// asksAhead says whether kernels of blocks ask for values ahead: 1.2 times as fast on Zen 5, 1.1 on the Xeon, 1.5 there
// with values in 57 bits; up to an eighth slower on Zen 4. Other processors were not measured.
var asksAhead = zen5 || xeon

// nearBytes is up to how many bytes of entries asking for them ahead takes more than it gains: one and a half second
// caches, or of 512 KiB where that is not known. On Zen 4 and 5 it is an eighth of the last one, which was measured with
// two CPUs: with more of them, which share it, a quarter for all together.
var nearBytes = func() int64 {
	second := int64(cpuid.CPU.Cache.L2)
	if second <= 0 {
		second = 512 << 10
	}
	second = 3 * second / 2
	if zen4 {
		return max(second, LastCache()/4/int64(max(2, runtime.NumCPU())))
	}
	return second
}()

// Near reports whether so many bytes of entries are near enough that nothing of them is asked for ahead.
func Near(bytes int64) bool { return bytes <= nearBytes }

// NearDiagonals is Near for diagonals. Zen 5 gains by asking for them even in the last cache.
func NearDiagonals(bytes int64) bool { return !zen5 && Near(bytes) }

// LineCycles is how long the first cache takes to get a line that the second one has while it waits for others as
// well: 2.0 to 2.2 cycles on a Zen 4, which moves 32 bytes a cycle. About 1 was fitted on a Zen 5.
func LineCycles() int64 {
	if zen4 && !zen5 {
		return 2
	}
	return 1
}

package launch

import "github.com/msrep-go/msrep/kernels"

// free returns the unused bytes of a device's memory; bounded is false if the memory
// has no limit. A device that other programs use too reports its free memory itself.
func free(d kernels.Device) (bytes int64, bounded bool) {
	if f, ok := d.(interface{ FreeMemory() int64 }); ok {
		return f.FreeMemory(), true
	}
	total := d.Info().Memory
	return total - d.InUse(), total > 0
}

// usable returns how many of free bytes the arrays may take. A 64th (at least 64 KiB)
// remains for rounding of allocations and for kernels.
func usable(free int64) int64 { return free - max(free/64, 64<<10) }

// mostShared is the number of bytes of shared memory for the sums of a tile: two blocks of an NVIDIA A100 or newer have that
// much each.
const mostShared = 112 << 10

// sharedBytes returns how many of want bytes of shared memory a block of a device may have.
func sharedBytes(d kernels.Device, want int64) int64 {
	if s, ok := d.(interface{ SharedMemory() int64 }); ok {
		return min(s.SharedMemory(), want)
	}
	return want
}

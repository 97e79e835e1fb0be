package launch

import "github.com/msrep-go/msrep/kernels"

// free is the bytes of a device's memory that nobody has; bounded is false where there is no
// bound. A device with other users than this program's System tells it itself.
func free(d kernels.Device) (bytes int64, bounded bool) {
	if f, ok := d.(interface{ FreeMemory() int64 }); ok {
		return f.FreeMemory(), true
	}
	total := d.Info().Memory
	return total - d.InUse(), total > 0
}

// usable is what of so many free bytes arrays may take together: a 64th stays for what an
// allocation is rounded up to, and for kernels, and something of little memory.
func usable(free int64) int64 { return free - max(free/64, 64<<10) }

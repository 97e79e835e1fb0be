//go:build cuda

package nvidia

import (
	"fmt"
	"math"

	"gorgonia.org/cu"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/nvidia/internal/driver"
)

// AdoptMemory implements kernels.MemoryAdopter. The memory must be of the primary context of the GPU, as that of the CUDA
// runtime is. AdoptMemory waits for the work on all streams of this context.
func (d *Device) AdoptMemory(addr uint64, bytes int64) (kernels.Buffer, error) {
	b := &buffer{dev: d, addr: cu.DevicePtr(addr), bytes: bytes, theirs: true}
	err := d.run("adopt", bytes, func() error {
		switch {
		case d.gpu.key.own > 0:
			return fmt.Errorf("%w: the device has a context of its own, which does not reach other memory", kernels.ErrNotSupported)
		case bytes < 0 || addr > math.MaxUint64-uint64(bytes):
			return fmt.Errorf("%w: %d bytes from address %#x", kernels.ErrArgument, bytes, addr)
		case bytes > 0 && !(driver.OnDevice(addr, d.gpu.dev) && driver.OnDevice(addr+uint64(bytes)-1, d.gpu.dev)):
			return fmt.Errorf("%w: the %d bytes from address %#x are not memory of this GPU", kernels.ErrArgument, bytes, addr)
		}
		return cu.Synchronize()
	})
	if err != nil {
		return nil, err
	}
	return b, nil
}

//go:build cuda

package nvidia

import (
	"errors"

	"gorgonia.org/cu"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/nvidia/internal/driver"
	"github.com/msrep-go/msrep/numa"
)

var (
	_ kernels.Pinner    = (*Device)(nil)
	_ kernels.Addresser = (*Device)(nil)
)

// pinned is pinned host memory.
type pinned struct {
	buf    []byte
	region *mem.Region // nil for memory that the driver allocated
}

// pinHost allocates memory on the GPU's node and pins it. If the system refuses to pin,
// the driver allocates the memory. Only the thread of the device may call it.
func (d *Device) pinHost(bytes int64) (p pinned, err error) {
	if p.region, err = mem.New(bytes); err != nil {
		return p, err
	}
	p.buf = p.region.Bytes()
	if d.config.Node >= 0 {
		if err := numa.Bind(p.buf, d.config.Node); err != nil {
			d.refused(err)
		}
	}
	if err := driver.Register(address(p.buf), uintptr(len(p.buf)), false); err == nil {
		return p, nil
	} else {
		d.refused(err)
	}
	if err := p.region.Free(); err != nil {
		return p, err
	}
	p.region = nil
	p.buf, err = driver.HostAlloc(int(bytes))
	return p, err
}

// free frees the memory, also on a lost device. The driver waits for running copies.
func (p pinned) free() error {
	if p.region == nil {
		return driver.HostFree(p.buf)
	}
	return errors.Join(driver.Unregister(address(p.buf)), p.region.Free())
}

// AllocPinned returns pinned memory on the GPU's node.
func (d *Device) AllocPinned(bytes int64) (buf []byte, free func() error, err error) {
	if bytes <= 0 {
		return nil, func() error { return nil }, nil
	}
	var p pinned
	if err := d.run("alloc pinned", bytes, func() (err error) {
		if p, err = d.pinHost(bytes); err == nil {
			clear(p.buf)
		}
		return err
	}); err != nil {
		return nil, nil, err
	}
	freed := false
	return p.buf, func() error {
		return d.fail("free pinned", bytes, d.worker.call(func() error {
			if freed {
				return nil
			}
			freed = true
			return p.free()
		}))
	}, nil
}

// AllocAddressed allocates memory outside of the pool, which other processes can open.
func (d *Device) AllocAddressed(bytes int64) (kernels.Buffer, uintptr, error) {
	b, err := d.alloc(bytes, true)
	if err != nil {
		return nil, 0, err
	}
	return b, uintptr(b.addr), nil
}

// Enter makes the context of the GPU current on the calling thread.
func (d *Device) Enter() error { return d.fail("enter", 0, cu.SetCurrentContext(d.gpu.ctx)) }

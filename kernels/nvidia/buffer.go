//go:build cuda

package nvidia

import (
	"errors"
	"fmt"
	"sync/atomic"

	"gorgonia.org/cu"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/internal/cuda/launch"
	"github.com/msrep-go/msrep/kernels/nvidia/internal/driver"
)

// buffer is memory of a device. A buffer of 0 bytes has no address.
type buffer struct {
	dev    *Device
	addr   cu.DevicePtr
	bytes  int64
	single bool // not from the pool
	theirs bool // the caller's; see AdoptMemory
	freed  atomic.Bool
}

// Alloc returns zeroed memory that begins at a multiple of 256 bytes.
func (d *Device) Alloc(bytes int64) (kernels.Buffer, error) {
	b, err := d.alloc(bytes, false)
	if err != nil {
		return nil, err
	}
	return b, nil
}

// alloc allocates a buffer, from the pool unless it is single.
func (d *Device) alloc(bytes int64, single bool) (*buffer, error) {
	if bytes < 0 {
		return nil, d.fail("alloc", 0, fmt.Errorf("%w: %d bytes", kernels.ErrArgument, bytes))
	}
	if bytes > d.info.Memory {
		return nil, d.fail("alloc", bytes, fmt.Errorf("%w: the GPU has %d bytes", kernels.ErrOutOfMemory, d.info.Memory))
	}
	b := &buffer{dev: d, bytes: bytes, single: single}
	err := d.run("alloc", bytes, func() error {
		if bytes == 0 {
			return nil
		}
		var err error
		if single {
			b.addr, err = d.obtain(func() (cu.DevicePtr, error) { return cu.MemAlloc(bytes) })
		} else {
			b.addr, err = d.allocate(bytes, d.allocs)
		}
		if err != nil {
			return err
		}
		err = cu.MemsetD8Async(b.addr, 0, bytes, d.allocs)
		if err == nil {
			err = d.sync(d.allocs)
		}
		if err != nil {
			return freeAfter(err, b.giveBack())
		}
		d.buffers[b] = true
		d.inUse.Add(bytes)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return b, nil
}

// FreeMemory returns the bytes of the GPU that no device and no other program uses. If
// the driver does not report them, the device counts only its own allocations.
func (d *Device) FreeMemory() int64 {
	free := d.info.Memory - d.InUse()
	_ = d.run("free memory", 0, func() error {
		if err := d.sync(d.allocs); err != nil { // completes the frees on the stream
			return err
		}
		n, err := driver.FreeMemory(d.gpu.dev, d.gpu.pools)
		if err == nil {
			free = n
		}
		return err
	})
	return free
}

// allocate allocates uninitialized memory for work on s or after it.
func (d *Device) allocate(bytes int64, s cu.Stream) (cu.DevicePtr, error) {
	if !d.gpu.pools {
		return cu.MemAlloc(bytes)
	}
	return d.obtain(func() (cu.DevicePtr, error) { return driver.AllocAsync(bytes, s) })
}

// obtain calls take. If memory is lacking, it waits for all pending frees, empties the
// pool, and calls take once more.
func (d *Device) obtain(take func() (cu.DevicePtr, error)) (cu.DevicePtr, error) {
	p, err := take()
	if code(err) != codeOutOfMemory || !d.gpu.pools {
		return p, err
	}
	if err := d.sync(d.allocs); err != nil {
		return 0, err
	}
	if err := driver.TrimPool(d.gpu.dev); err != nil {
		return 0, err
	}
	return take()
}

// free frees memory after the work on s.
func (d *Device) free(p cu.DevicePtr, s cu.Stream) error {
	if d.gpu.pools {
		return driver.FreeAsync(p, s)
	}
	if err := d.sync(s); err != nil {
		return freeAfter(err, cu.MemFree(p))
	}
	return cu.MemFree(p)
}

// freeAfter joins the error of a call with that of the cleanup after it. It drops the
// second error if both have the same cause.
func freeAfter(err, cleanup error) error {
	if cleanup == nil || code(cleanup) == code(err) {
		return err
	}
	return fmt.Errorf("%w (and then: %w)", err, cleanup)
}

func (b *buffer) Device() kernels.Device { return b.dev }

func (b *buffer) Bytes() int64 { return b.bytes }

// Free waits for the work on all streams of the device, which may use the buffer, then
// frees it.
func (b *buffer) Free() error {
	if b.freed.Load() {
		return nil
	}
	d := b.dev
	err := d.worker.call(func() error {
		for s := range d.streams {
			s.settle()
		}
		return b.release()
	})
	if errors.Is(err, kernels.ErrClosed) {
		return nil // Close has freed it
	}
	return d.fail("free", b.bytes, err)
}

// release frees the memory once, on the thread of the device. On a lost device, the
// release of the context frees it.
func (b *buffer) release() error {
	if b.freed.Swap(true) {
		return nil
	}
	if b.theirs {
		return nil
	}
	d := b.dev
	delete(d.buffers, b)
	d.inUse.Add(-b.bytes)
	if b.bytes == 0 || d.dead.Load() != nil {
		return nil
	}
	return b.giveBack()
}

func (b *buffer) giveBack() error {
	if b.single {
		return cu.MemFree(b.addr)
	}
	return b.dev.free(b.addr, b.dev.allocs)
}

// window returns the address of n bytes from off in a buffer of any GPU.
func window(b kernels.Buffer, off, n int64) (*Device, cu.DevicePtr, error) {
	c, ok := b.(*buffer)
	switch {
	case !ok || c == nil:
		return nil, 0, fmt.Errorf("%w: a buffer of another kind of device", kernels.ErrArgument)
	case c.freed.Load():
		return nil, 0, fmt.Errorf("%w: the buffer was freed", kernels.ErrClosed)
	case off < 0 || n < 0 || off > c.bytes || n > c.bytes-off:
		return nil, 0, fmt.Errorf("%w: bytes [%d, %d+%d) of a buffer of %d", kernels.ErrArgument, off, off, n, c.bytes)
	}
	return c.dev, c.addr + cu.DevicePtr(off), nil
}

// own is window for a buffer of d.
func (d *Device) own(b kernels.Buffer, off, n int64) (cu.DevicePtr, error) {
	dev, addr, err := window(b, off, n)
	if err == nil && dev != d {
		err = fmt.Errorf("%w: it is on device %s", kernels.ErrArgument, dev.info.ID)
	}
	return addr, err
}

// Address implements launch.Memory.
func (d *Device) Address(_ string, b kernels.Buffer, off, bytes int64) (launch.Addr, error) {
	addr, err := d.own(b, off, bytes)
	return launch.Addr(addr), err
}

// PeerAddress implements launch.Memory. Devices of one GPU share its context.
func (d *Device) PeerAddress(_ string, b kernels.Buffer, off, bytes int64) (launch.Addr, error) {
	dev, addr, err := window(b, off, bytes)
	if err == nil && dev.gpu != d.gpu && !kernels.ReadsPeer(d, dev) {
		err = fmt.Errorf("%w: it is on device %s, which device %s does not read", kernels.ErrArgument, dev.info.ID, d.info.ID)
	}
	return launch.Addr(addr), err
}

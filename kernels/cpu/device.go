package cpu

import (
	"cmp"
	"fmt"
	"runtime"
	"sync/atomic"

	"github.com/klauspost/cpuid/v2"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
)

// Config says what a device is made of.
type Config struct {
	Index    int   // the device is named cpu:Index
	Threads  int   // workers, at least 1
	NUMANode int   // -1 for none in particular
	Memory   int64 // bytes that may be allocated, 0 for no bound
	Grain    int64 // entries and rows that are worth one more worker, 0 for the default
}

// Device is a CPU device. It implements kernels.Device and kernels.HostMapper.
type Device struct {
	info   kernels.Info
	pool   *pool
	grain  int64
	inUse  atomic.Int64
	closed atomic.Bool

	scratch64 scratch[float64]
	scratch32 scratch[float32]
}

var (
	_ kernels.Device     = (*Device)(nil)
	_ kernels.HostMapper = (*Device)(nil)
)

// Open makes a device. It fails when c.Threads is below 1.
func Open(c Config) (*Device, error) {
	if c.Threads < 1 {
		return nil, sparse.Inputf("threads", "%d for device cpu:%d: it needs at least 1", c.Threads, c.Index)
	}
	name := cpuid.CPU.BrandName
	if name == "" {
		name = runtime.GOARCH
	}
	return &Device{
		info: kernels.Info{
			ID: fmt.Sprintf("cpu:%d", c.Index), Kind: "cpu", Name: name,
			NUMANode: c.NUMANode, Memory: c.Memory, Threads: c.Threads,
		},
		pool:  newPool(c.Threads),
		grain: cmp.Or(max(c.Grain, 0), defaultGrain),
	}, nil
}

// Info describes the device.
func (d *Device) Info() kernels.Info { return d.info }

// InUse is the number of bytes allocated and not freed.
func (d *Device) InUse() int64 { return d.inUse.Load() }

// Alloc gives zeroed, 64-byte aligned memory.
func (d *Device) Alloc(bytes int64) (kernels.Buffer, error) {
	if d.closed.Load() {
		return nil, d.fail("alloc", bytes, kernels.ErrClosed)
	}
	if bytes < 0 {
		return nil, d.fail("alloc", 0, fmt.Errorf("%w: %d bytes", kernels.ErrArgument, bytes))
	}
	used := d.inUse.Add(bytes)
	if d.info.Memory > 0 && (used > d.info.Memory || used < 0) {
		d.inUse.Add(-bytes)
		return nil, d.fail("alloc", bytes, fmt.Errorf("%w: %d of %d in use", kernels.ErrOutOfMemory, used-bytes, d.info.Memory))
	}
	return &buffer{dev: d, mem: mem.Aligned(bytes), owned: true}, nil
}

// Adopt makes a buffer of memory that the caller owns.
func (d *Device) Adopt(p []byte) kernels.Buffer { return &buffer{dev: d, mem: p} }

// View is the memory of a buffer of any CPU device.
func (d *Device) View(b kernels.Buffer) ([]byte, error) {
	c, ok := b.(*buffer)
	if !ok || c == nil {
		return nil, fmt.Errorf("%w: a buffer of another kind of device", kernels.ErrArgument)
	}
	if c.freed.Load() {
		return nil, fmt.Errorf("%w: the buffer was freed", kernels.ErrClosed)
	}
	return c.mem, nil
}

// NewEvent makes an event.
func (d *Device) NewEvent() (kernels.Event, error) { return &event{dev: d}, nil }

// NewStream makes a stream.
func (d *Device) NewStream() (kernels.Stream, error) {
	if d.closed.Load() {
		return nil, d.fail("new stream", 0, kernels.ErrClosed)
	}
	return &stream{dev: d}, nil
}

// Close ends the workers. It reports buffers that were not freed.
func (d *Device) Close() error {
	if d.closed.Swap(true) {
		return nil
	}
	d.pool.close()
	d.scratch64.drop()
	d.scratch32.drop()
	if n := d.inUse.Load(); n != 0 {
		return d.fail("close", 0, fmt.Errorf("%d bytes were not freed", n))
	}
	return nil
}

func (d *Device) fail(call string, bytes int64, err error) error {
	return &kernels.DeviceError{Device: d.info.ID, Call: call, Bytes: bytes, Err: err}
}

// buffer is memory of a device, its own or adopted.
type buffer struct {
	dev   *Device
	mem   []byte
	owned bool
	freed atomic.Bool
}

func (b *buffer) Device() kernels.Device { return b.dev }

func (b *buffer) Bytes() int64 { return int64(len(b.mem)) }

func (b *buffer) Free() error {
	if !b.freed.Swap(true) && b.owned {
		b.dev.inUse.Add(-int64(len(b.mem)))
	}
	return nil
}

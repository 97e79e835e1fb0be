package cpu

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"

	"github.com/klauspost/cpuid/v2"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/inspect"
	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/sparse"
)

// Config says what a device is made of.
type Config struct {
	Index    int   // the device is named cpu:Index
	Threads  int   // workers, at least 1
	NUMANode int   // -1 for none in particular
	Memory   int64 // bytes that may be allocated, 0 for no bound
	Grain    int64 // entries and rows that are worth one more worker, 0 for the default

	// CPUs places the device: its workers are threads that run on these CPUs only,
	// and its memory comes from NUMANode. None: both go where the system likes.
	CPUs []int
	// OnRefused, unless nil, is called with an error that wraps numa.ErrRefused where the
	// system does not place a thread or memory so: from any goroutine, and maybe more than
	// once. The device works all the same.
	OnRefused func(error)
}

// Device is a CPU device. It implements kernels.Device and kernels.HostMapper.
type Device struct {
	info      kernels.Info
	pool      *pool
	grain     int64
	onRefused func(error)
	inUse     atomic.Int64
	closed    atomic.Bool

	scratch64 scratch[float64]
	scratch32 scratch[float32]
	spare     mem.Spare // of packed parts that were freed, and of what was tried for others
}

var (
	_ kernels.Device     = (*Device)(nil)
	_ kernels.HostMapper = (*Device)(nil)
	_ Workers            = (*Device)(nil)
)

// Forms is the names of the forms that CPU devices can be asked for.
func Forms() []kernels.Form { return inspect.Forms() }

// Open makes a device. It fails when c.Threads is below 1, or the environment asks
// for instructions that the processor lacks (MSREP_CPU, see package simd).
func Open(c Config) (*Device, error) {
	if c.Threads < 1 {
		return nil, sparse.Inputf("threads", "%d for device cpu:%d: it needs at least 1", c.Threads, c.Index)
	}
	if _, err := simd.Chosen(); err != nil {
		return nil, &sparse.InputError{Err: err}
	}
	name := cpuid.CPU.BrandName
	if name == "" {
		name = runtime.GOARCH
	}
	d := &Device{
		info: kernels.Info{
			ID: fmt.Sprintf("cpu:%d", c.Index), Kind: "cpu", Name: name,
			NUMANode: c.NUMANode, Memory: c.Memory, Threads: c.Threads,
		},
		grain:     cmp.Or(max(c.Grain, 0), defaultGrain),
		onRefused: c.OnRefused,
	}
	if d.onRefused == nil {
		d.onRefused = func(error) {}
	}
	d.pool = newPool(c.Threads, c.CPUs, d.onRefused)
	return d, nil
}

// Info describes the device.
func (d *Device) Info() kernels.Info { return d.info }

// InUse is the number of bytes allocated and not freed. What the device keeps of those that
// were, for some seconds, is not among them (mem.Spare).
func (d *Device) InUse() int64 { return d.inUse.Load() }

// Scratch is the number of bytes that the workers hold for results of their own,
// besides InUse. They are kept from product to product and freed by Close.
func (d *Device) Scratch() int64 { return d.scratch64.held.Load() + d.scratch32.held.Load() }

// Run calls f(0) ... f(n-1) on the workers and waits; see Workers. It fails with a
// *kernels.DeviceError when n is not in [1, Threads] or the device is closed. f
// must not use the device.
func (d *Device) Run(n int, f func(i int)) error {
	if n < 1 || n > d.info.Threads {
		return d.fail("run", 0, fmt.Errorf("%w: %d workers of %d", kernels.ErrArgument, n, d.info.Threads))
	}
	if err := d.pool.run(n, f); err != nil {
		return d.fail("run", 0, err)
	}
	return nil
}

// Alloc gives zeroed, 64-byte aligned memory. Large buffers lie outside the Go
// heap, on the node of a device that has CPUs of its own.
func (d *Device) Alloc(bytes int64) (kernels.Buffer, error) {
	if err := d.take(bytes); err != nil {
		return nil, err
	}
	r, err := d.region(bytes)
	if err != nil {
		d.inUse.Add(-bytes)
		return nil, d.fail("alloc", bytes, err)
	}
	return newBuffer(d, r.Bytes(), r), nil
}

// take counts bytes that are about to be allocated, within the bound of the device.
func (d *Device) take(bytes int64) error {
	if d.closed.Load() {
		return d.fail("alloc", bytes, kernels.ErrClosed)
	}
	if bytes < 0 {
		return d.fail("alloc", 0, fmt.Errorf("%w: %d bytes", kernels.ErrArgument, bytes))
	}
	if have, ok := mem.Fits(bytes); !ok {
		return d.fail("alloc", bytes, fmt.Errorf("%w: %d are available", kernels.ErrOutOfMemory, have))
	}
	return d.count(bytes)
}

// count counts bytes that the process has, or is about to have, within the bound of the device.
func (d *Device) count(bytes int64) error {
	used := d.inUse.Add(bytes)
	if d.info.Memory > 0 && used+d.spare.Bytes() > d.info.Memory {
		_ = d.spare.Drop()
	}
	if d.info.Memory > 0 && (used > d.info.Memory || used < 0) {
		d.inUse.Add(-bytes)
		return d.fail("alloc", bytes, fmt.Errorf("%w: %d of %d in use", kernels.ErrOutOfMemory, used-bytes, d.info.Memory))
	}
	return nil
}

// Adopt makes a buffer of memory that the caller owns.
func (d *Device) Adopt(p []byte) kernels.Buffer { return newBuffer(d, p, nil) }

// View is the memory of a buffer of any CPU device. It is gone when the buffer is
// freed: use streams where that may happen at the same time.
func (d *Device) View(b kernels.Buffer) ([]byte, error) {
	c, ok := b.(*buffer)
	if !ok || c == nil {
		return nil, fmt.Errorf("%w: a buffer of another kind of device", kernels.ErrArgument)
	}
	if c.freed.Load() {
		return nil, errFreed
	}
	return c.mem, nil
}

var errFreed = fmt.Errorf("%w: the buffer was freed", kernels.ErrClosed)

// NewEvent makes an event.
func (d *Device) NewEvent() (kernels.Event, error) { return kernels.NewHostEvent(d.info.ID), nil }

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
	err := errors.Join(d.scratch64.drop(), d.scratch32.drop(), d.spare.Close())
	if n := d.inUse.Load(); n != 0 {
		err = errors.Join(err, fmt.Errorf("%d bytes were not freed", n))
	}
	if err != nil {
		return d.fail("close", 0, err)
	}
	return nil
}

func (d *Device) fail(call string, bytes int64, err error) error {
	return &kernels.DeviceError{Device: d.info.ID, Call: call, Bytes: bytes, Err: err}
}

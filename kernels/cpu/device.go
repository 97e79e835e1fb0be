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
	"github.com/msrep-go/msrep/sparse"
)

// Config describes a device.
type Config struct {
	Index    int   // the device is named cpu:Index
	Threads  int   // number of workers, at least 1
	NUMANode int   // -1 for no particular node
	Memory   int64 // limit of InUse in bytes; 0 means none
	Grain    int64 // smallest number of entries plus rows per worker; 0 means the default

	// CPUs places the device: its workers are threads that run on these CPUs only, and its memory comes from
	// NUMANode. If CPUs is empty, the system places both.
	CPUs []int
	// OnRefused, if not nil, is called with an error that wraps numa.ErrRefused if the system refuses to place a thread
	// or memory. It may be called from any goroutine, and several times. The device works nevertheless.
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
	spare     mem.Spare // memory of freed packed parts and of trials
}

var (
	_ kernels.Device     = (*Device)(nil)
	_ kernels.HostMapper = (*Device)(nil)
	_ kernels.Workers    = (*Device)(nil)
)

// Open opens a device. It fails if c.Threads is below 1, or if MSREP_CPU (see InstructionSet) names instructions that
// the processor lacks.
func Open(c Config) (*Device, error) {
	if c.Threads < 1 {
		return nil, sparse.Inputf("threads", "%d for device cpu:%d: it needs at least 1", c.Threads, c.Index)
	}
	if _, err := InstructionSet(); err != nil {
		return nil, err
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

// InUse returns the number of bytes allocated and not freed. It leaves out freed memory that the device keeps for
// some seconds (mem.Spare).
func (d *Device) InUse() int64 { return d.inUse.Load() }

// Scratch returns the number of bytes that the workers hold for partial results; InUse does not count them. The memory
// is kept from product to product and freed by Close.
func (d *Device) Scratch() int64 { return d.scratch64.held.Load() + d.scratch32.held.Load() }

// Run calls f(0) ... f(n-1) on the workers and waits; see Workers. It fails with a *kernels.DeviceError if n is not
// in [1, Threads] or the device is closed. f must not use the device.
func (d *Device) Run(n int, f func(i int)) error {
	if n < 1 || n > d.info.Threads {
		return d.fail("run", 0, fmt.Errorf("%w: %d workers of %d", kernels.ErrArgument, n, d.info.Threads))
	}
	if err := d.pool.run(n, f); err != nil {
		return d.fail("run", 0, err)
	}
	return nil
}

// Alloc returns zeroed, 64-byte aligned memory. Large buffers lie outside the Go heap, on the device's node if
// Config.CPUs places it. Errors wrap kernels.ErrOutOfMemory if there is not enough memory.
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

// take counts bytes that are about to be allocated. It fails beyond the bound of the device or of the process.
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

// count counts bytes that the process has or is about to have. It fails beyond the bound of the device.
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

// Adopt returns a buffer that uses p, memory that the caller owns. The device does not free p.
func (d *Device) Adopt(p []byte) kernels.Buffer { return newBuffer(d, p, nil) }

// View returns the memory of a buffer of any CPU device. The memory is invalid once the buffer is freed: if that may
// happen concurrently, copy with a stream instead. A buffer of another kind of device is an error that wraps
// kernels.ErrArgument.
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

// NewEvent returns a new event.
func (d *Device) NewEvent() (kernels.Event, error) { return kernels.NewHostEvent(d.info.ID), nil }

// NewStream returns a new stream.
func (d *Device) NewStream() (kernels.Stream, error) {
	if d.closed.Load() {
		return nil, d.fail("new stream", 0, kernels.ErrClosed)
	}
	return &stream{dev: d}, nil
}

// Close ends the workers and reports buffers that were not freed.
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

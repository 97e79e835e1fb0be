package sim

import (
	"cmp"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/internal/cuda/launch"
	"github.com/msrep-go/msrep/kernels/internal/ptx"
	"github.com/msrep-go/msrep/sparse"
)

// Counters holds what the launch of a kernel executed.
type Counters = ptx.Counters

// Fault is an error of a kernel, such as an access outside of its buffers.
type Fault = ptx.Fault

// Kernels for kernels.MajorProduct: Vector gives each row a number of lanes, Merge gives each thread equally many
// entries and rows.
const (
	Vector = launch.Vector
	Merge  = launch.Merge
)

// Config describes a device. The zero value is a device without a memory limit.
type Config struct {
	Index   int   // the device is named sim:Index
	Memory  int64 // bytes of device memory; 0 means no limit
	Workers int   // thread blocks that run at the same time; 0 means one
	// Blocks limits the number of thread blocks of a grid; 0 means the limit of the kernel.
	// With few blocks, each block processes several groups of items.
	Blocks    int64
	CSRKernel launch.CSRKernel // kernels for kernels.MajorProduct; Vector if empty
	// Unchecked disables the checks for races and for reads of unwritten memory, which
	// take about half of the time.
	Unchecked bool
	// Trace is called after each kernel with its counters.
	Trace func(kernel string, c Counters)
	// Fail is called before each call with its name ("alloc", "write", "read", "copy",
	// or a kernel's name). If it returns an error, the call fails with that error.
	Fail func(call string) error
	// Reads reports whether kernels of the device can read the memory of another simulated GPU; nil means that they read all.
	Reads func(from *Device) bool
}

// Device is a simulated GPU. It implements kernels.Device, kernels.Packer,
// kernels.PeerReader and kernels.Meter.
type Device struct {
	info   kernels.Info
	config Config
	mem    *ptx.Memory
	closed atomic.Bool
	peers  peerReads
}

var (
	_ kernels.Device     = (*Device)(nil)
	_ kernels.Packer     = (*Device)(nil)
	_ kernels.PeerReader = (*Device)(nil)
	_ kernels.Meter      = (*Device)(nil)
)

// Open opens a device. An error is a *sparse.InputError.
func Open(c Config) (*Device, error) {
	d := &Device{
		info: kernels.Info{
			ID: fmt.Sprintf("sim:%d", c.Index), Kind: "sim", Name: "simulated GPU", NUMANode: -1, Memory: c.Memory,
		},
		config: c,
		mem:    ptx.NewMemory(c.Memory),
	}
	switch {
	case c.Memory < 0 || c.Workers < 0 || c.Blocks < 0:
		return nil, sparse.Inputf(d.info.ID, "memory %d, workers %d, blocks %d: none may be negative", c.Memory, c.Workers, c.Blocks)
	case c.CSRKernel != "" && c.CSRKernel != launch.Vector && c.CSRKernel != launch.Merge:
		return nil, sparse.Inputf(d.info.ID, "unknown kernel %q: there are %q and %q", c.CSRKernel, launch.Vector, launch.Merge)
	}
	d.config.CSRKernel = cmp.Or(c.CSRKernel, launch.Vector)
	return d, nil
}

// Info returns the description of the device.
func (d *Device) Info() kernels.Info { return d.info }

// InUse returns the number of allocated bytes.
func (d *Device) InUse() int64 { return d.mem.InUse() }

// Alloc returns zeroed memory that begins at a multiple of 256 bytes.
func (d *Device) Alloc(bytes int64) (kernels.Buffer, error) {
	if err := d.begin("alloc"); err != nil {
		return nil, d.fail("alloc", bytes, err)
	}
	if bytes < 0 {
		return nil, d.fail("alloc", 0, fmt.Errorf("%w: %d bytes", kernels.ErrArgument, bytes))
	}
	addr, err := d.mem.Alloc("a buffer", bytes)
	if err == nil {
		err = d.mem.Zero(addr, bytes)
	}
	if err != nil {
		return nil, d.fail("alloc", bytes, err)
	}
	return &buffer{dev: d, addr: addr, bytes: bytes}, nil
}

// NewEvent makes an event.
func (d *Device) NewEvent() (kernels.Event, error) {
	return &event{HostEvent: kernels.NewHostEvent(d.info.ID)}, nil
}

// NewStream makes a stream.
func (d *Device) NewStream() (kernels.Stream, error) {
	if d.closed.Load() {
		return nil, d.fail("new stream", 0, kernels.ErrClosed)
	}
	return newStream(d), nil
}

// Close closes the device. It returns an error if buffers are still allocated.
func (d *Device) Close() error {
	if d.closed.Swap(true) {
		return nil
	}
	if n := d.mem.InUse(); n != 0 {
		return d.fail("close", 0, fmt.Errorf("%d bytes were not freed", n))
	}
	return nil
}

// begin returns an error if the device cannot make a call.
func (d *Device) begin(call string) error {
	if d.closed.Load() {
		return kernels.ErrClosed
	}
	if d.config.Fail != nil {
		return d.config.Fail(call)
	}
	return nil
}

// fail converts the error of a call to the errors of package kernels.
func (d *Device) fail(call string, bytes int64, err error) error {
	switch {
	case errors.Is(err, ptx.ErrOutOfMemory):
		err = fmt.Errorf("%w: %w", kernels.ErrOutOfMemory, err)
	case errors.Is(err, ptx.ErrAddress):
		err = fmt.Errorf("%w: %w", kernels.ErrArgument, err)
	}
	return &kernels.DeviceError{Device: d.info.ID, Call: call, Bytes: bytes, Err: err}
}

// buffer is an allocation of a device.
type buffer struct {
	dev   *Device
	addr  ptx.Addr
	bytes int64
	freed atomic.Bool
	uses  []use // that may not have ended for every stream
}

func (b *buffer) Device() kernels.Device { return b.dev }

func (b *buffer) Bytes() int64 { return b.bytes }

func (b *buffer) Free() error {
	if b.freed.Swap(true) {
		return nil
	}
	err := b.unused()
	if e := b.dev.mem.Free(b.addr); err == nil {
		err = e
	}
	if err != nil {
		return b.dev.fail("free", b.bytes, err)
	}
	return nil
}

// window returns n bytes from off in a buffer of any simulated GPU, and their address.
func window(b kernels.Buffer, off, n int64) (use, ptx.Addr, error) {
	c, ok := b.(*buffer)
	switch {
	case !ok || c == nil:
		return use{}, 0, fmt.Errorf("%w: a buffer of another kind of device", kernels.ErrArgument)
	case c.freed.Load():
		return use{}, 0, fmt.Errorf("%w: the buffer was freed", kernels.ErrClosed)
	case off < 0 || n < 0 || off > c.bytes || n > c.bytes-off:
		return use{}, 0, fmt.Errorf("%w: bytes [%d, %d+%d) of a buffer of %d", kernels.ErrArgument, off, off, n, c.bytes)
	}
	return use{buf: c, lo: off, hi: off + n}, c.addr + ptx.Addr(off), nil
}

package cpu

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"

	"github.com/klauspost/cpuid/v2"

	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/internal/forms"
	"github.com/msrep-go/msrep/kernels/cpu/internal/memory"
	"github.com/msrep-go/msrep/kernels/cpu/internal/triangular"
	"github.com/msrep-go/msrep/kernels/cpu/internal/workers"
	"github.com/msrep-go/msrep/sparse"
)

// Config describes a device.
type Config struct {
	Index    int   // the device is named cpu:Index
	Threads  int   // number of workers, at least 1
	NUMANode int   // -1 for no particular node
	Memory   int64 // limit of InUse in bytes; 0 means none
	Grain    int64 // smallest number of entries plus rows per worker; 0 means the default

	Yield bool // workers sleep at once when they have nothing to do

	// Run, unless nil, is called instead of starting workers. It calls f(0) ... f(n-1), each once, and waits. CPUs must
	// be empty.
	Run func(n int, f func(i int))

	// CPUs places the device: its workers are threads that run on these CPUs only, and its memory comes from
	// NUMANode. If CPUs is empty, the system places both.
	CPUs []int
	// OnRefused, if not nil, is called with an error that wraps numa.ErrRefused if the system refuses to place a thread
	// or memory. It may be called from any goroutine, and several times. The device works nevertheless.
	OnRefused func(error)
}

// Device is a CPU device. It implements kernels.Device and kernels.HostMapper.
type Device struct {
	info   kernels.Info
	pool   *workers.Pool
	mem    *memory.Memory
	closed atomic.Bool
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
	}
	refused := c.OnRefused
	if refused == nil {
		refused = func(error) {}
	}
	grain := cmp.Or(max(c.Grain, 0), workers.DefaultGrain)
	if c.Run != nil {
		d.pool = workers.NewOutside(c.Threads, grain, c.Run)
	} else {
		d.pool = workers.New(c.Threads, grain, c.CPUs, refused)
	}
	if c.Yield {
		d.pool.SleepAtOnce()
	}
	d.mem = memory.New(d, d.info, d.pool, refused)
	return d, nil
}

// Info describes the device.
func (d *Device) Info() kernels.Info { return d.info }

// InUse returns the number of bytes allocated and not freed. It leaves out freed memory that the device keeps for
// some seconds (mem.Spare).
func (d *Device) InUse() int64 { return d.mem.InUse() }

// Scratch returns the number of bytes that the workers hold for partial results; InUse does not count them. The memory
// is kept from product to product and freed by Close.
func (d *Device) Scratch() int64 { return d.mem.Scratch64.Held() + d.mem.Scratch32.Held() }

// Run calls f(0) ... f(n-1) on the workers and waits; see Workers. It fails with a *kernels.DeviceError if n is not
// in [1, Threads] or the device is closed. f must not use the device.
func (d *Device) Run(n int, f func(i int)) error {
	if n < 1 || n > d.info.Threads {
		return d.fail("run", 0, fmt.Errorf("%w: %d workers of %d", kernels.ErrArgument, n, d.info.Threads))
	}
	if err := d.pool.Run(n, f); err != nil {
		return d.fail("run", 0, err)
	}
	return nil
}

// Alloc returns zeroed, 64-byte aligned memory. Large buffers lie outside the Go heap, on the device's node if
// Config.CPUs places it. Errors wrap kernels.ErrOutOfMemory if there is not enough memory.
func (d *Device) Alloc(bytes int64) (kernels.Buffer, error) { return d.mem.Alloc(bytes) }

// Adopt returns a buffer that uses p, memory that the caller owns. The device does not free p.
func (d *Device) Adopt(p []byte) kernels.Buffer { return d.mem.Adopt(p) }

// View returns the memory of a buffer of any CPU device. The memory is invalid once the buffer is freed: if that may
// happen concurrently, copy with a stream instead. A buffer of another kind of device is an error that wraps
// kernels.ErrArgument.
func (d *Device) View(b kernels.Buffer) ([]byte, error) { return d.mem.View(b) }

// NewEvent returns a new event.
func (d *Device) NewEvent() (kernels.Event, error) { return kernels.NewHostEvent(d.info.ID), nil }

// NewStream returns a new stream.
func (d *Device) NewStream() (kernels.Stream, error) {
	if d.closed.Load() {
		return nil, d.fail("new stream", 0, kernels.ErrClosed)
	}
	return &stream{dev: d}, nil
}

// Pack implements kernels.Packer.
func (d *Device) Pack(op kernels.Operation) (p kernels.Packed, err error) {
	if d.closed.Load() {
		return nil, d.fail("pack", 0, kernels.ErrClosed)
	}
	switch op := op.(type) {
	case *kernels.Packing[float64]:
		p, err = newPacked(d.mem, op)
	case *kernels.Packing[float32]:
		p, err = newPacked(d.mem, op)
	case *kernels.TrianglePacking[float64]:
		p, err = triangular.New(d.mem, op)
	case *kernels.TrianglePacking[float32]:
		p, err = triangular.New(d.mem, op)
	default:
		err = kernels.ErrNotSupported
	}
	var bad *sparse.InputError
	switch {
	case err == nil:
		return p, nil
	case errors.As(err, &bad):
		return nil, err
	}
	return nil, d.fail("pack", 0, err)
}

// Close ends the workers and reports buffers that were not freed.
func (d *Device) Close() error {
	if d.closed.Swap(true) {
		return nil
	}
	d.pool.Close()
	if err := d.mem.Close(); err != nil {
		return d.fail("close", 0, err)
	}
	return nil
}

func (d *Device) fail(call string, bytes int64, err error) error { return d.mem.Fail(call, bytes, err) }

// AllocAcross returns zeroed memory whose pages alternate between the nodes of several CPU devices (numa.Interleave).
// The buffer belongs to the first device; each device counts an equal fraction of its bytes. AllocAcross fails with an
// error that wraps kernels.ErrArgument for devices of another kind, and with one that wraps kernels.ErrOutOfMemory if
// there is not enough memory. If the system refuses to interleave pages, each page goes to the node of the thread that
// touches it first.
func AllocAcross(bytes int64, devices []kernels.Device) (kernels.Buffer, error) {
	across, nodes, err := onNodes(devices)
	if err != nil {
		return nil, &kernels.DeviceError{Device: "cpu", Call: "alloc", Bytes: bytes, Err: err}
	}
	return memory.AllocAcross(bytes, across, nodes)
}

// onNodes returns the memory and the nodes of CPU devices. It fails for any other device.
func onNodes(devices []kernels.Device) (across []*memory.Memory, nodes []int, err error) {
	if len(devices) == 0 {
		return nil, nil, fmt.Errorf("%w: memory across no devices", kernels.ErrArgument)
	}
	for _, d := range devices {
		c, ok := d.(interface{ memory() *memory.Memory })
		if !ok {
			return nil, nil, fmt.Errorf("%w: %s is no CPU device", kernels.ErrArgument, d.Info().ID)
		}
		across, nodes = append(across, c.memory()), append(nodes, d.Info().NUMANode)
	}
	return across, nodes, nil
}

// memory returns the memory of the device, also for types that embed Device.
func (d *Device) memory() *memory.Memory { return d.mem }

// Forms returns the names of the forms that msrep.Storage.Form accepts for CPU devices.
func Forms() []kernels.Form { return forms.Forms() }

// Choices returns the names of the forms that a device chooses from when no form is named.
func Choices() []kernels.Form { return forms.Choices() }

// InstructionSets returns the names of the instruction sets of this processor, as a list in a sentence: see
// InstructionSet.
func InstructionSets() string { return simd.Names() }

// InstructionSet returns the instruction set of the inner loops, one of InstructionSets; generic is plain Go. The
// environment variable MSREP_CPU chooses it; a name that is unknown, or that the processor lacks, is a
// *sparse.InputError.
func InstructionSet() (string, error) {
	level, err := simd.Chosen()
	if err != nil {
		return "", &sparse.InputError{Err: err}
	}
	return level.String(), nil
}

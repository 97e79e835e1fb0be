//go:build cuda

package nvidia

import (
	"errors"
	"fmt"
	"sync/atomic"
	"unsafe"

	"gorgonia.org/cu"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/nvidia/internal/cusparse"
	"github.com/msrep-go/msrep/kernels/nvidia/internal/driver"
	"github.com/msrep-go/msrep/numa"
)

// Device is a GPU, or one of several devices on a GPU. It implements kernels.Device and
// kernels.Packer.
type Device struct {
	info   kernels.Info
	config Config
	gpu    *gpu
	worker *worker
	inUse  atomic.Int64

	// Only the thread of the device uses these fields.
	allocs     cu.Stream // stream that orders allocations of memory
	streams    map[*stream]bool
	events     map[*event]bool
	buffers    map[*buffer]bool
	registered map[*registration]bool
	staging    staging
	sparse     *cusparse.Handle // opened at its first use

	dead atomic.Pointer[error] // why the device refuses more work
}

var (
	_ kernels.Device = (*Device)(nil)
	_ kernels.Packer = (*Device)(nil)
)

// Open opens a device on a GPU. Errors are *kernels.DeviceError.
func Open(c Config) (kernels.Device, error) {
	d := &Device{
		info:    kernels.Info{ID: deviceID(c), Kind: "cuda", NUMANode: c.Node},
		config:  c,
		streams: map[*stream]bool{}, events: map[*event]bool{}, buffers: map[*buffer]bool{}, registered: map[*registration]bool{},
	}
	if err := driver.Ready(); err != nil {
		return nil, &kernels.DeviceError{Device: d.info.ID, Call: "open", Err: fmt.Errorf("%w: %w", kernels.ErrNotSupported, err)}
	}
	d.worker = newWorker(d.pin)
	if err := d.worker.call(d.open); err != nil {
		d.worker.stop()
		return nil, d.fail("open", 0, err)
	}
	d.info.Name, d.info.Memory = d.gpu.info.Name, d.gpu.info.Memory
	return d, nil
}

// pin binds the thread and its allocations to the NUMA node of the GPU. This includes
// pinned memory that the driver allocates.
func (d *Device) pin() {
	if len(d.config.CPUs) > 0 {
		if err := numa.Pin(d.config.CPUs); err != nil {
			d.refused(err)
		}
	}
	if d.config.Node >= 0 {
		if err := numa.Prefer(d.config.Node); err != nil {
			d.refused(err)
		}
	}
}

// OnThread runs f on the thread of the device, which runs on the CPUs of the GPU's
// node, after all queued calls. f must not use the device and must not panic.
func (d *Device) OnThread(f func()) error {
	return d.fail("call", 0, d.worker.call(func() error {
		f()
		return nil
	}))
}

func (d *Device) refused(err error) {
	if d.config.OnRefused != nil {
		d.config.OnRefused(fmt.Errorf("device %s: %w", d.info.ID, err))
	}
}

func (d *Device) open() error {
	g, err := acquire(d.config)
	if err != nil {
		return err
	}
	if d.allocs, err = cu.MakeStream(cu.NonBlocking); err != nil {
		return errors.Join(err, g.release())
	}
	d.gpu = g
	return nil
}

// Info returns the description of the device.
func (d *Device) Info() kernels.Info { return d.info }

// InUse returns the number of allocated bytes.
func (d *Device) InUse() int64 { return d.inUse.Load() }

// run runs f on the thread of the device and waits for it.
func (d *Device) run(call string, bytes int64, f func() error) error {
	err := d.worker.call(func() error {
		if dead := d.dead.Load(); dead != nil {
			return *dead
		}
		return f()
	})
	return d.fail(call, bytes, err)
}

// fail converts the error of a call; nil stays nil. After a fatal error the device
// refuses more work.
func (d *Device) fail(call string, bytes int64, err error) error {
	if err == nil {
		return nil
	}
	var known *kernels.DeviceError
	if errors.As(err, &known) {
		return err
	}
	bad := fatal[code(err)]
	err = &kernels.DeviceError{Device: d.info.ID, Call: call, Bytes: bytes, Err: describe(err)}
	if bad {
		dead := fmt.Errorf("the device was lost: %w", err)
		d.dead.CompareAndSwap(nil, &dead)
	}
	return err
}

// Close closes the device and releases everything on it. It returns an error if buffers
// were still allocated. It may be called again.
func (d *Device) Close() error {
	left := d.inUse.Load()
	err := d.worker.call(d.release)
	if errors.Is(err, kernels.ErrClosed) {
		return nil
	}
	d.worker.stop()
	if err == nil && left != 0 {
		err = fmt.Errorf("%d bytes were not freed", left)
	}
	return d.fail("close", 0, err)
}

// release releases everything, on the thread. On a lost device, only the context can be
// released; this frees all that is in it.
func (d *Device) release() error {
	var errs []error
	for s := range d.streams {
		errs = append(errs, s.release())
	}
	for e := range d.events {
		errs = append(errs, e.release())
	}
	for b := range d.buffers {
		errs = append(errs, b.release())
	}
	for r := range d.registered {
		errs = append(errs, r.end())
	}
	errs = append(errs, d.staging.release())
	if d.sparse != nil { // it may refer to a stream that is gone, if that stream failed to close properly
		errs = append(errs, d.sparse.SetStream(unsafe.Pointer(d.allocs.C())), d.sparse.Close())
	}
	errs = append(errs, d.allocs.Synchronize(), d.allocs.Destroy())
	last := d.gpu.release()
	if d.dead.Load() != nil {
		return nil // earlier calls have reported the loss
	}
	return errors.Join(append(errs, last)...)
}

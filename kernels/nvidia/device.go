//go:build cuda

package nvidia

import (
	"errors"
	"fmt"
	"sync/atomic"

	"gorgonia.org/cu"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/nvidia/cusparse"
	"github.com/msrep-go/msrep/kernels/nvidia/internal/driver"
	"github.com/msrep-go/msrep/numa"
)

// Device is a GPU, or one of several devices on it. It implements kernels.Device
// and kernels.Packer.
type Device struct {
	info   kernels.Info
	config Config
	gpu    *gpu
	worker *worker
	inUse  atomic.Int64

	// What follows belongs to the thread.
	home       cu.Stream // in whose order memory is allocated
	streams    map[*stream]bool
	events     map[*event]bool
	buffers    map[*buffer]bool
	registered map[*registration]bool
	staging    staging
	sparse     *cusparse.Handle // opened by the first use

	dead atomic.Pointer[error] // why the device refuses further work
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

// pin puts the thread near the GPU, and what it allocates: also the pinned memory
// that the driver takes itself.
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

// OnThread runs f on the thread of the device, which is on the CPUs of the GPU's
// node, behind the calls that wait. f must not use the device, nor panic.
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
	if d.home, err = cu.MakeStream(cu.NonBlocking); err != nil {
		return errors.Join(err, g.release())
	}
	d.gpu = g
	return nil
}

// Info describes the device.
func (d *Device) Info() kernels.Info { return d.info }

// InUse is the number of bytes allocated and not freed.
func (d *Device) InUse() int64 { return d.inUse.Load() }

// run makes a call of f on the thread of the device and waits for it.
func (d *Device) run(call string, bytes int64, f func() error) error {
	err := d.worker.call(func() error {
		if dead := d.dead.Load(); dead != nil {
			return *dead
		}
		return f()
	})
	return d.fail(call, bytes, err)
}

// fail makes the error of a call, nil for nil. After a fatal one the device refuses
// further work.
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
		dead := fmt.Errorf("the device is lost since: %w", err)
		d.dead.CompareAndSwap(nil, &dead)
	}
	return err
}

// Close releases the device with all that is still on it, and reports the buffers
// that were not freed. It may be called again.
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

// release gives back everything, on the thread. On a lost device only the context
// can be, with all that is in it.
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
	if d.sparse != nil {
		errs = append(errs, d.sparse.Close())
	}
	errs = append(errs, d.home.Synchronize(), d.home.Destroy())
	last := d.gpu.release()
	if d.dead.Load() != nil {
		return nil // said before, and by every call since
	}
	return errors.Join(append(errs, last)...)
}

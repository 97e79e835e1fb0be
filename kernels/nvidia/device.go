//go:build cuda

package nvidia

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"
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
	copiers    *copiers
	sides      map[*gpu]*side   // other contexts in which the device works
	here       *cu.Event        // of copies that work in other contexts; made at their first use
	sparse     *cusparse.Handle // opened at its first use

	dead     atomic.Pointer[error] // why the device refuses more work
	stranded atomic.Bool           // it does, because its work waits for a lost device
	sources  sources
}

var (
	_ kernels.Device = (*Device)(nil)
	_ kernels.Packer = (*Device)(nil)

	_ kernels.PeerReader = (*Device)(nil)
)

// Open opens a device on a GPU. Errors are *kernels.DeviceError.
func Open(c Config) (kernels.Device, error) {
	d := &Device{
		info:    kernels.Info{ID: deviceID(c), Kind: "cuda", NUMANode: c.Node},
		config:  c,
		streams: map[*stream]bool{}, events: map[*event]bool{}, buffers: map[*buffer]bool{}, registered: map[*registration]bool{},
		sides: map[*gpu]*side{},
	}
	if err := driver.Ready(); err != nil {
		return nil, &kernels.DeviceError{Device: d.info.ID, Call: "open", Err: fmt.Errorf("%w: %w", kernels.ErrNotSupported, err)}
	}
	d.worker = newWorker(d.pin)
	if err := d.worker.call(d.open); err != nil {
		d.worker.stop()
		return nil, d.fail("open", 0, err)
	}
	openDevices.Add(1)
	d.copiers = joinCopiers(c.CPUs)
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
		_, end := g.release(false)
		return errors.Join(err, end)
	}
	d.gpu = g
	return nil
}

// Info returns the description of the device.
func (d *Device) Info() kernels.Info { return d.info }

// SharedMemory returns the bytes of shared memory that a block can have.
func (d *Device) SharedMemory() int64 { return d.gpu.info.Shared }

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
	cause := describe(err)
	if bad && d.gpu != nil {
		d.gpu.lose(err)
		cause = &kernels.LostError{Device: d.gpu.id(), Err: cause}
	}
	err = &kernels.DeviceError{Device: d.info.ID, Call: call, Bytes: bytes, Err: cause}
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
	err := d.end()
	if errors.Is(err, kernels.ErrClosed) {
		return nil
	}
	openDevices.Add(-1)
	if errors.Is(err, errHangs) {
		return d.fail("close", 0, err) // the thread stays in the driver
	}
	d.worker.stop()
	d.copiers.leave()
	if err == nil && left != 0 {
		err = fmt.Errorf("%d bytes were not freed", left)
	}
	return d.fail("close", 0, err)
}

// errHangs reports that the driver does not return.
var errHangs = errors.New("the driver does not release the context")

// end calls release on the thread. If the work of the device waits for a lost one, the
// driver may wait too: end then returns after twice lossGrace.
func (d *Device) end() error {
	done := make(chan error, 1)
	if err := d.worker.post(func() { done <- d.release() }); err != nil {
		return err
	}
	for hanging := 0; hanging < 2; {
		select {
		case err := <-done:
			return err
		case <-time.After(max(lossGrace, time.Millisecond)):
			if d.stranded.Load() {
				hanging++
			}
		}
	}
	return errHangs
}

// abandon releases what can be released although streams of the device still wait for a
// lost one. The rest goes with the context: its work, if it ever runs, uses the memory.
func (d *Device) abandon() error {
	for _, x := range d.sides {
		_ = x.gpu.let() // earlier calls have reported the loss
	}
	ended, _ := d.gpu.release(true)
	for r := range d.registered {
		if ended {
			_ = r.end()
		} else {
			stillPinned.keep(r.memory)
		}
	}
	if ended {
		for _, b := range d.staging.blocks {
			_ = b.free()
		}
	}
	return nil
}

// release releases everything, on the thread. On a lost device, only the context can be
// released; this frees all that is in it.
func (d *Device) release() error {
	var errs []error
	for s := range d.streams {
		errs = append(errs, s.release())
	}
	if d.stranded.Load() {
		return d.abandon()
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
	errs = append(errs, d.releaseSides(), d.staging.release())
	if d.sparse != nil { // it may refer to a stream that is gone, if that stream failed to close properly
		errs = append(errs, d.sparse.SetStream(unsafe.Pointer(d.allocs.C())), d.sparse.Close())
	}
	errs = append(errs, d.sync(d.allocs), d.allocs.Destroy())
	_, last := d.gpu.release(false)
	if d.dead.Load() != nil {
		return nil // earlier calls have reported the loss
	}
	return errors.Join(append(errs, last)...)
}

// Package devvec has the vectors that stay in the memory of the devices of a System, and their operations. msrep.Vector
// is its Vector. Packages of this module also find here what users of msrep do not need: the devices of a System,
// vectors in memory of the caller, selections of elements, and the fused updates of solvers.
package devvec

import (
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"sync"

	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
)

// Devices is the devices of a System, and the plans, vectors and selections that are open on them. The zero value has
// no devices and is closed.
type Devices struct {
	List   []kernels.Device                                    // of one kind
	Traced func(kernels.Device, kernels.Stream) kernels.Stream // returns a stream that reports its operations; may be nil

	mu     sync.Mutex
	Opened map[io.Closer]bool // nil before Open and after Close; mu guards it
	queue  *Queue             // for vectors; nil before the first one

	roomMu sync.Mutex
	rooms  map[int]int64 // by device: the bytes of the rooms of all open vectors; roomMu guards it
}

// roomPart is the part of the memory of a device that the rooms of vectors may take together.
const roomPart = 8

// takeRoom counts bytes of room on device i, and reports whether they may be allocated.
func (d *Devices) takeRoom(i int, bytes int64) bool {
	d.roomMu.Lock()
	defer d.roomMu.Unlock()
	if memory := d.List[i].Info().Memory; memory > 0 && d.rooms[i]+bytes > memory/roomPart {
		return false
	}
	if d.rooms == nil {
		d.rooms = map[int]int64{}
	}
	d.rooms[i] += bytes
	return true
}

// returnRoom is the reverse of takeRoom.
func (d *Devices) returnRoom(i int, bytes int64) {
	d.roomMu.Lock()
	defer d.roomMu.Unlock()
	if bytes > 0 {
		d.rooms[i] -= bytes
	}
}

// Held is what msrep.System embeds, so that Of finds its Devices.
type Held struct{ devices Devices }

func (h *Held) held() *Devices { return &h.devices }

// System is a *msrep.System, not nil.
type System interface{ held() *Devices }

// Of returns the devices of a System.
func Of(s System) *Devices { return s.held() }

// Device returns device i of a System, for allocations and operations of package kernels outside a plan. The System
// owns the device: the caller frees its own allocations and must not close the device. Device returns nil if there is
// no device i, and after Close.
func Device(s System, i int) kernels.Device {
	d := Of(s)
	d.mu.Lock()
	defer d.mu.Unlock()
	if i < 0 || i >= len(d.List) || d.Opened == nil {
		return nil
	}
	return d.List[i]
}

// Open sets the devices of d, which has none.
func (d *Devices) Open(list []kernels.Device) { d.List, d.Opened = list, map[io.Closer]bool{} }

// Close closes the plans and vectors that are still open, then the devices. It may be called again.
func (d *Devices) Close() error {
	d.mu.Lock()
	open := d.Opened
	d.Opened = nil
	d.mu.Unlock()
	if open == nil {
		return nil
	}
	var errs []error
	for c := range open {
		errs = append(errs, c.Close())
	}
	for _, device := range d.List {
		errs = append(errs, device.Close())
	}
	return JoinErrors(errs)
}

// Register adds an open plan, vector or selection, which Close will close. It fails if d is closed.
func (d *Devices) Register(c io.Closer) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.Opened == nil {
		return errSystemClosed
	}
	d.Opened[c] = true
	return nil
}

var errSystemClosed = fmt.Errorf("system: %w", kernels.ErrClosed)

// Unregister removes what Register added.
func (d *Devices) Unregister(c io.Closer) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.Opened, c)
}

// OnHost reports whether the devices use host memory.
func (d *Devices) OnHost() bool {
	if len(d.List) == 0 {
		return true
	}
	_, ok := d.List[0].(kernels.HostMapper)
	return ok
}

// NewStream returns a stream of device i.
func (d *Devices) NewStream(i int) (kernels.Stream, error) {
	s, err := d.List[i].NewStream()
	if err == nil && d.Traced != nil {
		s = d.Traced(d.List[i], s)
	}
	return s, err
}

// InParallel calls f(0) ... f(n-1) at the same time and waits.
func InParallel(n int, f func(i int) error) error {
	if n == 1 {
		defer debug.SetPanicOnFault(debug.SetPanicOnFault(true)) // as in par.Do
		return f(0)
	}
	errs := make([]error, n)
	par.Do(n, func(i int) { errs[i] = f(i) })
	return JoinErrors(errs)
}

// JoinErrors returns the errors of several devices as one. An input error is returned alone, because it is the same for
// all devices. Of all errors that follow from the loss of a device, only one remains, its own if there is one.
func JoinErrors(errs []error) error {
	for _, err := range errs {
		if err != nil && sparse.IsInput(err) {
			return err
		}
	}
	var kept []error
	at := map[string]int{} // by lost device: index in kept
	for _, err := range apart(errs) {
		var lost *kernels.LostError
		var failed *kernels.DeviceError
		if !errors.As(err, &lost) {
			kept = append(kept, err)
		} else if i, known := at[lost.Device]; !known {
			at[lost.Device], kept = len(kept), append(kept, err)
		} else if errors.As(err, &failed) && failed.Device == lost.Device {
			kept[i] = err
		}
	}
	return errors.Join(kept...)
}

// apart returns the elements of errs, and those of errors.Join in their place.
func apart(errs []error) (out []error) {
	for _, err := range errs {
		if many, ok := err.(interface{ Unwrap() []error }); ok && err.Error() == errors.Join(many.Unwrap()...).Error() {
			out = append(out, apart(many.Unwrap())...)
		} else if err != nil {
			out = append(out, err)
		}
	}
	return out
}

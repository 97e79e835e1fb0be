//go:build cuda

package nvidia

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"gorgonia.org/cu"

	"github.com/msrep-go/msrep/kernels"
)

// event is a point of a stream.
type event struct {
	dev *Device

	waits  sync.WaitGroup // calls of Wait that the driver has not received
	mu     sync.Mutex
	last   *record  // nil before the first Record
	closed bool     // set on the thread of the device
	ev     cu.Event // threads of other devices use it while they hold mu

	recorded bool // used only by the thread of the device
}

// record is one call of Record. The driver can wait only for an event that it has
// already recorded, so waiting streams first wait until done is closed.
type record struct {
	done   chan struct{}
	failed error // why the record failed
}

// NewEvent creates an event.
func (d *Device) NewEvent() (kernels.Event, error) { return d.newEvent(cu.DefaultEvent) }

// NewMark implements kernels.Marker.
func (d *Device) NewMark() (kernels.Event, error) { return d.newEvent(cu.DisableTiming) }

func (d *Device) newEvent(flags cu.EventFlags) (kernels.Event, error) {
	e := &event{dev: d}
	err := d.run("new event", 0, func() (err error) {
		if e.ev, err = cu.MakeEvent(flags); err == nil {
			d.events[e] = true
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return e, nil
}

// Record sets e to the point at which all work now on the stream is done.
func (s *stream) Record(e kernels.Event) error {
	ev, ok := e.(*event)
	if !ok || ev.dev != s.dev {
		return s.dev.fail("record", 0, fmt.Errorf("%w: an event of another device", kernels.ErrArgument))
	}
	r := &record{done: make(chan struct{})}
	err := s.post("record", 0, func() error {
		if ev.closed {
			return kernels.ErrClosed
		}
		err := ev.ev.Record(s.s)
		ev.recorded = ev.recorded || err == nil
		return err
	}, func(failed error) {
		r.failed = failed
		close(r.done)
	})
	if err == nil { // only now: calls that wait for r must come after it in the queues of all devices
		ev.mu.Lock()
		ev.last = r
		ev.mu.Unlock()
	}
	return err
}

// Wait delays later work on the stream until e, on the GPU. The thread of the device
// waits until the driver has recorded e.
func (s *stream) Wait(e kernels.Event) error {
	ev, ok := e.(*event)
	if !ok {
		return s.dev.fail("wait", 0, kernels.WaitOnHost(s.dev.info.ID, e))
	}
	ev.mu.Lock()
	r := ev.last
	ev.mu.Unlock()
	if r == nil {
		return nil
	}
	ev.waits.Add(1)
	err := s.post("wait", 0, func() error {
		<-r.done
		if r.failed != nil {
			return r.failed
		}
		ev.mu.Lock()
		defer ev.mu.Unlock()
		if ev.closed {
			return fmt.Errorf("%w: the event", kernels.ErrClosed)
		}
		s.dev.dependsOn(ev.dev)
		return s.s.Wait(ev.ev, 0)
	}, func(error) { ev.waits.Done() })
	if err != nil {
		ev.waits.Done()
	}
	return err
}

// Sync waits for the event.
func (e *event) Sync() error {
	return e.dev.run("wait", 0, func() error {
		if !e.recorded {
			return nil
		}
		return e.dev.syncEvent(e.ev)
	})
}

// Since waits for both events and returns the time between them. Both must belong to
// this device.
func (e *event) Since(start kernels.Event) (took time.Duration, err error) {
	d := e.dev
	err = d.run("time", 0, func() error {
		s, ok := start.(*event)
		switch {
		case !ok || s.dev != d:
			return fmt.Errorf("%w: an event of another device", kernels.ErrArgument)
		case !s.recorded || !e.recorded:
			return errors.New("an event was not recorded")
		}
		if err := d.syncEvent(s.ev); err != nil {
			return err
		}
		if err := d.syncEvent(e.ev); err != nil {
			return err
		}
		ms, err := s.ev.Elapsed(e.ev)
		took = time.Duration(ms * float64(time.Millisecond))
		return err
	})
	return took, err
}

// Close closes the event. Streams that wait for it still wait.
func (e *event) Close() error {
	e.waits.Wait()
	err := e.dev.worker.call(e.release)
	if errors.Is(err, kernels.ErrClosed) {
		return nil // Close of the device has closed it
	}
	return e.dev.fail("close event", 0, err)
}

// release destroys the event, once, on the thread of the device.
func (e *event) release() error {
	if e.closed {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed, e.recorded = true, false
	delete(e.dev.events, e)
	if e.dev.dead.Load() != nil {
		return nil
	}
	return cu.DestroyEvent(&e.ev)
}

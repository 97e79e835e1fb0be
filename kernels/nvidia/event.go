//go:build cuda

package nvidia

import (
	"errors"
	"fmt"
	"time"

	"gorgonia.org/cu"

	"github.com/msrep-go/msrep/kernels"
)

// event is a moment of a stream, as the GPU sees it.
type event struct {
	dev *Device

	// What follows belongs to the thread of the device.
	ev       cu.Event
	recorded bool
	closed   bool
}

// NewEvent makes an event.
func (d *Device) NewEvent() (kernels.Event, error) {
	e := &event{dev: d}
	err := d.run("new event", 0, func() (err error) {
		if e.ev, err = cu.MakeEvent(cu.DefaultEvent); err == nil {
			d.events[e] = true
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return e, nil
}

// Since waits for both moments. Both events must be of this device.
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
		if err := s.ev.Synchronize(); err != nil {
			return err
		}
		if err := e.ev.Synchronize(); err != nil {
			return err
		}
		ms, err := s.ev.Elapsed(e.ev)
		took = time.Duration(ms * float64(time.Millisecond))
		return err
	})
	return took, err
}

func (e *event) Close() error {
	err := e.dev.worker.call(e.release)
	if errors.Is(err, kernels.ErrClosed) {
		return nil // the device has closed it
	}
	return e.dev.fail("close event", 0, err)
}

// release destroys the event, once, on the thread of the device.
func (e *event) release() error {
	if e.closed {
		return nil
	}
	e.closed, e.recorded = true, false
	delete(e.dev.events, e)
	if e.dev.dead.Load() != nil {
		return nil
	}
	return cu.DestroyEvent(&e.ev)
}

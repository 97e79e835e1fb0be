package kernels

import (
	"errors"
	"fmt"
	"time"
)

// HostEvent is an Event of the devices whose streams work at once, in the
// goroutine that calls: a moment of the host's clock. NewHostEvent makes it.
type HostEvent struct {
	device   string
	recorded bool
	at       time.Duration // since began
}

// began is a moment to count from: its clock alone is read in half of the time of
// time.Now, which also asks what day it is.
var began = time.Now()

// NewHostEvent makes an event of the device with this ID.
func NewHostEvent(device string) *HostEvent { return &HostEvent{device: device} }

// Mark says that the event happens now.
func (e *HostEvent) Mark() { e.at, e.recorded = time.Since(began), true }

// Since is the time from start, which must be a HostEvent as well. Both must have
// happened.
func (e *HostEvent) Since(start Event) (time.Duration, error) {
	s, ok := start.(*HostEvent)
	if !ok || !s.recorded || !e.recorded {
		return 0, &DeviceError{Device: e.device, Call: "time", Err: errors.New("an event was not recorded")}
	}
	return e.at - s.at, nil
}

// Sync does nothing: the moment has come.
func (e *HostEvent) Sync() error { return nil }

// WaitOnHost is Stream.Wait of a stream that works in the goroutine that calls.
func WaitOnHost(device string, e Event) error {
	if e == nil {
		return &DeviceError{Device: device, Call: "wait", Err: fmt.Errorf("%w: no event", ErrArgument)}
	}
	return e.Sync()
}

// Close does nothing: there is nothing to release.
func (e *HostEvent) Close() error { return nil }

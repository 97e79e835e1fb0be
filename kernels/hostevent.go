package kernels

import (
	"errors"
	"fmt"
	"time"
)

// HostEvent is the Event of devices whose streams do their work in the calling goroutine before a call
// returns. It stores a time of the host's clock. NewHostEvent makes one.
type HostEvent struct {
	device   string
	recorded bool
	at       time.Duration // since clockStart
}

// clockStart is the time from which HostEvent counts. time.Since of it reads only the monotonic clock and
// takes half the time of time.Now, which reads the wall clock as well.
var clockStart = time.Now()

// NewHostEvent returns an event of the device with this ID.
func NewHostEvent(device string) *HostEvent { return &HostEvent{device: device} }

// Mark records the event at the current time.
func (e *HostEvent) Mark() { e.at, e.recorded = time.Since(clockStart), true }

// Since returns the time from start to this event. start must be a HostEvent, and both must be recorded;
// otherwise Since returns a *DeviceError.
func (e *HostEvent) Since(start Event) (time.Duration, error) {
	s, ok := start.(*HostEvent)
	if !ok || !s.recorded || !e.recorded {
		return 0, &DeviceError{Device: e.device, Call: "time", Err: errors.New("an event was not recorded")}
	}
	return e.at - s.at, nil
}

// Sync does nothing: the work before a recorded HostEvent is already done.
func (e *HostEvent) Sync() error { return nil }

// WaitOnHost implements Stream.Wait for a stream that does its work in the calling goroutine.
func WaitOnHost(device string, e Event) error {
	if e == nil {
		return &DeviceError{Device: device, Call: "wait", Err: fmt.Errorf("%w: no event", ErrArgument)}
	}
	return e.Sync()
}

// Close does nothing: a HostEvent holds no resources.
func (e *HostEvent) Close() error { return nil }

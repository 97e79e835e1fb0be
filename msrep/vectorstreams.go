package msrep

import (
	"errors"
	"fmt"
	"sync"

	"github.com/msrep-go/msrep/kernels"
)

// vectorStreams has a stream on each device, which runs the operations on all vectors of a System in order, and a
// buffer for the sums that they compute.
type vectorStreams struct {
	mu      sync.Mutex // held while an operation is queued
	devices []kernels.Device
	streams []kernels.Stream
	events  [2][]kernels.Event // for barrier, used alternately; one for each device
	next    int
	sums    []kernels.Array[float64]
	closed  bool
}

// vectorStreams returns the streams for the vectors of a System. The first call creates them. Close of the System
// waits for their creation.
func (s *System) vectorStreams() (*vectorStreams, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closers == nil:
		return nil, fmt.Errorf("system: %w", ErrClosed)
	case s.streams != nil:
		return s.streams, nil
	}
	l := &vectorStreams{devices: s.devices, streams: make([]kernels.Stream, len(s.devices)), sums: make([]kernels.Array[float64], len(s.devices))}
	for i := range s.devices {
		if err := l.open(i); err != nil {
			return nil, errors.Join(err, l.Close())
		}
	}
	for i, d := range s.devices {
		l.streams[i] = s.traced(d, l.streams[i])
	}
	s.streams, s.closers[l] = l, true
	return l, nil
}

// open creates the stream and the events of device i.
func (l *vectorStreams) open(i int) (err error) {
	if l.streams[i], err = l.devices[i].NewStream(); err != nil {
		return err
	}
	return l.addEvents(i)
}

// addEvents creates the events of device i. The devices before it must have theirs.
func (l *vectorStreams) addEvents(i int) error {
	for k := range l.events {
		e, err := l.devices[i].NewEvent()
		if err != nil {
			return err
		}
		l.events[k] = append(l.events[k], e)
	}
	return nil
}

// closeEvents closes the events of device i.
func (l *vectorStreams) closeEvents(i int) error {
	var errs []error
	for _, events := range l.events {
		if i < len(events) {
			errs = append(errs, events[i].Close())
		}
	}
	return errors.Join(errs...)
}

// barrier makes stream i wait for all operations queued on stream j so far, for all i and j with after(i, j). The
// host does not wait.
func (l *vectorStreams) barrier(after func(i, j int) bool) error {
	// Alternate between two sets of events: recording an event again may delay a device that still waits for it.
	events := l.events[l.next]
	l.next = (l.next + 1) % len(l.events)
	for i, s := range l.streams {
		if err := s.Record(events[i]); err != nil {
			return err
		}
	}
	for i, s := range l.streams {
		for j, e := range events {
			if i == j || !after(i, j) {
				continue
			}
			if err := s.Wait(e); err != nil {
				return err
			}
		}
	}
	return nil
}

// everyDevice makes barrier wait for every other device.
func everyDevice(int, int) bool { return true }

// eachDevice calls f for all devices at the same time and waits.
func (l *vectorStreams) eachDevice(f func(i int) error) error { return inParallel(len(l.devices), f) }

// sync waits for all queued operations. The caller holds mu.
func (l *vectorStreams) sync() error {
	return l.eachDevice(func(i int) error { return l.streams[i].Sync() })
}

// waitIdle waits for all queued operations.
func (l *vectorStreams) waitIdle() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed { // Close has waited
		return nil
	}
	return l.sync()
}

// sumBuffer returns a buffer for k sums on device i.
func (l *vectorStreams) sumBuffer(i, k int) (kernels.Array[float64], error) {
	if a := l.sums[i]; a.Len >= int64(k) {
		return a.Sub(0, int64(k)), nil
	}
	// The old buffer is unused: the operation that wrote it has also read it.
	if err := l.sums[i].Free(); err != nil {
		return kernels.Array[float64]{}, err
	}
	l.sums[i] = kernels.Array[float64]{}
	a, err := kernels.NewArray[float64](l.devices[i], int64(k))
	if err != nil {
		return a, err
	}
	l.sums[i] = a
	return a, nil
}

// Close waits for all queued operations and closes the streams.
func (l *vectorStreams) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	l.closed = true
	return l.eachDevice(func(i int) error {
		if l.streams[i] == nil {
			return nil
		}
		return errors.Join(l.streams[i].Sync(), l.sums[i].Free(), l.closeEvents(i), l.streams[i].Close())
	})
}

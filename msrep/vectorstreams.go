package msrep

import (
	"errors"
	"fmt"
	"sync"

	"github.com/msrep-go/msrep/kernels"
)

// vectorStreams is what the vectors of a System share: a stream of each device, on which all
// operations on vectors are put in order, and room for the sums that they leave.
type vectorStreams struct {
	mu      sync.Mutex // ofPlan by the operation that is being put on the streams
	devices []kernels.Device
	streams []kernels.Stream
	events  [2][]kernels.Event // of meet, in turn; one for each device
	next    int
	sums    []kernels.Array[float64]
	closed  bool
}

// vectorStreams makes the lanes of a System, once. Close of the System waits for it.
func (s *System) vectorStreams() (*vectorStreams, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.plans == nil:
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
	s.streams, s.plans[l] = l, true
	return l, nil
}

// open makes the stream of device i, and its marks.
func (l *vectorStreams) open(i int) (err error) {
	if l.streams[i], err = l.devices[i].NewStream(); err != nil {
		return err
	}
	return l.addEvents(i)
}

// addEvents makes the marks of device i, behind those of the devices before it.
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

// closeEvents closes the marks of device i.
func (l *vectorStreams) closeEvents(i int) error {
	var errs []error
	for _, marks := range l.events {
		if i < len(marks) {
			errs = append(errs, marks[i].Close())
		}
	}
	return errors.Join(errs...)
}

// barrier puts what comes on stream i from now on behind what is on stream j, where
// after(i, j) says so. The devices wait for each other, the host does not.
func (l *vectorStreams) barrier(after func(i, j int) bool) error {
	marks := l.events[l.next]
	l.next = (l.next + 1) % len(l.events) // so that a slow device seldom waits for a later moment than it has to
	for i, s := range l.streams {
		if err := s.Record(marks[i]); err != nil {
			return err
		}
	}
	for i, s := range l.streams {
		for j, e := range marks {
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

// everyDevice is what meet is told where every device waits for everyDevice others.
func everyDevice(int, int) bool { return true }

// eachDevice serves all devices at once.
func (l *vectorStreams) eachDevice(f func(i int) error) error { return together(len(l.devices), f) }

// sync waits for everything that was put on the streams.
func (l *vectorStreams) sync() error {
	return l.eachDevice(func(i int) error { return l.streams[i].Sync() })
}

// waitPending is sync for those who do not put operations on the streams.
func (l *vectorStreams) waitIdle() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed { // which has waited
		return nil
	}
	return l.sync()
}

// sumBuffer is space for k sums on device i.
func (l *vectorStreams) sumBuffer(i, k int) (kernels.Array[float64], error) {
	if a := l.sums[i]; a.Len >= int64(k) {
		return a.Sub(0, int64(k)), nil
	}
	// Nobody uses the old one: the operation that filled it has read it.
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

// Close waits for what is under way and gives everything back.
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

package msrep

import (
	"errors"
	"fmt"
	"sync"

	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/kernels"
)

// lanes is what the vectors of a System share: a stream of each device, on which all
// operations on vectors are put in order, and room for the sums that they leave.
type lanes struct {
	mu      sync.Mutex // held by the operation that is being put on the streams
	devices []kernels.Device
	streams []kernels.Stream
	sums    []kernels.Array[float64]
	closed  bool
}

// vectorLanes makes the lanes of a System, once.
func (s *System) vectorLanes() (*lanes, error) {
	s.mu.Lock()
	l, plans := s.lanes, s.plans
	s.mu.Unlock()
	switch {
	case plans == nil:
		return nil, fmt.Errorf("system: %w", ErrClosed)
	case l != nil:
		return l, nil
	}
	l = &lanes{devices: s.devices, streams: make([]kernels.Stream, len(s.devices)), sums: make([]kernels.Array[float64], len(s.devices))}
	for i, d := range s.devices {
		stream, err := d.NewStream()
		if err != nil {
			return nil, errors.Join(err, l.Close())
		}
		l.streams[i] = s.traced(d, stream)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.plans == nil:
		return nil, errors.Join(fmt.Errorf("system: %w", ErrClosed), l.Close())
	case s.lanes != nil: // made by another goroutine meanwhile
		return s.lanes, l.Close()
	}
	s.lanes, s.plans[l] = l, true
	return l, nil
}

// each serves all devices at once.
func (l *lanes) each(f func(i int) error) error {
	errs := make([]error, len(l.devices))
	par.Do(len(l.devices), func(i int) { errs[i] = f(i) })
	return errors.Join(errs...)
}

// sync waits for everything that was put on the streams.
func (l *lanes) sync() error {
	return l.each(func(i int) error { return l.streams[i].Sync() })
}

// room is space for k sums on device i.
func (l *lanes) room(i, k int) (kernels.Array[float64], error) {
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
func (l *lanes) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	l.closed = true
	return l.each(func(i int) error {
		if l.streams[i] == nil {
			return nil
		}
		return errors.Join(l.streams[i].Sync(), l.sums[i].Free(), l.streams[i].Close())
	})
}

package devvec

import (
	"errors"
	"sync"

	"github.com/msrep-go/msrep/kernels"
)

// Streams is a stream on each device of a list. The streams can wait for each other.
type Streams struct {
	On     []kernels.Stream
	events [2][]kernels.Event // for Barrier, used alternately; one for each device
	next   int
}

// AddEvents creates the events of all devices. After an error CloseEvents closes those that were made.
func (s *Streams) AddEvents(devices []kernels.Device) error {
	for k := range s.events {
		for _, d := range devices {
			e, err := d.NewEvent()
			if err != nil {
				return err
			}
			s.events[k] = append(s.events[k], e)
		}
	}
	return nil
}

// CloseEvents closes the events of all devices.
func (s *Streams) CloseEvents() error {
	var errs []error
	for _, events := range s.events {
		for _, e := range events {
			errs = append(errs, e.Close())
		}
	}
	s.events = [2][]kernels.Event{}
	return errors.Join(errs...)
}

// Barrier makes stream i wait for all operations queued on stream j so far, for all i and j with after(i, j). The
// host does not wait.
func (s *Streams) Barrier(after func(i, j int) bool) error {
	// Alternate between two sets of events: recording an event again may delay a device that still waits for it.
	events := s.events[s.next]
	s.next = (s.next + 1) % len(s.events)
	for i, stream := range s.On {
		if err := stream.Record(events[i]); err != nil {
			return err
		}
	}
	for i, stream := range s.On {
		for j, e := range events {
			if i == j || !after(i, j) {
				continue
			}
			if err := stream.Wait(e); err != nil {
				return err
			}
		}
	}
	return nil
}

// everyDevice makes Barrier wait for every other device.
func everyDevice(int, int) bool { return true }

// Each calls f for all devices at the same time and waits.
func (s *Streams) Each(f func(i int) error) error { return InParallel(len(s.On), f) }

// Sync waits for all queued operations.
func (s *Streams) Sync() error { return s.Each(func(i int) error { return s.On[i].Sync() }) }

// Queue is the streams that run the operations on all vectors of a System in order, and a buffer on each device for the
// sums that they compute.
type Queue struct {
	Streams
	mu      sync.Mutex // held while an operation is queued
	devices []kernels.Device
	sums    []kernels.Array[float64]
	closed  bool
}

// vectors returns the queue for the vectors of a System. The first call creates it. Close of the System waits for its
// creation.
func (d *Devices) vectors() (*Queue, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.Opened == nil:
		return nil, errSystemClosed
	case d.queue != nil:
		return d.queue, nil
	}
	q := &Queue{devices: d.List, sums: make([]kernels.Array[float64], len(d.List))}
	for i := range d.List {
		s, err := d.NewStream(i)
		if err != nil {
			return nil, errors.Join(err, q.Close())
		}
		q.On = append(q.On, s)
	}
	if err := q.AddEvents(d.List); err != nil {
		return nil, errors.Join(err, q.Close())
	}
	d.queue, d.Opened[q] = q, true
	return q, nil
}

// WaitIdle waits for all queued operations.
func (q *Queue) WaitIdle() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed { // Close has waited
		return nil
	}
	return q.Sync()
}

// sumBuffer returns a buffer for k sums on device i.
func (q *Queue) sumBuffer(i, k int) (kernels.Array[float64], error) {
	if a := q.sums[i]; a.Len >= int64(k) {
		return a.Sub(0, int64(k)), nil
	}
	// The old buffer is unused: the operation that wrote it has also read it.
	err := q.sums[i].Free()
	q.sums[i] = kernels.Array[float64]{}
	if err == nil {
		q.sums[i], err = kernels.NewArray[float64](q.devices[i], int64(k))
	}
	return q.sums[i], err
}

// Close waits for all queued operations and closes the streams.
func (q *Queue) Close() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return nil
	}
	q.closed = true
	err := q.Each(func(i int) error { return errors.Join(q.On[i].Sync(), q.sums[i].Free()) })
	err = errors.Join(err, q.CloseEvents())
	for _, s := range q.On {
		err = errors.Join(err, s.Close())
	}
	return err
}

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
			e, err := kernels.NewMark(d)
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

// fewOthers is the largest number of streams for which a stream waits directly in Barrier.
const fewOthers = 3

// Barrier makes stream i wait for all operations queued on stream j so far, for all i and j with after(i, j). The
// host does not wait.
//
// If no stream waits for more than 3 others, each waits for them directly. Otherwise every stream waits for all others,
// along a binary tree. In both cases a stream gets at most 4 calls, whatever the number of streams.
func (s *Streams) Barrier(after func(i, j int) bool) error {
	wait, err := s.Mark(after)
	if err != nil {
		return err
	}
	return wait()
}

// Mark is the first half of Barrier: it marks the operations queued so far. wait is the second: what is queued before wait is
// called need not wait for the other streams. If a stream waits for more than 3 others, the marks are set by wait.
func (s *Streams) Mark(after func(i, j int) bool) (wait func() error, err error) {
	// Alternate between two sets of events: recording an event again may delay a device that still waits for it.
	events := s.events[s.next]
	s.next = (s.next + 1) % len(s.events)
	pairs, most := s.pairs(after)
	if most > fewOthers {
		return func() error { return s.waitForAll(events) }, nil
	}
	recorded := make([]bool, len(events))
	for _, p := range pairs {
		if j := p[1]; !recorded[j] {
			if err := s.On[j].Record(events[j]); err != nil {
				return nil, err
			}
			recorded[j] = true
		}
	}
	return func() error {
		for _, p := range pairs {
			if err := s.On[p[0]].Wait(events[p[1]]); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

// pairs returns the streams i and j with after(i, j), in order, and the largest number of j for an i.
func (s *Streams) pairs(after func(i, j int) bool) (pairs [][2]int, most int) {
	for i := range s.On {
		before := len(pairs)
		for j := range s.On {
			if i != j && after(i, j) {
				pairs = append(pairs, [2]int{i, j})
			}
		}
		most = max(most, len(pairs)-before)
	}
	return pairs, most
}

// waitForAll makes every stream wait for all others. The streams are a binary tree: the children of stream i are 2i+1 and 2i+2.
// Each stream waits for its children and marks that; then all wait for the mark of stream 0.
func (s *Streams) waitForAll(events []kernels.Event) error {
	for i := len(s.On) - 1; i >= 0; i-- {
		for child := 2*i + 1; child <= 2*i+2 && child < len(s.On); child++ {
			if err := s.On[i].Wait(events[child]); err != nil {
				return err
			}
		}
		if err := s.On[i].Record(events[i]); err != nil {
			return err
		}
	}
	for _, stream := range s.On[1:] {
		if err := stream.Wait(events[0]); err != nil {
			return err
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
	return JoinErrors([]error{err})
}

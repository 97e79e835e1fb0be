package devvec

import (
	"errors"
	"fmt"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/rescue"
	"github.com/msrep-go/msrep/kernels"
)

// Scalars is the numbers of an iteration on vectors of a System, in the memory of its devices. Every device has all numbers,
// with the same bits. The host waits only in Write, Read and Close.
//
// Dot and Compute leave a sum over its elements on each device, and Total adds them up on all devices. Operations of Launch
// compute numbers from the totals. Compute uses numbers in a formula.
type Scalars struct {
	like   *Vector[float64] // has the pieces of all vectors
	on     []deviceScalars
	next   int // index of the sums that Dot and Compute write
	closed bool
}

// deviceScalars is the memory of a device.
type deviceScalars struct {
	buf             kernels.Array[float64] // has all others
	numbers, totals kernels.Array[float64]
	// sums is the sums over the elements of this device. Total uses the two arrays in turn, so that other devices may read one
	// while this device writes the other. They have read it before this device writes it again: the next Total waits for them.
	sums [2]kernels.Array[float64]
	// copies is the copies of the sums of each device whose memory this device can't read.
	copies []kernels.Array[float64]
}

// NewScalars returns numbers and room for sums, all 0, for vectors with the pieces of like.
func NewScalars(like *Vector[float64], numbers, sums int) (s *Scalars, err error) {
	defer rescue.To(&err)
	err = Queued(like, nil, func(q *Queue) error {
		s = &Scalars{like: like, on: make([]deviceScalars, len(q.devices))}
		err := q.Each(func(i int) error { return s.allocate(q, i, int64(numbers), int64(sums)) })
		if err == nil {
			err = like.on.Register(s)
		}
		if err != nil {
			err = errors.Join(err, s.free())
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// allocate allocates the memory of device i.
func (s *Scalars) allocate(q *Queue, i int, numbers, sums int64) (err error) {
	d := &s.on[i]
	if d.buf, err = kernels.NewArray[float64](q.devices[i], numbers+sums*int64(3+len(q.devices))); err != nil {
		return err
	}
	rest := d.buf
	take := func(n int64) (a kernels.Array[float64]) {
		a, rest = rest.Sub(0, n), rest.Sub(n, rest.Len)
		return a
	}
	d.numbers, d.totals, d.sums[0], d.sums[1] = take(numbers), take(sums), take(sums), take(sums)
	for range q.devices {
		d.copies = append(d.copies, take(sums))
	}
	return nil
}

// Dot sets sum k of each device to x'y over its elements. x and y may be the same.
func (s *Scalars) Dot(k int, x, y *Vector[float64]) error {
	return s.launch([]*Vector[float64]{x, y}, func(i int) kernels.Operation {
		return &kernels.Project[float64]{V: []kernels.Array[float64]{x.pieces[i]}, W: y.pieces[i], Sums: s.sums(i, k, 1)}
	})
}

// Compute computes a formula with the numbers from index first on. It writes sums from sum k on.
func (s *Scalars) Compute(f *kernels.Formula, first, k int, vs ...*Vector[float64]) error {
	if err := checkFormula(f, len(f.Numbers), vs); err != nil {
		return err
	}
	return s.launch(vs, func(i int) kernels.Operation {
		op := &kernels.Elementwise[float64]{Formula: f, Vectors: piecesOf(vs, i), At: s.on[i].numbers.Sub(int64(first), int64(first+len(f.Numbers)))}
		if f.Sums > 0 {
			op.Sums = s.sums(i, k, f.Sums)
		}
		return op
	})
}

// sums returns n sums of device i from sum k on.
func (s *Scalars) sums(i, k, n int) kernels.Array[float64] {
	return s.on[i].sums[s.next].Sub(int64(k), int64(k+n))
}

// launch queues an operation on all devices that have elements of the vectors.
func (s *Scalars) launch(vs []*Vector[float64], op func(i int) kernels.Operation) error {
	return s.queued(vs, func(q *Queue) error {
		return q.Each(func(i int) error {
			if s.like.pieces[i].Len == 0 { // its sums stay 0
				return nil
			}
			return q.On[i].Launch(op(i))
		})
	})
}

// queued checks the vectors and runs f.
func (s *Scalars) queued(vs []*Vector[float64], f func(q *Queue) error) (err error) {
	defer rescue.To(&err)
	if err := s.like.checkCuts(vs); err != nil {
		return err
	}
	return Queued(s.like, vs, func(q *Queue) error {
		if s.closed {
			return fmt.Errorf("scalars: %w", kernels.ErrClosed)
		}
		return f(q)
	})
}

// Total makes the totals of the first n sums on every device: a tree over the devices in their order. The next sums are
// written to other memory, so all n must be written again before the next call.
func (s *Scalars) Total(n int) error {
	return s.queued(nil, func(q *Queue) error {
		k := s.next
		s.next = 1 - k
		if len(s.on) > 1 {
			if err := q.Barrier(everyDevice); err != nil {
				return err
			}
		}
		return q.Each(func(i int) error { return s.total(q, i, k, int64(n)) })
	})
}

// total makes the totals of device i of the first n sums[k].
func (s *Scalars) total(q *Queue, i, k int, n int64) error {
	d := &s.on[i]
	sums := make([]kernels.Array[float64], len(s.on))
	sums[i] = d.sums[k].Sub(0, n)
	if len(s.on) == 1 {
		d.totals = sums[i]
		return nil
	}
	for step := 1; step < len(s.on); step++ { // from the next device on: no two devices copy from one in the same step
		j := (i + step) % len(s.on)
		from := s.on[j].sums[k].Sub(0, n)
		if kernels.ReadsPeer(q.devices[i], q.devices[j]) {
			sums[j] = from
			continue
		}
		sums[j] = d.copies[j].Sub(0, n)
		if err := q.On[i].Copy(sums[j].Buf, sums[j].Off, from.Buf, from.Off, n*mem.Size[float64]()); err != nil {
			return err
		}
	}
	return q.On[i].Launch(&kernels.SumPartials[float64]{P: sums, Y: d.totals.Sub(0, n)})
}

// Launch queues an operation on the numbers and totals of each device.
func (s *Scalars) Launch(op func(numbers, totals kernels.Array[float64]) kernels.Operation) error {
	return s.queued(nil, func(q *Queue) error {
		return q.Each(func(i int) error { return q.On[i].Launch(op(s.on[i].numbers, s.on[i].totals)) })
	})
}

// Write sets the first numbers, on every device, and waits.
func (s *Scalars) Write(numbers []float64) error {
	return s.queued(nil, func(q *Queue) error {
		return q.Each(func(i int) error { return errors.Join(s.on[i].numbers.Write(q.On[i], numbers), q.On[i].Sync()) })
	})
}

// Read reads the first numbers from one device, and waits for it.
func (s *Scalars) Read(numbers []float64) error {
	return s.queued(nil, func(q *Queue) error {
		return errors.Join(s.on[0].numbers.Read(q.On[0], numbers), q.On[0].Sync())
	})
}

// Close waits for unfinished operations and frees the memory. It may be called again.
func (s *Scalars) Close() error {
	if s == nil {
		return nil
	}
	q := s.like.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	defer s.like.on.Unregister(s)
	var err error
	if !q.closed {
		err = q.Sync()
	}
	return errors.Join(err, s.free())
}

func (s *Scalars) free() error {
	var errs []error
	for _, d := range s.on {
		errs = append(errs, d.buf.Free())
	}
	return errors.Join(errs...)
}

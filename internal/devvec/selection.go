package devvec

import (
	"errors"
	"fmt"
	"slices"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/rescue"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
)

// Selection is a list of indices i[0], i[1], ... of elements of vectors that have the same pieces, for example of the
// elements that a process sends to other processes. The indices are stored on the devices.
type Selection[V sparse.Value] struct {
	on    *Devices
	queue *Queue
	cuts  []int         // bounds of the pieces of the vectors
	n     int           // number of elements in all runs
	parts []selected[V] // nil after Close
}

// selected is the part of a Selection that one device has.
type selected[V sparse.Value] struct {
	runs []selectedRun
	row  kernels.Array[int32] // element numbers relative to the first element of the device, run after run
	idx  kernels.Array[int64] // the same numbers as int64
	buf  kernels.Array[V]     // buffer for these elements; empty if there is a single device
}

// selectedRun is the part of one run that one device has.
type selectedRun struct {
	first         int // index of its first element among all elements of the Selection
	firstOnDevice int // the same index among the elements of the device
	n             int
}

// NewSelection selects elements of vectors that have the same pieces as v. The indices of the selection are those of
// runs[0], then those of runs[1], and so on. Within a run, indices must increase and lie in [0, v.Len()); otherwise
// NewSelection returns a *sparse.InputError.
func NewSelection[V sparse.Value](v *Vector[V], runs [][]int32) (s *Selection[V], err error) {
	defer rescue.To(&err)
	if v == nil {
		return nil, sparse.Inputf("vector", "is nil")
	}
	s = &Selection[V]{on: v.on, queue: v.queue, cuts: v.cuts, parts: make([]selected[V], len(v.pieces))}
	for r, run := range runs {
		for k, i := range run {
			if i < 0 || int(i) >= v.Len() || k > 0 && i <= run[k-1] {
				return nil, sparse.Inputf("runs", "number %d of run %d is %d: the numbers of a run must increase, from 0 to %d", k, r, i, v.Len()-1)
			}
		}
		s.n += len(run)
	}
	err = Queued(v, nil, func(q *Queue) error {
		err := q.Each(func(i int) error { return s.parts[i].fill(q, i, v.cuts[i], v.cuts[i+1], runs) })
		if err == nil {
			err = v.on.Register(s)
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

// fill copies the numbers in [first, end) to device i.
func (p *selected[V]) fill(q *Queue, i, first, end int, runs [][]int32) (err error) {
	var row []int32
	at := 0
	for _, run := range runs {
		lo, _ := slices.BinarySearch(run, int32(first))
		hi, _ := slices.BinarySearch(run, int32(end))
		if lo < hi {
			p.runs = append(p.runs, selectedRun{at + lo, len(row), hi - lo})
			for _, j := range run[lo:hi] {
				row = append(row, j-int32(first))
			}
		}
		at += len(run)
	}
	if len(row) == 0 {
		return nil
	}
	idx := make([]int64, len(row))
	for k, j := range row {
		idx[k] = int64(j)
	}
	d, s := q.devices[i], q.On[i]
	if p.row, err = kernels.NewArray[int32](d, int64(len(row))); err != nil {
		return err
	}
	if p.idx, err = kernels.NewArray[int64](d, int64(len(row))); err != nil {
		return err
	}
	if len(q.devices) > 1 {
		if p.buf, err = kernels.NewArray[V](d, int64(len(row))); err != nil {
			return err
		}
	}
	return errors.Join(p.row.Write(s, row), p.idx.Write(s, idx), s.Sync())
}

// Take computes dst[k] = x[i[k]] for every k. x must have the pieces of the selection, and dst one element for each
// index, in any pieces; otherwise Take returns a *sparse.InputError.
func (s *Selection[V]) Take(dst, x *Vector[V]) (err error) {
	defer rescue.To(&err)
	if err := s.check(x, dst); err != nil {
		return err
	}
	return Queued(x, []*Vector[V]{dst}, func(q *Queue) error {
		if s.parts == nil {
			return fmt.Errorf("selection: %w", kernels.ErrClosed)
		}
		several := len(q.devices) > 1
		err := q.Each(func(i int) error {
			p := &s.parts[i]
			if len(p.runs) == 0 {
				return nil
			}
			to := p.buf
			if !several {
				to = dst.pieces[i]
			}
			return q.On[i].Launch(&kernels.Take[V]{Idx: p.idx, X: x.pieces[i], Y: to})
		})
		if err != nil || !several {
			return err
		}
		if err := q.Sync(); err != nil {
			return err
		}
		if err := q.Each(func(i int) error { return s.collect(q.On[i], dst, i) }); err != nil {
			return err
		}
		return q.Sync() // before the next Take overwrites the buffers
	})
}

// collect copies the elements of piece i of dst from the buffers of all devices.
func (s *Selection[V]) collect(stream kernels.Stream, dst *Vector[V], i int) error {
	for k := range s.parts { // from the next device on, as in CopyRange
		p := &s.parts[(i+1+k)%len(s.parts)]
		for _, r := range p.runs {
			lo, hi := max(r.first, dst.cuts[i]), min(r.first+r.n, dst.cuts[i+1])
			if lo >= hi {
				continue
			}
			to, from := dst.pieces[i].Sub(int64(lo-dst.cuts[i]), int64(hi-dst.cuts[i])), p.buf.Sub(int64(r.firstOnDevice+lo-r.first), p.buf.Len)
			if err := stream.Copy(to.Buf, to.Off, from.Buf, from.Off, int64(hi-lo)*mem.Size[V]()); err != nil {
				return err
			}
		}
	}
	return nil
}

// AddTo computes y[i[k]] = y[i[k]] + src[k] for every k, in ascending order. y must have the pieces of the selection,
// and src one element for each index, in any pieces; otherwise AddTo returns a *sparse.InputError.
func (s *Selection[V]) AddTo(y, src *Vector[V]) (err error) {
	defer rescue.To(&err)
	if err := s.check(y, src); err != nil {
		return err
	}
	return Queued(y, []*Vector[V]{src}, func(q *Queue) error {
		if s.parts == nil {
			return fmt.Errorf("selection: %w", kernels.ErrClosed)
		}
		several := len(q.devices) > 1
		if several {
			if err := q.Sync(); err != nil {
				return err
			}
		}
		err := q.Each(func(i int) error {
			p := &s.parts[i]
			val := p.buf
			for _, r := range p.runs {
				if !several {
					val = src.pieces[i]
				} else if err := CopyRange(q.On[i], i, val.Sub(int64(r.firstOnDevice), val.Len), r.first, r.first+r.n, src); err != nil {
					return err
				}
				lo, hi := int64(r.firstOnDevice), int64(r.firstOnDevice+r.n)
				if err := q.On[i].Launch(&kernels.AddCarries[V]{Row: p.row.Sub(lo, hi), Val: val.Sub(lo, hi), Y: y.pieces[i]}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil || !several {
			return err
		}
		return q.Sync() // before the next operation writes to src
	})
}

// check returns an error if v does not have the pieces of the selection, or elements not its length.
func (s *Selection[V]) check(v, elements *Vector[V]) error {
	switch {
	case s == nil:
		return sparse.Inputf("selection", "is nil")
	case v == nil || elements == nil:
		return sparse.Inputf("vector", "is nil")
	case v == elements:
		return sparse.Inputf("vector", "is both read and written: use two vectors")
	case v.on != s.on || !slices.Equal(v.cuts, s.cuts):
		return sparse.Inputf("vector", "has other pieces than the vector of NewSelection")
	case elements.Len() != s.n:
		return sparse.Inputf("vector", "%d elements: the selection has %d", elements.Len(), s.n)
	}
	return nil
}

// Close waits for unfinished operations and frees the memory. It may be called again.
func (s *Selection[V]) Close() error {
	if s == nil || s.on == nil {
		return nil
	}
	q := s.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	if s.parts == nil {
		return nil
	}
	defer s.on.Unregister(s)
	var err error
	if !q.closed {
		err = q.Sync()
	}
	return errors.Join(err, s.free())
}

func (s *Selection[V]) free() error {
	var errs []error
	for _, p := range s.parts {
		errs = append(errs, p.row.Free(), p.idx.Free(), p.buf.Free())
	}
	s.parts = nil
	return errors.Join(errs...)
}

package msrep

import (
	"errors"

	"github.com/msrep-go/msrep/kernels"
)

// exchange computes a product of host vectors on devices that have their own memory. Each device receives the
// elements of x that its part needs and returns its rows of y. The host waits once, at the end.
func (r *run[V]) exchange() error {
	p := r.plan
	cuts := p.ownCuts()
	if !r.byMajor {
		cuts = evenCuts(p.lay.minors, len(p.shares))
	}
	l, err := p.ownStreams()
	if err != nil {
		return err
	}
	e := newExchange(l, r, cuts, make([]kernels.Array[V], len(p.shares)))
	e.host = true
	err = p.each(e.begin)
	if err == nil && len(p.shares) > 1 {
		err = l.barrier(e.addsFrom)
	}
	if err == nil {
		err = p.each(e.end)
	}
	if err != nil {
		_ = l.sync() // the devices must not use x and y after the call; err is the first error
	}
	return err
}

// begin copies x, and y unless beta is 0, to device i and queues the kernel.
func (e *exchange[V]) begin(i int) error {
	if err := e.prepare(i); err != nil {
		return err
	}
	s, d := e.plan.shares[i], e.buffers(i)
	if err := s.stream.Record(s.begin); err != nil {
		return err
	}
	if err := d.x.Sub(int64(d.lo-d.first), d.x.Len).Write(s.stream, e.run.x[d.lo:d.hi]); err != nil {
		return err
	}
	if e.beta != 0 {
		if err := e.y[i].Write(s.stream, e.run.y[e.cuts[i]:e.cuts[i+1]]); err != nil {
			return err
		}
	}
	if err := e.ctx.Err(); err != nil {
		return err
	}
	if err := s.stream.Record(s.start); err != nil {
		return err
	}
	if err := e.launch(i); err != nil {
		return err
	}
	return s.stream.Record(s.stop)
}

// end merges the partial sums for the rows of device i, copies these rows to the host, and waits.
func (e *exchange[V]) end(i int) (err error) {
	s, t := e.plan.shares[i], &e.times[i]
	if err := e.ctx.Err(); err != nil {
		return err
	}
	if len(e.y) > 1 {
		if err := e.merge(i); err != nil {
			return err
		}
	}
	if err := e.y[i].Read(s.stream, e.run.y[e.cuts[i]:e.cuts[i+1]]); err != nil {
		return err
	}
	if err := errors.Join(s.stream.Record(s.end), s.stream.Sync()); err != nil {
		return err
	}
	if t.Distribute, err = s.start.Since(s.begin); err != nil {
		return err
	}
	if t.Kernel, err = s.stop.Since(s.start); err != nil {
		return err
	}
	t.Merge, err = s.end.Since(s.stop)
	return err
}

// ownStreams returns the streams of the plan, which run products of host vectors.
func (p *Plan[V]) ownStreams() (*vectorStreams, error) {
	if p.streams != nil {
		return p.streams, nil
	}
	l := &vectorStreams{devices: p.sys.devices}
	p.streams = l // before it is complete, so that Close closes its events after an error; the plan is then unusable
	for i, s := range p.shares {
		l.streams = append(l.streams, s.stream)
		if err := l.addEvents(i); err != nil {
			return nil, err
		}
	}
	return l, nil
}

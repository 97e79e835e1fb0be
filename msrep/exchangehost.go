package msrep

import (
	"errors"

	"github.com/msrep-go/msrep/kernels"
)

// exchange makes a product of host vectors on devices with memory of their own. Each
// device gets what its part needs of x, and gives back its rows of y. The host waits
// once, for all of them.
func (r *run[V]) exchange() error {
	p := r.plan
	cuts := p.ownCuts()
	if !r.byMajor {
		cuts = evenCuts(p.lay.minors, len(p.shares))
	}
	l, err := p.ownLanes()
	if err != nil {
		return err
	}
	e := newExchange(l, r, cuts, make([]kernels.Array[V], len(p.shares)))
	e.host = true
	err = p.each(e.begin)
	if err == nil && len(p.shares) > 1 {
		err = l.barrier(e.takes)
	}
	if err == nil {
		err = p.each(e.end)
	}
	if err != nil {
		_ = l.sync() // nobody is at x and y any more; what went wrong is known
	}
	return err
}

// began brings x and y to device i, and multiplies.
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

// end joins what the devices have for the rows of device i, brings them back, and waits.
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

// ownLanes is the streams of the plan, on which products of host vectors are put.
func (p *Plan[V]) ownLanes() (*vectorStreams, error) {
	if p.streams != nil {
		return p.streams, nil
	}
	l := &vectorStreams{devices: p.sys.devices}
	p.streams = l // so that Close finds what was made of it; the plan is of no use when that fails
	for i, s := range p.shares {
		l.streams = append(l.streams, s.stream)
		if err := l.addEvents(i); err != nil {
			return nil, err
		}
	}
	return l, nil
}

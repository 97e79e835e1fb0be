package msrep

import (
	"errors"
	"slices"

	"github.com/msrep-go/msrep/internal/devvec"
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/msrep/internal/layout"
	"github.com/msrep-go/msrep/sparse"
)

// exchange is a product in progress.
type exchange[V sparse.Value] struct {
	*resident[V]
	*product[V]
	streams *devvec.Streams
	on      []exchangeBuffers[V] // by device
	cuts    []int                // device i has the rows [cuts[i], cuts[i+1]) of y
	x, y    []kernels.Array[V]   // by device: the elements of x that it reads, and these rows
}

// exchangeBuffers holds the buffers of one device for exchanges of one kind, major or minor products.
type exchangeBuffers[V sparse.Value] struct {
	opened bool
	lo, hi int              // the part reads the elements [lo, hi) of x
	first  int              // index of the element of x that x[0] stands for
	n      int64            // number of elements of x that the kernel expects
	x      kernels.Array[V] // empty if the kernel reads the caller's vector
	y      kernels.Array[V] // the rows of the device, in products of host vectors

	// For major products: the devices that carry sums to rows of this device, the rows, and the sums.
	carriers []int
	carryRow kernels.Array[int32]
	carryVal kernels.Array[V]

	// For minor products: the partial vector of this device, as long as y, and space for the rows of this device from
	// the partial vectors of the others.
	partial, received kernels.Array[V]
}

// newExchange starts a product with rows of y as in cuts, for host vectors or for Vectors. y has these rows, or is nil if
// the buffers of the devices take their place.
func (r *resident[V]) newExchange(q *product[V], streams *devvec.Streams, cuts []int, y []kernels.Array[V]) (*exchange[V], error) {
	on := r.minor
	if q.byMajor {
		on = r.major
	}
	e := &exchange[V]{resident: r, product: q, streams: streams, on: on, cuts: cuts, x: make([]kernels.Array[V], len(on)), y: y}
	host := y == nil
	if host {
		e.y = make([]kernels.Array[V], len(on))
	}
	return e, r.p.each(func(i int) error { return e.prepare(i, host) })
}

// prepare copies the part to device i and allocates its exchange buffers, if this has not been done.
func (e *exchange[V]) prepare(i int, host bool) error {
	s, d, several := e.p.shares[i], &e.on[i], len(e.y) > 1
	rows := int64(e.cuts[i+1] - e.cuts[i])
	need := func(yes bool, a *kernels.Array[V], n int64) error {
		if !yes {
			return nil
		}
		return atLeast(s.dev, a, n)
	}
	err := inOrder(
		func() error { return s.prepare(&e.p.lay, e.byMajor) },
		func() error { return d.open(e.p, s, e.byMajor) },
		func() error { return need(several || host, &d.x, d.n) },
		func() error { return need(host, &d.y, rows) },
		func() error { return need(several && !e.byMajor, &d.received, int64(len(e.y)-1)*rows) },
	)
	if e.x[i] = d.x; host {
		e.y[i] = d.y
	}
	return err
}

// begin copies x, and y unless beta is 0, to device i and queues the kernel.
func (e *exchange[V]) begin(i int) error {
	s, d := e.p.shares[i], &e.on[i]
	return inOrder(
		func() error { return s.stream.Record(s.begin) },
		func() error { return d.x.Sub(int64(d.lo-d.first), d.x.Len).Write(s.stream, e.product.x[d.lo:d.hi]) },
		func() error {
			if e.beta == 0 {
				return nil
			}
			return e.y[i].Write(s.stream, e.product.y[e.cuts[i]:e.cuts[i+1]])
		},
		e.ctx.Err,
		func() error { return s.stream.Record(s.start) },
		func() error { return e.launch(i) },
		func() error { return s.stream.Record(s.stop) },
	)
}

// end merges the partial sums for the rows of device i, copies these rows to the host, and waits.
func (e *exchange[V]) end(i int) error {
	s, t := e.p.shares[i], &e.times[i]
	return inOrder(
		e.ctx.Err,
		func() error { return e.merge(i) },
		func() error { return e.y[i].Read(s.stream, e.product.y[e.cuts[i]:e.cuts[i+1]]) },
		func() error { return errors.Join(s.stream.Record(s.end), s.stream.Sync()) },
		func() (err error) { t.Distribute, err = s.start.Since(s.begin); return err },
		func() (err error) { t.Kernel, err = s.stop.Since(s.start); return err },
		func() (err error) { t.Merge, err = s.end.Since(s.stop); return err },
	)
}

// launch queues the kernel of device i.
func (e *exchange[V]) launch(i int) error {
	s, y, beta := e.p.shares[i], e.y[i], e.beta
	if !e.byMajor && len(e.y) > 1 {
		y, beta = e.on[i].partial, 0
	}
	return e.streams.On[i].Launch(s.operation(e.product, e.x[i], y, beta, s.carry))
}

// readsFrom reports whether device i reads elements of x that device j has.
func (e *exchange[V]) readsFrom(i, j int, x *devvec.Vector[V]) bool {
	d, cuts := &e.on[i], devvec.Cuts(x)
	return max(d.lo, cuts[j]) < min(d.hi, cuts[j+1])
}

// addsFrom reports whether device i adds partial sums of device j to its rows, in this product or an earlier one.
func (e *exchange[V]) addsFrom(i, j int) bool {
	return !e.byMajor || slices.Contains(e.on[i].carriers, j)
}

// merge adds the partial sums of the other devices, if there are any, to the rows of device i.
func (e *exchange[V]) merge(i int) error {
	switch {
	case len(e.y) == 1:
		return nil
	case e.byMajor:
		return e.addCarries(i)
	}
	return e.sumPartials(i)
}

// addCarries adds the carries of the other devices to the rows of device i.
func (e *exchange[V]) addCarries(i int) error {
	d, size := &e.on[i], mem.Size[V]()
	if len(d.carriers) == 0 {
		return nil
	}
	for k, j := range d.carriers {
		c := e.p.shares[j].carry
		if err := e.streams.On[i].Copy(d.carryVal.Buf, d.carryVal.Off+int64(k)*size, c.Buf, c.Off, size); err != nil {
			return err
		}
	}
	return e.streams.On[i].Launch(&kernels.AddCarries[V]{Row: d.carryRow, Val: d.carryVal, Y: e.y[i]})
}

// sumPartials computes the rows of device i as the sum of these rows in the partial vectors of all devices.
func (e *exchange[V]) sumPartials(i int) error {
	n, free := e.y[i].Len, e.on[i].received
	if n == 0 {
		return nil
	}
	var ps []kernels.Array[V]
	for j := range e.y {
		part := e.on[j].partial.Sub(int64(e.cuts[i]), int64(e.cuts[i+1]))
		if j != i {
			received := free.Sub(0, n)
			free = free.Sub(n, free.Len)
			if err := e.streams.On[i].Copy(received.Buf, received.Off, part.Buf, part.Off, n*mem.Size[V]()); err != nil {
				return err
			}
			part = received
		}
		ps = append(ps, part)
	}
	return e.streams.On[i].Launch(&kernels.SumPartials[V]{P: ps, Beta: e.beta, Y: e.y[i]})
}

// open sets up the buffers of the device of s for products of one kind, once.
func (d *exchangeBuffers[V]) open(p *Plan[V], s *share[V], byMajor bool) (err error) {
	if d.opened {
		return nil
	}
	d.opened = true
	l := &p.lay
	switch {
	case byMajor:
		d.hi, d.n = l.Minors, int64(l.Minors)
		if l.Minor != nil {
			d.lo, d.hi = layout.IndexRange(l.Minor[s.part.StartIdx : s.part.EndIdx+1])
		}
	default:
		d.lo, d.hi, d.n = s.part.First(), s.part.End(), int64(l.Majors)
		if s.arrays != coordinates {
			d.first, d.n = d.lo, int64(d.hi-d.lo)
		}
	}
	switch {
	case len(p.shares) == 1:
		return nil
	case byMajor:
		return d.findCarries(s, p)
	}
	d.partial, err = kernels.NewArray[V](s.dev, int64(l.Minors))
	return err
}

// findCarries finds the parts that begin within a row that the device owns.
func (d *exchangeBuffers[V]) findCarries(s *share[V], p *Plan[V]) (err error) {
	var row []int32
	for k, q := range p.parts {
		if q.StartFlag && q.StartMajor >= s.part.OwnFirst && q.StartMajor < s.part.OwnEnd {
			d.carriers, row = append(d.carriers, k), append(row, int32(q.StartMajor-s.part.OwnFirst))
		}
	}
	if len(row) == 0 {
		return nil
	}
	return inOrder(
		func() error { d.carryRow, err = kernels.NewArray[int32](s.dev, int64(len(row))); return err },
		func() error { d.carryVal, err = kernels.NewArray[V](s.dev, int64(len(row))); return err },
		func() error { return d.carryRow.Write(s.stream, row) },
		s.stream.Sync,
	)
}

// atLeast replaces *a by a larger array, with unspecified content, if it has fewer than n elements.
func atLeast[V sparse.Value](dev kernels.Device, a *kernels.Array[V], n int64) (err error) {
	if a.Buf != nil && a.Len >= n {
		return nil
	}
	err = a.Free()
	*a = kernels.Array[V]{}
	if err == nil {
		*a, err = kernels.NewArray[V](dev, n)
	}
	return err
}

// buffers returns the device memory that d holds; elements may be nil.
func (d *exchangeBuffers[V]) buffers() []kernels.Buffer {
	return []kernels.Buffer{d.x.Buf, d.y.Buf, d.carryRow.Buf, d.carryVal.Buf, d.partial.Buf, d.received.Buf}
}

func (d *exchangeBuffers[V]) close() error {
	return errors.Join(d.x.Free(), d.y.Free(), d.carryRow.Free(), d.carryVal.Free(), d.partial.Free(), d.received.Free())
}

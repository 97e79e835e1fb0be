package msrep

import (
	"errors"
	"slices"

	"github.com/msrep-go/msrep/internal/devvec"
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/msrep/internal/halo"
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
	local   []kernels.Array[V]   // by device: the elements of its halo and its piece of x; x is a range of them
	inPlace []bool               // by device: its piece of x is already in local
	sources *halo.Sources[V]     // of local; nil for host vectors
}

// exchangeBuffers holds the buffers of one device for exchanges of one kind, major or minor products.
type exchangeBuffers[V sparse.Value] struct {
	halo     *halo.Map        // the elements of x that the part needs
	size     int64            // elements of x
	offset   int64            // index in x of the first local element of halo
	first, n int64            // the kernel reads the n elements from x[first] on
	x        kernels.Array[V] // empty if the kernel reads the caller's vector
	y        kernels.Array[V] // the rows of the device, in products of host vectors
	fromHost []halo.Run       // the elements of x from host memory
	listed   []V              // those of the runs with indices; the device copies from here

	// For major products: the devices that carry sums to rows of this device, the rows, and the sums that it copies.
	carriers []int
	carryRow kernels.Array[int32]
	carryVal kernels.Array[V]

	// For minor products: the partial vector of this device, as long as y, and space for the rows of this device from
	// the partial vectors that it copies.
	partial, received kernels.Array[V]
}

// newExchange starts a product with rows of y as in cuts, for host vectors or for Vectors. y has these rows, or is nil if
// the buffers of the devices take their place. x is nil for host vectors.
func (r *resident[V]) newExchange(q *product[V], streams *devvec.Streams, cuts []int, y []kernels.Array[V], x *devvec.Vector[V]) (*exchange[V], error) {
	on := r.minor
	if q.byMajor {
		on = r.major
	}
	n := len(on)
	e := &exchange[V]{resident: r, product: q, streams: streams, on: on, cuts: cuts, y: y,
		x: make([]kernels.Array[V], n), local: make([]kernels.Array[V], n), inPlace: make([]bool, n)}
	if x == nil {
		e.y = make([]kernels.Array[V], n)
	}
	err := e.prepareAll(x)
	if err != nil || x == nil || n == 1 {
		return e, err
	}
	e.sources, err = r.sourcesOf(q.byMajor, devvec.Cuts(x))
	return e, err
}

// prepareAll prepares all devices. After the first product of a kind there is little left to do.
func (e *exchange[V]) prepareAll(x *devvec.Vector[V]) error {
	if slices.ContainsFunc(e.on, func(d exchangeBuffers[V]) bool { return d.halo == nil }) {
		return e.p.each(func(i int) error { return e.prepare(i, x) })
	}
	for i := range e.on {
		if err := e.prepare(i, x); err != nil {
			return err
		}
	}
	return nil
}

// prepare brings the part to device i and allocates its exchange buffers, if this has not been done.
func (e *exchange[V]) prepare(i int, x *devvec.Vector[V]) error {
	s, d, host := e.p.shares[i], &e.on[i], x == nil
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
		func() error {
			if !host {
				e.local[i], e.inPlace[i] = d.around(i, x)
			}
			return need(!e.inPlace[i], &d.x, d.size)
		},
		func() error { return need(host, &d.y, rows) },
		func() error { return need(e.copiesPartials(i), &d.received, int64(len(e.y)-1)*rows) },
	)
	if err != nil {
		return err
	}
	if !e.inPlace[i] {
		e.local[i] = d.x.Sub(d.offset, d.x.Len)
		e.x[i] = d.x.Sub(d.first, d.first+d.n)
	} else {
		e.x[i] = e.local[i].Sub(d.first, d.first+d.n)
	}
	if host {
		e.y[i] = d.y
	}
	return nil
}

// around returns the piece of x on device i with room for its halo, and whether there is such room.
func (d *exchangeBuffers[V]) around(i int, x *devvec.Vector[V]) (kernels.Array[V], bool) {
	if d.offset != 0 || !slices.Equal(devvec.Cuts(x), d.halo.Cuts) || d.size != d.halo.N {
		return kernels.Array[V]{}, false
	}
	return devvec.Around(x, i, roomFor(d.halo))
}

// copiesPartials reports whether device i copies partial vectors of other devices.
func (e *exchange[V]) copiesPartials(i int) bool {
	if e.byMajor {
		return false
	}
	for j := range e.y {
		if !e.reads(i, j) {
			return true
		}
	}
	return false
}

// begin copies x, and y unless beta is 0, to device i and queues the kernel.
func (e *exchange[V]) begin(i int) error {
	s := e.p.shares[i]
	return inOrder(
		func() error { return s.stream.Record(s.begin) },
		func() error { return e.writeX(i) },
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

// writeX copies the elements of x that the part of device i needs from host memory.
func (e *exchange[V]) writeX(i int) error {
	d, x := &e.on[i], e.product.x
	if d.fromHost == nil {
		d.fromHost = d.halo.FromHost()
		for _, r := range d.fromHost {
			d.listed = append(d.listed, make([]V, len(r.Idx))...)
		}
	}
	listed := d.listed // free since the last product, which has waited
	for _, r := range d.fromHost {
		from := x[r.At : r.At+r.N]
		if r.Idx != nil {
			from, listed = listed[:r.N], listed[r.N:]
			for k, j := range r.Idx {
				from[k] = x[j]
			}
		}
		if err := e.local[i].Sub(r.Local, r.Local+int64(r.N)).Write(e.streams.On[i], from); err != nil {
			return err
		}
	}
	return nil
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

// addsFrom reports whether device i adds partial sums of device j to its rows, in this product or an earlier one.
func (e *exchange[V]) addsFrom(i, j int) bool {
	return !e.byMajor || slices.Contains(e.on[i].carriers, j)
}

// adds reports whether some device has partial sums of others to add.
func (e *exchange[V]) adds() bool {
	return !e.byMajor || slices.ContainsFunc(e.on, func(d exchangeBuffers[V]) bool { return len(d.carriers) > 0 })
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
	carries, copied := make([]kernels.Array[V], len(d.carriers)), 0
	for _, k := range fromNext(i, d.carriers) {
		j := d.carriers[k]
		c := e.p.shares[j].carry
		if carries[k] = c; e.reads(i, j) {
			continue
		}
		carries[k] = d.carryVal.Sub(int64(k), int64(k)+1)
		if err := e.streams.On[i].Copy(d.carryVal.Buf, d.carryVal.Off+int64(k)*size, c.Buf, c.Off, size); err != nil {
			return err
		}
		copied++
	}
	if copied == len(carries) {
		return e.streams.On[i].Launch(&kernels.AddCarries[V]{Row: d.carryRow, Val: d.carryVal, Y: e.y[i]})
	}
	return e.streams.On[i].Launch(&kernels.PullCarries[V]{Row: d.carryRow, Carry: carries, Y: e.y[i]})
}

// fromNext returns the places of a list of devices in the order in which device i copies from them: from device i+1 on, so
// that several devices that copy at the same time read from different ones.
func fromNext(i int, devices []int) []int {
	at, _ := slices.BinarySearch(devices, i+1)
	out := make([]int, len(devices))
	for k := range out {
		out[k] = (at + k) % len(out)
	}
	return out
}

// sumPartials computes the rows of device i as the sum of these rows in the partial vectors of all devices.
func (e *exchange[V]) sumPartials(i int) error {
	n, parts, free := e.y[i].Len, len(e.y), e.on[i].received
	if n == 0 {
		return nil
	}
	ps := make([]kernels.Array[V], parts)
	for k := range parts {
		j := (i + k) % parts
		part := e.on[j].partial.Sub(int64(e.cuts[i]), int64(e.cuts[i+1]))
		if !e.reads(i, j) {
			received := free.Sub(0, n)
			free = free.Sub(n, free.Len)
			if err := e.streams.On[i].Copy(received.Buf, received.Off, part.Buf, part.Off, n*mem.Size[V]()); err != nil {
				return err
			}
			part = received
		}
		ps[j] = part
	}
	return e.streams.On[i].Launch(&kernels.SumPartials[V]{P: ps, Beta: e.beta, Y: e.y[i]})
}

// open sets up the buffers of the device of s for products of one kind, once.
func (d *exchangeBuffers[V]) open(p *Plan[V], s *share[V], byMajor bool) (err error) {
	if d.halo != nil {
		return nil
	}
	m, err := p.haloOf(s.number, byMajor)
	if err != nil {
		return err
	}
	d.halo, d.size, d.n = m, m.N, m.N
	if first, end := s.part.First(), s.part.End(); !byMajor && first < end {
		d.first, d.n = m.Local(first), int64(end-first)
		if s.arrays == coordinates { // the majors have their numbers in the whole matrix
			d.size, d.n = int64(p.lay.Majors), int64(p.lay.Majors)
			d.first, d.offset = 0, int64(first)-m.Local(first)
		}
	} else if !byMajor {
		d.n = 0
	}
	switch {
	case len(p.shares) == 1:
		return nil
	case byMajor:
		return d.findCarries(s, p)
	}
	d.partial, err = kernels.NewArray[V](s.dev, int64(p.lay.Minors))
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

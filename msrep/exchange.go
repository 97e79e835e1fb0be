package msrep

import (
	"slices"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
)

// exchange is a product on devices that have their own memory and exchange results without the host. Each device has
// its rows of y and the elements of x that its part needs. A major product leaves carries: one partial sum for each
// row that another device owns. A minor product leaves a vector as long as y on each device. In both cases, each
// device copies the partial sums for its rows from the other devices and adds them. The devices wait for each other
// on their streams; the host does not wait.
type exchange[V sparse.Value] struct {
	*run[V]
	streams *vectorStreams
	cuts    []int              // device i has the rows [cuts[i], cuts[i+1]) of y
	y       []kernels.Array[V] // these rows, by device
	x       []kernels.Array[V] // the elements of x that each device reads
	host    bool               // x and y of the caller are in host memory
}

func newExchange[V sparse.Value](l *vectorStreams, r *run[V], cuts []int, y []kernels.Array[V]) *exchange[V] {
	return &exchange[V]{run: r, streams: l, cuts: cuts, y: y, x: make([]kernels.Array[V], len(y))}
}

// apply queues the product with a vector that is on the devices.
func (e *exchange[V]) apply(x *Vector[V]) error {
	p := e.plan
	if err := p.each(func(i int) error { return e.prepare(i) }); err != nil {
		return err
	}
	several := len(e.y) > 1
	if several {
		// x must be written before it is copied, and the partial sums of the last product must be read.
		if err := e.streams.barrier(func(i, j int) bool { return e.readsFrom(i, j, x) || e.addsFrom(j, i) }); err != nil {
			return err
		}
	}
	err := e.streams.eachDevice(func(i int) error {
		b := e.buffers(i)
		if !several {
			e.x[i] = x.pieces[i].Sub(int64(b.first), int64(b.first)+b.n)
		} else if err := copyRange(e.streams.streams[i], e.x[i].Sub(int64(b.lo-b.first), e.x[i].Len), b.lo, b.hi, x); err != nil {
			return err
		}
		return e.launch(i)
	})
	if err != nil || !several {
		return err
	}
	// The partial sums must be written before they are copied. x must be read before the next operation writes to it.
	if err := e.streams.barrier(func(i, j int) bool { return e.addsFrom(i, j) || e.readsFrom(j, i, x) }); err != nil {
		return err
	}
	return e.streams.eachDevice(e.merge)
}

// prepare copies the part to device i and allocates its exchange buffers, if this has not been done.
func (e *exchange[V]) prepare(i int) error {
	s, l := e.plan.shares[i], e.plan.lay
	if err := s.prepare(l, e.byMajor); err != nil {
		return err
	}
	d, err := s.exchangeBuffersFor(e.plan, e.byMajor)
	if err != nil {
		return err
	}
	if len(e.y) > 1 || e.host {
		if err := atLeast(s.dev, &d.x, d.n); err != nil {
			return err
		}
	}
	rows := int64(e.cuts[i+1] - e.cuts[i])
	if e.host {
		if err := atLeast(s.dev, &d.y, rows); err != nil {
			return err
		}
		e.y[i] = d.y
	}
	e.x[i] = d.x
	if e.byMajor || len(e.y) == 1 {
		return nil
	}
	return atLeast(s.dev, &d.received, int64(len(e.y)-1)*rows)
}

func (e *exchange[V]) buffers(i int) *exchangeBuffers[V] {
	return e.plan.shares[i].exchanges[e.byMajor]
}

// launch queues the kernel of device i.
func (e *exchange[V]) launch(i int) error {
	s := e.plan.shares[i]
	v := &vectors[V]{x: e.x[i], y: e.y[i]}
	if !e.writesToY() {
		v.y = e.buffers(i).partial
	}
	return e.streams.streams[i].Launch(e.operation(s, v, s.carry))
}

// readsFrom reports whether device i reads elements of x that device j has.
func (e *exchange[V]) readsFrom(i, j int, x *Vector[V]) bool {
	d := e.buffers(i)
	return max(d.lo, x.cuts[j]) < min(d.hi, x.cuts[j+1])
}

// addsFrom reports whether device i adds partial sums of device j to its rows, in this product or an earlier one.
func (e *exchange[V]) addsFrom(i, j int) bool {
	return !e.byMajor || slices.Contains(e.buffers(i).carriers, j)
}

// merge adds the partial sums of the other devices to the rows of device i.
func (e *exchange[V]) merge(i int) error {
	if e.byMajor {
		return e.addCarries(i)
	}
	return e.sumPartials(i)
}

// addCarries adds the carries of the other devices to the rows of device i.
func (e *exchange[V]) addCarries(i int) error {
	d, size := e.buffers(i), mem.Size[V]()
	if len(d.carriers) == 0 {
		return nil
	}
	for k, j := range d.carriers {
		c := e.plan.shares[j].carry
		if err := e.streams.streams[i].Copy(d.carryVal.Buf, d.carryVal.Off+int64(k)*size, c.Buf, c.Off, size); err != nil {
			return err
		}
	}
	return e.streams.streams[i].Launch(&kernels.AddCarries[V]{Row: d.carryRow, Val: d.carryVal, Y: e.y[i]})
}

// sumPartials computes the rows of device i as the sum of these rows in the partial vectors of all devices.
func (e *exchange[V]) sumPartials(i int) error {
	n, free := e.y[i].Len, e.buffers(i).received
	if n == 0 {
		return nil
	}
	var ps []kernels.Array[V]
	for j := range e.y {
		part := e.buffers(j).partial.Sub(int64(e.cuts[i]), int64(e.cuts[i+1]))
		if j != i {
			received := free.Sub(0, n)
			free = free.Sub(n, free.Len)
			size := mem.Size[V]()
			if err := e.streams.streams[i].Copy(received.Buf, received.Off, part.Buf, part.Off, n*size); err != nil {
				return err
			}
			part = received
		}
		ps = append(ps, part)
	}
	return e.streams.streams[i].Launch(&kernels.SumPartials[V]{P: ps, Beta: e.beta, Y: e.y[i]})
}

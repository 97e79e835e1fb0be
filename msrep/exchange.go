package msrep

import (
	"slices"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
)

// exchange is a product that devices with memory of their own make among themselves. Each
// has its rows of y, and what its part needs of x. A product that gathers leaves sums of
// rows that other devices own, one number each; one that scatters leaves on each device a
// vector as long as y. Either way a device copies what the others have for its rows and
// adds it up. Devices wait for each other on their streams, the host does not.
type exchange[V sparse.Value] struct {
	*run[V]
	l    *vectorStreams
	cuts []int              // device i has the rows [cuts[i], cuts[i+1]) of y
	y    []kernels.Array[V] // which are here
	x    []kernels.Array[V] // what each device multiplies by
	host bool               // x and y are in host memory
}

func newExchange[V sparse.Value](l *vectorStreams, r *run[V], cuts []int, y []kernels.Array[V]) *exchange[V] {
	return &exchange[V]{run: r, l: l, cuts: cuts, y: y, x: make([]kernels.Array[V], len(y))}
}

// apply multiplies by a vector that is on the devices.
func (e *exchange[V]) apply(x *Vector[V]) error {
	p := e.plan
	if err := p.each(func(i int) error { return e.prepare(i) }); err != nil {
		return err
	}
	several := len(e.y) > 1
	if several {
		// What is copied was written, and nobody is still at what the last product left.
		if err := e.l.barrier(func(i, j int) bool { return e.reads(i, j, x) || e.takes(j, i) }); err != nil {
			return err
		}
	}
	err := e.l.eachDevice(func(i int) error {
		o := e.buffers(i)
		if !several {
			e.x[i] = x.pieces[i].Sub(int64(o.first), int64(o.first)+o.n)
		} else if err := copyRange(e.l.streams[i], e.x[i].Sub(int64(o.lo-o.first), e.x[i].Len), o.lo, o.hi, x); err != nil {
			return err
		}
		return e.launch(i)
	})
	if err != nil || !several {
		return err
	}
	// The sums are there, and x has been read before anybody writes to it.
	if err := e.l.barrier(func(i, j int) bool { return e.takes(i, j) || e.reads(j, i, x) }); err != nil {
		return err
	}
	return e.l.eachDevice(e.merge)
}

// prepare brings what device i needs there, once.
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

// launch puts the kernel of device i on its stream.
func (e *exchange[V]) launch(i int) error {
	s := e.plan.shares[i]
	v := &vectors[V]{x: e.x[i], y: e.y[i]}
	if !e.straight() {
		v.y = e.buffers(i).partial
	}
	return e.l.streams[i].Launch(e.op(s, v, s.carry))
}

// reads reports whether device i needs elements of x that device j has.
func (e *exchange[V]) reads(i, j int, x *Vector[V]) bool {
	d := e.buffers(i)
	return max(d.lo, x.cuts[j]) < min(d.hi, x.cuts[j+1])
}

// takes reports whether device i adds sums of device j to its rows, in this product or
// in one before it.
func (e *exchange[V]) takes(i, j int) bool {
	return !e.byMajor || slices.Contains(e.buffers(i).from, j)
}

// merge adds what other devices have for the rows of device i.
func (e *exchange[V]) merge(i int) error {
	if e.byMajor {
		return e.addCarries(i)
	}
	return e.sumPartials(i)
}

// addCarries adds the sums that other devices carry to rows of device i.
func (e *exchange[V]) addCarries(i int) error {
	d, size := e.buffers(i), mem.Size[V]()
	if len(d.from) == 0 {
		return nil
	}
	for k, j := range d.from {
		c := e.plan.shares[j].carry
		if err := e.l.streams[i].Copy(d.val.Buf, d.val.Off+int64(k)*size, c.Buf, c.Off, size); err != nil {
			return err
		}
	}
	return e.l.streams[i].Launch(&kernels.AddCarries[V]{Row: d.row, Val: d.val, Y: e.y[i]})
}

// sumPartials adds up the stretches of all partial vectors that are the rows of device
// i.
func (e *exchange[V]) sumPartials(i int) error {
	n, room := e.y[i].Len, e.buffers(i).received
	if n == 0 {
		return nil
	}
	var ps []kernels.Array[V]
	for j := range e.y {
		part := e.buffers(j).partial.Sub(int64(e.cuts[i]), int64(e.cuts[i+1]))
		if j != i {
			near := room.Sub(0, n)
			room = room.Sub(n, room.Len)
			size := mem.Size[V]()
			if err := e.l.streams[i].Copy(near.Buf, near.Off, part.Buf, part.Off, n*size); err != nil {
				return err
			}
			part = near
		}
		ps = append(ps, part)
	}
	return e.l.streams[i].Launch(&kernels.SumPartials[V]{P: ps, Beta: e.beta, Y: e.y[i]})
}

package msrep

import (
	"errors"
	"slices"
	"time"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu"
	"github.com/msrep-go/msrep/merge"
	"github.com/msrep-go/msrep/msrep/internal/placement"
	"github.com/msrep-go/msrep/sparse"
)

// shared is the route of devices that use x and y in place. In a major product each device writes the rows of y that it
// owns, and the carries are added to y. In a minor product each device adds to a vector as long as y, and these vectors
// are added; a single device adds to y itself. In a placed plan, devices may read copies of x that are near to them.
type shared[V sparse.Value] struct {
	p        *Plan[V]
	x        XPlacement         // where major products read x
	copies   []kernels.Array[V] // of x, for the devices of each of groups(); none before the first product that needs them
	partials []kernels.Array[V] // by device, for minor products; empty before the first one
	times    []Timing
}

func (r *shared[V]) Multiply(q *product[V]) (Timing, error) {
	clear(r.times)
	begin := time.Now()
	if q.byMajor {
		if err := r.copyX(q.x); err != nil {
			return Timing{}, err
		}
	}
	copied := time.Now()
	several := len(r.p.shares) > 1
	var err error
	if several {
		err = r.p.each(func(i int) error { return r.multiplyPart(q, i) })
	} else { // without a closure in the heap
		err = r.multiplyPart(q, 0)
	}
	if err != nil {
		return Timing{}, err
	}
	multiplied := time.Now()
	if several {
		if err := r.merge(q); err != nil {
			return Timing{}, err
		}
	}
	t := r.p.combine(r.times)
	t.Distribute, t.Merge, t.Total = copied.Sub(begin), time.Since(multiplied), time.Since(begin)
	return t, nil
}

// multiplyPart computes the partial result of device i.
func (r *shared[V]) multiplyPart(q *product[V], i int) (err error) {
	s := r.p.shares[i]
	if err := s.prepare(&r.p.lay, q.byMajor); err != nil {
		return err
	}
	var y kernels.Array[V]
	beta := q.beta
	switch {
	case q.byMajor:
		y = kernels.AdoptArray(s.host, q.y[s.part.OwnFirst:s.part.OwnEnd])
	case len(r.p.shares) == 1:
		y = kernels.AdoptArray(s.host, q.y)
	default:
		if err := atLeast(s.dev, &r.partials[i], int64(r.p.lay.Minors)); err != nil {
			return err
		}
		y, beta = r.partials[i], 0
	}
	if err := q.ctx.Err(); err != nil {
		return err
	}
	r.times[i].Kernel, err = s.kernel(s.operation(q, r.xOf(q, i), y, beta, s.carry), 1)
	return err
}

// xOf returns the elements of x that device i reads.
func (r *shared[V]) xOf(q *product[V], i int) kernels.Array[V] {
	if q.byMajor && r.x != XInPlace {
		return r.copies[placement.GroupOf(r.groups(), i)]
	}
	s := r.p.shares[i]
	return kernels.AdoptArray(s.host, q.xFor(s))
}

// merge adds the partial results of the devices to y.
func (r *shared[V]) merge(q *product[V]) error {
	p := r.p
	if q.byMajor {
		carry := make([]V, len(p.shares))
		for i, s := range p.shares {
			if s.part.StartFlag {
				if err := errors.Join(s.carry.Read(s.stream, carry[i:i+1]), s.stream.Sync()); err != nil {
					return err
				}
			}
		}
		return merge.Rows(q.y, p.parts, carry)
	}
	hosts := make([][]V, len(p.shares))
	for i, s := range p.shares {
		var err error
		if hosts[i], err = kernels.View(s.host, r.partials[i]); err != nil {
			return err
		}
	}
	return p.addPartials(q, hosts)
}

// addPartials computes y = beta*y + the sum of the vectors of all devices. In a placed plan the devices of each node add
// theirs to the first one before.
func (p *Plan[V]) addPartials(q *product[V], hosts [][]V) error {
	if p.opt.Variant.Strategy == Baseline {
		return merge.SumSerial(q.y, q.beta, hosts)
	}
	if len(p.nodes) > 0 {
		if err := p.addOnNodes(hosts); err != nil {
			return err
		}
		var firsts [][]V
		for _, n := range p.nodes {
			firsts = append(firsts, hosts[n.First])
		}
		hosts = firsts
	}
	return merge.Sum(q.y, q.beta, hosts)
}

// addOnNodes adds the vectors of the devices of each node to the vector of its first device. Each device adds one range.
func (p *Plan[V]) addOnNodes(hosts [][]V) error {
	return p.each(func(i int) error {
		n := p.nodes[placement.GroupOf(p.nodes, i)]
		if n.End-n.First == 1 {
			return nil
		}
		lo, hi := n.Cut(int64(len(hosts[i])), i)
		y := hosts[n.First][lo:hi]
		var in [][]V
		for _, h := range hosts[n.First+1 : n.End] {
			in = append(in, h[lo:hi])
		}
		if w, ok := p.shares[i].dev.(kernels.Workers); ok {
			return cpu.SumOn(w, y, 1, in)
		}
		return merge.Sum(y, 1, in)
	})
}

// groups returns the groups of devices that read the same copy of x: those of a node, or all.
func (r *shared[V]) groups() []placement.Group {
	if r.x == XInterleaved {
		return []placement.Group{{End: len(r.p.shares)}}
	}
	return r.p.nodes
}

// copyX makes the copies of x that major products read. Each device copies one range.
func (r *shared[V]) copyX(x []V) (err error) {
	if r.x == XInPlace {
		return nil
	}
	groups := r.groups()
	if r.copies == nil {
		r.copies = make([]kernels.Array[V], len(groups))
		if err := r.allocCopies(int64(len(x))); err != nil {
			return err
		}
	}
	return r.p.each(func(i int) error {
		k, stream := placement.GroupOf(groups, i), r.p.shares[i].stream
		lo, hi := groups[k].Cut(int64(len(x)), i)
		return errors.Join(stream.Write(r.copies[k].Buf, lo*mem.Size[V](), mem.Bytes(x[lo:hi])), stream.Sync())
	})
}

// allocCopies allocates copies of n elements: one for each node, or one whose pages alternate between the nodes.
func (r *shared[V]) allocCopies(n int64) (err error) {
	var firsts []kernels.Device
	for k, g := range r.p.nodes {
		d := r.p.shares[g.First].dev
		firsts = append(firsts, d)
		if r.x == XReplicated {
			if r.copies[k], err = kernels.NewArray[V](d, n); err != nil {
				return err
			}
		}
	}
	if r.x == XInterleaved {
		r.copies[0].Len = n
		r.copies[0].Buf, err = cpu.AllocAcross(n*mem.Size[V](), firsts)
	}
	return err
}

// XPlacement returns where products read x. A minor product reads each element once, so a copy does not pay.
func (r *shared[V]) XPlacement(byMajor bool) XPlacement {
	if !byMajor {
		return XInPlace
	}
	return r.x
}

func (r *shared[V]) Buffers(i int) []kernels.Buffer {
	out := []kernels.Buffer{r.partials[i].Buf}
	for k, c := range r.copies {
		if r.x == XReplicated && r.p.nodes[k].First == i {
			out = append(out, c.Buf)
		}
	}
	return out
}

func (r *shared[V]) Close() error {
	var errs []error
	for _, a := range slices.Concat(r.copies, r.partials) {
		errs = append(errs, a.Free())
	}
	r.x, r.copies = XInPlace, nil
	return errors.Join(errs...)
}

package msrep

import (
	"errors"
	"slices"
	"time"

	"github.com/msrep-go/msrep/internal/devvec"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
)

// resident is the route of devices that have their own memory and exchange results without the host. Each device has its
// rows of y and the elements of x that its part needs. A major product leaves carries: one partial sum for each row that
// another device owns. A minor product leaves a vector as long as y on each device. In both cases, each device copies the
// partial sums for its rows from the other devices and adds them. The devices wait for each other on their streams; the
// host does not wait.
type resident[V sparse.Value] struct {
	p            *Plan[V]
	major, minor []exchangeBuffers[V] // by device, for products of each kind
	streams      *devvec.Streams      // of the shares, for host vectors; nil before the first product
	pending      *devvec.Queue        // the streams that may have unfinished products of Vectors; nil if none
	times        []Timing
}

// Multiply computes a product of host vectors. Each device receives the elements of x that its part needs and returns its
// rows of y. The host waits once, at the end.
func (r *resident[V]) Multiply(q *product[V]) (Timing, error) {
	clear(r.times)
	begin := time.Now()
	if err := r.exchangeHost(q); err != nil {
		return Timing{}, err
	}
	t := r.p.combine(r.times)
	t.Total = time.Since(begin)
	return t, nil
}

func (r *resident[V]) exchangeHost(q *product[V]) error {
	if r.streams == nil {
		r.streams = &devvec.Streams{} // before it is complete, so that close closes its events after an error; the plan is then unusable
		for _, s := range r.p.shares {
			r.streams.On = append(r.streams.On, s.stream)
		}
		if err := r.streams.AddEvents(r.p.sys.devices().List); err != nil {
			return err
		}
	}
	cuts := r.p.ownCuts()
	if !q.byMajor {
		cuts = devvec.EvenCuts(r.p.lay.Minors, len(r.p.shares))
	}
	e, err := r.newExchange(q, r.streams, cuts, nil)
	if err == nil {
		err = r.p.each(e.begin)
	}
	if err == nil && len(e.y) > 1 {
		err = r.streams.Barrier(e.addsFrom)
	}
	if err == nil {
		err = r.p.each(e.end)
	}
	if err != nil {
		_ = r.streams.Sync() // the devices must not use x and y after the call; err is the first error
	}
	return err
}

// apply queues a product with Vectors on the streams of their queue. y has the rows that the devices own if it is a major
// product.
func (r *resident[V]) apply(q *product[V], queue *devvec.Queue, x, y *devvec.Vector[V]) error {
	r.pending = queue
	e, err := r.newExchange(q, &queue.Streams, devvec.Cuts(y), devvec.Pieces(y))
	if err != nil {
		return err
	}
	several := len(e.y) > 1
	if several {
		// x must be written before it is copied, and the partial sums of the last product must be read.
		if err := e.streams.Barrier(func(i, j int) bool { return e.readsFrom(i, j, x) || e.addsFrom(j, i) }); err != nil {
			return err
		}
	}
	err = e.streams.Each(func(i int) error {
		d := &e.on[i]
		if !several {
			e.x[i] = devvec.Pieces(x)[i].Sub(int64(d.first), int64(d.first)+d.n)
		} else if err := devvec.CopyRange(e.streams.On[i], e.x[i].Sub(int64(d.lo-d.first), e.x[i].Len), d.lo, d.hi, x); err != nil {
			return err
		}
		return e.launch(i)
	})
	if err != nil || !several {
		return err
	}
	// The partial sums must be written before they are copied. x must be read before the next operation writes to it.
	if err := e.streams.Barrier(func(i, j int) bool { return e.addsFrom(i, j) || e.readsFrom(j, i, x) }); err != nil {
		return err
	}
	return e.streams.Each(e.merge)
}

// wait blocks until all products queued by Apply are done, so that their buffers can be used again. It returns the first
// error of any vector operation of the System since the last wait. The plan remains usable after this error: the next
// product does not depend on the results of a queued one.
func (r *resident[V]) wait() error {
	if r.pending == nil {
		return nil
	}
	queue := r.pending
	r.pending = nil
	return queue.WaitIdle()
}

func (r *resident[V]) XPlacement(bool) XPlacement { return XReplicated }

func (r *resident[V]) Buffers(i int) []kernels.Buffer {
	return append(r.major[i].buffers(), r.minor[i].buffers()...)
}

func (r *resident[V]) Close() error {
	errs := []error{r.wait()}
	for _, d := range slices.Concat(r.major, r.minor) {
		errs = append(errs, d.close())
	}
	if r.streams != nil {
		errs = append(errs, r.streams.CloseEvents())
	}
	return errors.Join(errs...)
}

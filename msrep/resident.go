package msrep

import (
	"errors"
	"slices"
	"time"

	"github.com/msrep-go/msrep/internal/devvec"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/msrep/internal/halo"
	"github.com/msrep-go/msrep/sparse"
)

// resident is the route of devices that have their own memory and exchange results without the host. Each device has its
// rows of y and the elements of x that its part needs (package halo). A major product leaves carries: one partial sum for
// each row that another device owns. A minor product leaves a vector as long as y on each device. In both cases, each device
// adds the partial sums that the other devices have for its rows. Kernels read them, and the elements of x, in the memory of
// the other devices if they can; otherwise the device copies them first. The devices wait for each other on their streams;
// the host does not wait.
type resident[V sparse.Value] struct {
	p            *Plan[V]
	major, minor []exchangeBuffers[V]  // by device, for products of each kind
	streams      *devvec.Streams       // of the shares, for host vectors; nil before the first product
	sources      [2][]*halo.Sources[V] // for minor and for major products, by the pieces of x; empty before products of Vectors
	pending      *devvec.Queue         // the streams that may have unfinished products of Vectors; nil if none
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
	e, err := r.newExchange(q, r.streams, cuts, nil, nil)
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
	e, err := r.newExchange(q, &queue.Streams, devvec.Cuts(y), devvec.Pieces(y), x)
	if err != nil {
		return err
	}
	if len(e.y) == 1 {
		return e.launch(0)
	}
	pieces := devvec.Pieces(x)
	if e.sources.Gathers() {
		if err := e.streams.Each(func(i int) error { return e.sources.Gather(i, e.streams.On[i], pieces[i]) }); err != nil {
			return err
		}
	}
	// x must be written before it is read, and the partial sums of the last product must be read.
	if err := e.streams.Barrier(func(i, j int) bool { return e.sources.Reads(i, j) || e.addsFrom(j, i) }); err != nil {
		return err
	}
	fill := func(i int) error {
		return e.sources.Fill(i, e.streams.On[i], e.local[i], pieces, e.inPlace[i])
	}
	if !e.adds() {
		// x must be read before the next operation writes to it. The products need not end for that.
		if err := e.streams.Each(fill); err != nil {
			return err
		}
		wait, err := e.streams.Mark(func(i, j int) bool { return e.sources.Reads(j, i) })
		if err != nil {
			return err
		}
		if err := e.streams.Each(e.launch); err != nil {
			return err
		}
		return wait()
	}
	err = e.streams.Each(func(i int) error {
		if err := fill(i); err != nil {
			return err
		}
		return e.launch(i)
	})
	if err != nil {
		return err
	}
	// The partial sums must be written before they are read, and x must be read before the next operation writes to it.
	if err := e.streams.Barrier(func(i, j int) bool { return e.addsFrom(i, j) || e.sources.Reads(j, i) }); err != nil {
		return err
	}
	return e.streams.Each(e.merge)
}

// sourcesOf returns how the devices get the elements of an x with the given pieces.
func (r *resident[V]) sourcesOf(byMajor bool, cuts []int) (*halo.Sources[V], error) {
	list, on := &r.sources[0], r.minor
	if byMajor {
		list, on = &r.sources[1], r.major
	}
	for _, s := range *list {
		if slices.Equal(s.Cuts(), cuts) {
			return s, nil
		}
	}
	var maps []*halo.Map
	var streams []kernels.Stream
	for i := range on {
		maps, streams = append(maps, on[i].halo), append(streams, r.p.shares[i].stream)
	}
	s, err := halo.NewSources[V](maps, cuts, r.p.sys.devices().List, streams, r.p.opt.copies)
	if s != nil {
		*list = append(*list, s)
	}
	return s, err
}

// reads reports whether kernels of device i read the memory of device j.
func (r *resident[V]) reads(i, j int) bool {
	return i == j || !r.p.opt.copies && kernels.ReadsPeer(r.p.shares[i].dev, r.p.shares[j].dev)
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
	out := append(r.major[i].buffers(), r.minor[i].buffers()...)
	for _, s := range slices.Concat(r.sources[0], r.sources[1]) {
		out = append(out, s.Buffers(i)...)
	}
	return out
}

func (r *resident[V]) Close() error {
	errs := []error{r.wait()}
	for _, d := range slices.Concat(r.major, r.minor) {
		errs = append(errs, d.close())
	}
	for _, s := range slices.Concat(r.sources[0], r.sources[1]) {
		errs = append(errs, s.Close())
	}
	if r.streams != nil {
		errs = append(errs, r.streams.CloseEvents())
	}
	return errors.Join(errs...)
}

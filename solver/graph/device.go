package graph

import (
	"context"
	"errors"
	"slices"

	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/cpms"
	"github.com/msrep-go/msrep/sparse/ellpack"
)

// deviceRanker is a ranker on GPUs. Each device stores the incoming links of a range of nodes, about the same number on
// each device, and both vectors of ranks in full. In an iteration a device computes the ranks of its nodes and copies
// the stored bytes of them to the other devices. The host reads two numbers from each device.
type deviceRanker struct {
	g         *Graph
	devices   []*rankDevice
	segments  int       // segments of a value: 2 or 4
	stored    bool      // weights are stored with the links
	cur, next int       // indices of rankDevice.vectors
	width     int       // bytes stored of each rank in cur
	teleport  []float64 // nil for none
	first     []float64 // the ranks at the start; nil means 1/n
}

func newDeviceRanker(devices []kernels.Device, g *Graph, opt Options) (*deviceRanker, error) {
	parts, _, err := partition.Split(g.ptr, len(devices), partition.RuleWhole)
	if err != nil {
		return nil, err
	}
	r := &deviceRanker{g: g, segments: opt.layout().Segments, stored: opt.Weights == WeightsStored, next: 1, teleport: opt.Teleport, first: opt.Start}
	var weights []float64
	if r.stored {
		weights = g.weights()
	}
	for i, d := range devices {
		r.devices = append(r.devices, &rankDevice{dev: d, first: int64(parts[i].OwnFirst), count: int64(parts[i].Majors())})
	}
	if err := r.each(func(i int, c *rankDevice) error { return r.load(c, parts[i], weights, opt) }); err != nil {
		return nil, errors.Join(err, r.close())
	}
	return r, nil
}

// each calls f for all devices at the same time.
func (r *deviceRanker) each(f func(i int, c *rankDevice) error) error {
	errs := make([]error, len(r.devices))
	par.Do(len(r.devices), func(i int) { errs[i] = f(i, r.devices[i]) })
	return errors.Join(errs...)
}

// vector returns a vector with width bytes of each value.
func (r *deviceRanker) vector(c *rankDevice, which, width int) kernels.SegmentVector {
	v := kernels.SegmentVector{Val: c.vectors[which], Of: r.segments}
	if width < 8 {
		v.Read = width * r.segments / 8
	}
	return v
}

// sumResults returns the sum of result i over all devices, in order.
func (r *deviceRanker) sumResults(i int) (sum float64) {
	for _, c := range r.devices {
		sum += c.hostResults[i]
	}
	return sum
}

// allGather copies the ranks that each device computed to all other devices.
func (r *deviceRanker) allGather(which, width int) error {
	size := int64(8) // bytes of a value that are contiguous
	if width < 8 {
		size = int64(8 / r.segments)
	}
	return r.each(func(i int, c *rankDevice) error {
		for _, from := range r.devices {
			if from == c || from.count == 0 {
				continue
			}
			for kept := int64(0); kept < int64(width); kept += size {
				at := kept*int64(r.g.nodes) + size*from.first
				if err := c.stream.Copy(c.vectors[which].Buf, at, from.vectors[which].Buf, at, size*from.count); err != nil {
					return err
				}
			}
		}
		return c.stream.Sync()
	})
}

// start runs RankSegments with the first ranks as sums; if there are none, with sums of 0, which sets all ranks to 1/n.
func (r *deviceRanker) start(width int) (float64, error) {
	r.width = width
	err := r.each(func(_ int, c *rankDevice) error {
		p := r.vector(c, r.cur, width)
		add := 1 / float64(r.g.nodes)
		if r.first != nil && c.count > 0 {
			add = 0
			if err := c.sums.Write(c.stream, r.first[c.first:c.first+c.count]); err != nil {
				return err
			}
		}
		first := &kernels.RankSegments{Sums: c.sums, Cur: r.vector(c, r.next, 8), Next: p, First: c.first, Degree: c.degree,
			Add: add, Diff: c.results.Sub(0, 1)}
		return c.run(append([]kernels.Operation{first}, c.danglingSum(p)...)...)
	})
	if err == nil {
		err = r.allGather(r.cur, width)
	}
	return r.sumResults(1), err
}

func (r *deviceRanker) step(_ context.Context, read, write int, damping, add, jump float64) (diff, dangling float64, err error) {
	err = r.each(func(_ int, c *rankDevice) error {
		cur, next := r.vector(c, r.cur, read), r.vector(c, r.next, write)
		product := &kernels.MajorProductSegments{A: c.links, Alpha: damping, X: cur, Y: kernels.SegmentVector{Val: c.sums}}
		if r.stored {
			product.Read = read * r.segments / 8
		}
		rank := &kernels.RankSegments{Sums: c.sums, Cur: cur, Next: next, First: c.first, Degree: c.degree, Add: add, Diff: c.results.Sub(0, 1)}
		ops := []kernels.Operation{product}
		if c.teleport.Len > 0 {
			ops = append(ops, &kernels.Axpby[float64]{Alpha: jump, X: c.teleport, Beta: 1, Y: c.sums})
		}
		return c.run(append(append(ops, rank), c.danglingSum(next)...)...)
	})
	if err == nil {
		err = r.allGather(r.next, write)
	}
	r.cur, r.next, r.width = r.next, r.cur, write
	return r.sumResults(0), r.sumResults(1), err
}

func (r *deviceRanker) normalise() (float64, error) {
	err := r.each(func(_ int, c *rankDevice) error {
		return c.run(&kernels.SumSegments{P: r.vector(c, r.cur, r.width), First: c.first, Count: c.count, Degree: c.degree, Sum: c.results.Sub(0, 1)})
	})
	if err != nil {
		return 0, err
	}
	sum := r.sumResults(0)
	return sum, r.each(func(_ int, c *rankDevice) error {
		return c.run(&kernels.DivideSegments{P: r.vector(c, r.cur, r.width), By: sum})
	})
}

// joinWeights joins the weights in place.
func (r *deviceRanker) joinWeights() error {
	if !r.stored {
		return nil
	}
	return r.each(func(_ int, c *rankDevice) error { return c.run(&kernels.JoinSegments{A: c.links}) })
}

func (r *deviceRanker) ranks() ([]float64, error) {
	p, c := make([]float64, r.g.nodes), r.devices[0]
	if err := errors.Join(c.vectors[r.cur].Read(c.stream, p), c.stream.Sync()); err != nil {
		return nil, err
	}
	if r.width < 8 {
		a, err := cpms.FromSegments(p, cpms.Layout{Segments: r.segments})
		if err != nil {
			return nil, err
		}
		p = make([]float64, r.g.nodes)
		a.Read(p, 0, r.width*r.segments/8)
	}
	if !r.stored {
		for i := range p {
			p[i] *= float64(r.g.degree[i])
		}
	}
	return p, nil
}

func (r *deviceRanker) close() error {
	return r.each(func(_ int, c *rankDevice) error {
		errs := []error{c.vectors[0].Free(), c.vectors[1].Free(), c.sums.Free(), c.degree.Free(), c.dangling.Free(), c.teleport.Free(), c.results.Free()}
		if c.links != nil {
			errs = append(errs, c.links.Free())
		}
		if c.stream != nil {
			errs = append(errs, c.stream.Close())
		}
		return errors.Join(errs...)
	})
}

// rankDevice is a device of a deviceRanker with its part of the graph.
type rankDevice struct {
	dev          kernels.Device
	stream       kernels.Stream
	links        kernels.Packed
	first, count int64 // the nodes [first, first+count) of its part
	vectors      [2]kernels.Array[float64]
	sums         kernels.Array[float64] // of its nodes
	degree       kernels.Array[int32]   // of its nodes, empty where weights are stored
	dangling     kernels.Array[int32]   // of its nodes
	teleport     kernels.Array[float64] // of its nodes, empty where there is none
	results      kernels.Array[float64]
	hostResults  [2]float64 // the results, copied to host memory
}

// load copies a part of the graph to its device and allocates the vectors.
func (r *deviceRanker) load(c *rankDevice, p partition.Part, weights []float64, opt Options) (err error) {
	g := r.g
	form := kernels.FormCSR
	switch opt.Format {
	case FormatELL, FormatPELLR: // pellr is ell here: its nodes are sorted already
		form = kernels.Form(ellpack.FormatELL)
	}
	pack := &kernels.Packing[float64]{
		Part: p.Shift(p.First(), 0), Ptr: g.ptr[p.First() : p.End()+1], Idx: g.in[p.StartIdx : p.EndIdx+1], Minors: g.nodes,
		Form: form, Segments: kernels.Segments{Count: r.segments},
	}
	if r.stored {
		pack.Val, pack.Segments.Read = weights[p.StartIdx:p.EndIdx+1], r.segments
	}
	packer, ok := c.dev.(kernels.Packer)
	if !ok {
		return sparse.Inputf("devices", "%s can't store weights in segments", c.dev.Info().ID)
	}
	if c.links, err = packer.Pack(pack); err != nil {
		return err
	}
	if c.stream, err = c.dev.NewStream(); err != nil {
		return err
	}
	for i := range c.vectors {
		if c.vectors[i], err = kernels.NewArray[float64](c.dev, int64(g.nodes)); err != nil {
			return err
		}
	}
	if c.sums, err = kernels.NewArray[float64](c.dev, c.count); err != nil {
		return err
	}
	if c.results, err = kernels.NewArray[float64](c.dev, int64(len(c.hostResults))); err != nil {
		return err
	}
	if !r.stored {
		if c.degree, err = upload(c, g.degree[c.first:c.first+c.count]); err != nil {
			return err
		}
	}
	if r.teleport != nil && c.count > 0 {
		if c.teleport, err = upload(c, r.teleport[c.first:c.first+c.count]); err != nil {
			return err
		}
	}
	lo, _ := slices.BinarySearch(g.dangling, int32(c.first))
	hi, _ := slices.BinarySearch(g.dangling, int32(c.first+c.count))
	c.dangling, err = upload(c, g.dangling[lo:hi])
	return errors.Join(err, c.stream.Sync())
}

func upload[T int32 | float64](c *rankDevice, v []T) (a kernels.Array[T], err error) {
	if len(v) == 0 {
		return a, nil
	}
	if a, err = kernels.NewArray[T](c.dev, int64(len(v))); err == nil {
		err = a.Write(c.stream, v)
	}
	return a, err
}

// run runs operations on the stream of the device and copies the results to hostResults.
func (c *rankDevice) run(ops ...kernels.Operation) error {
	for _, op := range ops {
		if err := c.stream.Launch(op); err != nil {
			return err
		}
	}
	return errors.Join(c.results.Read(c.stream, c.hostResults[:]), c.stream.Sync())
}

// danglingSum returns the operation that sums the ranks of the dangling nodes, or no operation where the part has no
// dangling nodes.
func (c *rankDevice) danglingSum(p kernels.SegmentVector) []kernels.Operation {
	if c.dangling.Len == 0 {
		return nil
	}
	return []kernels.Operation{&kernels.SumSegments{P: p, Node: c.dangling, Sum: c.results.Sub(1, 2)}}
}

package solver

import (
	"errors"
	"slices"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/ellpack"
)

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
	results      kernels.Array[float64]
	hostResults  [2]float64 // the results, copied to host memory
}

// load copies a part of the graph to its device and allocates the vectors.
func (r *deviceRanker) load(c *rankDevice, p partition.Part, weights []float64, opt PageRankOptions) (err error) {
	g := r.g
	form := kernels.FormCSR
	switch opt.Format {
	case GraphELL, GraphPELLR: // pellr is ell here: its nodes are sorted already
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
		if c.degree, err = c.upload(g.degree[c.first : c.first+c.count]); err != nil {
			return err
		}
	}
	lo, _ := slices.BinarySearch(g.dangling, int32(c.first))
	hi, _ := slices.BinarySearch(g.dangling, int32(c.first+c.count))
	c.dangling, err = c.upload(g.dangling[lo:hi])
	return errors.Join(err, c.stream.Sync())
}

func (c *rankDevice) upload(v []int32) (a kernels.Array[int32], err error) {
	if len(v) == 0 {
		return a, nil
	}
	if a, err = kernels.NewArray[int32](c.dev, int64(len(v))); err == nil {
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

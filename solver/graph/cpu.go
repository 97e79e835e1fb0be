package graph

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/kernels/cpu"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse/cpms"
)

// A goroutine processes one chunk of nodes at a time: a multiple of simd.SliceRows, with at most chunkNodes nodes and
// about chunkLinks links.
const (
	chunkNodes = 4096
	chunkLinks = 1 << 15
	batchNodes = 2048 // nodes whose sums fit in the L1 cache
)

// cpuRanker is a ranker on the CPU threads of a System. Goroutines take one chunk of nodes after the other, and compute
// the sums and the ranks of a chunk while it is in the cache. Sums over chunks are in order, so that results do not
// depend on timing.
type cpuRanker struct {
	g        *Graph
	m        *cpu.Segmented
	degree   []int32   // nil where weights are stored
	first    []float64 // the ranks at the start; nil means 1/n
	teleport []float64 // nil for none
	cur      *cpms.Heads
	next     *cpms.Heads
	chunks   []chunk
	workers  []worker
	segments int
	bank     int
}

// chunk is the range [first, end) of nodes and the sums of a step over it.
type chunk struct {
	first, end     int
	dangling       []int32
	diff, inactive float64
	_              [2]int64 // padding: chunks of different goroutines share no cache line
}

type worker struct {
	sums    [batchNodes]float64
	scratch *cpu.SegmentScratch
}

func newCPURanker(sys *msrep.System, g *Graph, opt Options) (*cpuRanker, error) {
	if err := ranksFit(g, opt); err != nil {
		return nil, err
	}
	r := &cpuRanker{g: g, segments: opt.segments(), bank: opt.Bank, first: opt.Start, teleport: opt.Teleport}
	rows := cpu.SegmentedRows{Ptr: g.ptr, Idx: g.in, Cols: g.nodes}
	if opt.Weights == WeightsStored {
		rows.Val = g.weights()
	} else {
		r.degree = g.degree
	}
	var err error
	if opt.borrows() {
		r.m, err = cpu.BorrowSegmented(rows)
	} else {
		r.m, err = cpu.NewSegmented(opt.linkForm(), rows, opt.layout(), opt.WideIndices)
	}
	if err != nil {
		return nil, err
	}
	if r.cur, err = cpms.NewHeads(g.nodes, 8); err != nil {
		return nil, err
	}
	if r.next, err = cpms.NewHeads(g.nodes, 8); err != nil {
		return nil, err
	}
	r.makeChunks()
	threads := 0
	for _, d := range sys.Devices() {
		threads += d.Threads
	}
	r.workers = make([]worker, max(min(threads, len(r.chunks)), 1))
	for i := range r.workers {
		r.workers[i].scratch = cpu.NewSegmentScratch()
	}
	return r, nil
}

// makeChunks splits the nodes into chunks.
func (r *cpuRanker) makeChunks() {
	g, rest := r.g, r.g.dangling
	for first := 0; first < g.nodes; {
		end := first
		for end < g.nodes && end-first < chunkNodes && g.ptr[end]-g.ptr[first] < chunkLinks {
			end = min(end+cpu.SliceRows, g.nodes)
		}
		n, _ := slices.BinarySearch(rest, int32(end))
		r.chunks = append(r.chunks, chunk{first: first, end: end, dangling: rest[:n]})
		rest, first = rest[n:], end
	}
}

// each calls f for each chunk, on all workers.
func (r *cpuRanker) each(f func(w *worker, c *chunk)) {
	var taken atomic.Int64
	par.Do(len(r.workers), func(i int) {
		for {
			c := int(taken.Add(1)) - 1
			if c >= len(r.chunks) {
				return
			}
			f(&r.workers[i], &r.chunks[c])
		}
	})
}

func (r *cpuRanker) start(width int) (float64, error) {
	r.cur.SetWidth(width)
	p := 1 / float64(r.g.nodes)
	r.each(func(_ *worker, c *chunk) {
		for i := c.first; i < c.end; i++ {
			p := p
			if r.first != nil {
				p = r.first[i]
			}
			r.cur.Set(i, p/r.divisor(i))
		}
		c.inactive = r.sumDangling(r.cur, c)
	})
	return r.total(func(c *chunk) float64 { return c.inactive }), nil
}

// divisor returns the number by which the vectors divide the rank of node i.
func (r *cpuRanker) divisor(i int) float64 {
	if r.degree == nil {
		return 1
	}
	return float64(r.degree[i])
}

// sumDangling returns the sum of the ranks of the dangling nodes of a chunk.
func (r *cpuRanker) sumDangling(v *cpms.Heads, c *chunk) (sum float64) {
	for _, i := range c.dangling {
		sum += v.At(int(i))
	}
	return sum
}

// total returns the sum of a result over all chunks, in order.
func (r *cpuRanker) total(of func(c *chunk) float64) (sum float64) {
	for i := range r.chunks {
		sum += of(&r.chunks[i])
	}
	return sum
}

func (r *cpuRanker) step(_ context.Context, read, write int, damping, add, jump float64) (diff, dangling float64, err error) {
	r.next.SetWidth(write)
	k := read * r.segments / 8
	r.each(func(w *worker, c *chunk) {
		c.diff = 0
		for first := c.first; first < c.end; first += batchNodes {
			end := min(first+batchNodes, c.end)
			sums := w.sums[:end-first]
			r.m.Sums(sums, first, k, r.cur, w.scratch)
			factor := damping
			if r.teleport != nil {
				for i, v := range r.teleport[first:end] {
					sums[i] = float64(damping*sums[i]) + float64(jump*v)
				}
				factor = 1
			}
			var degree []int32
			if r.degree != nil {
				degree = r.degree[first:end]
			}
			c.diff += cpu.Rank(sums, r.cur, r.next, first, degree, factor, add)
		}
		c.inactive = r.sumDangling(r.next, c)
	})
	r.cur, r.next = r.next, r.cur
	return r.total(func(c *chunk) float64 { return c.diff }), r.total(func(c *chunk) float64 { return c.inactive }), nil
}

func (r *cpuRanker) normalise() (float64, error) {
	r.each(func(_ *worker, c *chunk) {
		c.diff = 0
		for i := c.first; i < c.end; i++ {
			c.diff += float64(r.cur.At(i) * r.divisor(i))
		}
	})
	sum := r.total(func(c *chunk) float64 { return c.diff })
	r.each(func(_ *worker, c *chunk) {
		for i := c.first; i < c.end; i++ {
			r.cur.Set(i, r.cur.At(i)/sum)
		}
	})
	return sum, nil
}

// joinWeights joins weights that are stored in banks. Separated segments stay as they are: reading them is as fast, and
// joining them would take memory.
func (r *cpuRanker) joinWeights() error {
	if r.bank != cpms.Separated || r.segments == 1 {
		if err := graphFits(r.g.nodes, len(r.g.in), "join the weights of these", r.m.JoinBytes()); err != nil {
			return err
		}
		r.m.Join()
	}
	return nil
}

func (r *cpuRanker) ranks() ([]float64, error) {
	p := make([]float64, r.g.nodes)
	r.each(func(_ *worker, c *chunk) {
		for i := c.first; i < c.end; i++ {
			p[i] = r.cur.At(i) * r.divisor(i)
		}
	})
	return p, nil
}

func (r *cpuRanker) close() error { return nil }

package coarsen

import (
	"math"
	"slices"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/sparse"
)

// graph has the strong couplings. The neighbours of node i, without i, are to[start[i]] to to[start[i]+count[i]-1], in the
// order of the entries of A. If in is not nil, they are found among these couplings whenever they are needed: the first pass
// of the aggregation asks for those of a part of the nodes only.
type graph struct {
	start []int64
	count []int32
	to    []int32

	in    *couplings
	theta float64
}

func (g *graph) nodes() int {
	if g.in != nil {
		return len(g.in.root)
	}
	return len(g.count)
}

// neighbours returns the neighbours of node i. The result may use the memory of room, which the caller gives for the next
// call.
func (g *graph) neighbours(i int, room *[]int32) []int32 {
	if g.in != nil {
		*room = slices.Grow((*room)[:0], int(g.in.ptr[i+1]-g.in.ptr[i]))
		return (*room)[:g.in.strong(i, g.theta, (*room)[:cap(*room)])]
	}
	at := g.start[i]
	return g.to[at : at+int64(g.count[i])]
}

// couplings is A with one row for each node: A itself where each unknown is a node, else the Frobenius norms of the blocks
// of A outside the diagonal.
type couplings struct {
	ptr  []int64
	to   []int32
	size []float64 // entries of A, with their signs, or norms
	root []float64 // square root of the absolute diagonal entry, or of the norm of the diagonal block
}

// strong stores the nodes j with |a_ij|^2 > theta^2 |a_ii a_jj| in out, and returns their number.
func (c *couplings) strong(i int, theta float64, out []int32) int {
	limit, from := theta*c.root[i], c.ptr[i]
	to := c.to[from:c.ptr[i+1]]
	size := c.size[from:c.ptr[i+1]][:len(to)]
	count := 0
	for k, j := range to {
		if math.Abs(size[k]) > limit*c.root[j] && int(j) != i {
			out[count] = j
			count++
		}
	}
	return count
}

// findDiagonal sets diagonal, inverse, rowSum, and root if each unknown is a node.
func (s *setup) findDiagonal() {
	a := s.a
	s.diagonal, s.inverse = mem.Uncleared[float64](a.Rows), mem.Uncleared[float64](a.Rows)
	if s.nodes.single() {
		s.root = mem.Uncleared[float64](a.Rows)
	}
	largest := make([]float64, s.run.most)
	s.run.pieces(a.Rows, 1<<12, func(piece, lo, hi int) {
		most := 0.0
		for i := lo; i < hi; i++ {
			d, sum := 0.0, 0.0
			val := a.Val[a.RowPtr[i]:a.RowPtr[i+1]]
			for k, j := range a.ColIdx[a.RowPtr[i]:a.RowPtr[i+1]][:len(val)] {
				sum += math.Abs(val[k])
				if int(j) == i {
					d += val[k]
				}
			}
			inverse := 0.0
			if d != 0 {
				inverse = 1 / d
			}
			s.diagonal[i], s.inverse[i] = d, inverse
			if s.root != nil {
				s.root[i] = math.Sqrt(math.Abs(d))
			}
			most = max(most, sum*math.Abs(inverse))
		}
		largest[piece] = most
	})
	s.rowSum = slices.Max(largest)
}

// couplingsOf returns the couplings of A or A'.
func (s *setup) couplingsOf(a *sparse.CSR[float64]) *couplings {
	if s.nodes.single() {
		return &couplings{ptr: a.RowPtr, to: a.ColIdx, size: a.Val, root: s.root}
	}
	return s.coupledBlocks(a)
}

// coupledBlocks returns the Frobenius norms of the blocks.
func (s *setup) coupledBlocks(a *sparse.CSR[float64]) *couplings {
	count := s.nodes.count
	c := &couplings{ptr: make([]int64, count+1), root: make([]float64, count)}
	type part struct {
		to   []int32
		size []float64
	}
	parts := make([]part, s.run.most)
	s.run.pieces(count, 1<<10, func(piece, lo, hi int) {
		first, _ := s.nodes.span(lo)
		_, end := s.nodes.span(hi - 1)
		each := float64(hi-lo) / float64(max(end-first, 1))                       // nodes of an unknown
		room := int(float64(a.RowPtr[end]-a.RowPtr[first])*each*each) + 4*(hi-lo) // of full blocks, and some
		found := part{mem.Uncleared[int32](room)[:0], mem.Uncleared[float64](room)[:0]}
		at := make([]int32, count) // of each node: 1 + its place in the row, 0 if it is not there
		for i := lo; i < hi; i++ {
			from, end := s.nodes.span(i)
			start, own := len(found.to), 0.0
			val := a.Val[a.RowPtr[from]:a.RowPtr[end]]
			last, place := int32(i), -1 // the node of the entry before, and its place in found; -1: it is i
			for k, col := range a.ColIdx[a.RowPtr[from]:a.RowPtr[end]][:len(val)] {
				v := val[k]
				if j := s.node[col]; j != last {
					if last, place = j, -1; int(j) != i {
						if at[j] == 0 {
							found.to, found.size = append(found.to, j), append(found.size, 0)
							at[j] = int32(len(found.to) - start)
						}
						place = start + int(at[j]) - 1
					}
				}
				if place < 0 {
					own += v * v
				} else {
					found.size[place] += v * v
				}
			}
			c.root[i] = math.Sqrt(math.Sqrt(own))
			for k, j := range found.to[start:] {
				at[j] = 0
				found.size[start+k] = math.Sqrt(found.size[start+k])
			}
			c.ptr[i+1] = int64(len(found.to) - start)
		}
		parts[piece] = found
	})
	prefix(c.ptr)
	c.to, c.size = mem.Uncleared[int32](int(c.ptr[count])), mem.Uncleared[float64](int(c.ptr[count]))
	s.run.pieces(count, 1<<10, func(piece, lo, _ int) {
		copy(c.to[c.ptr[lo]:], parts[piece].to)
		copy(c.size[c.ptr[lo]:], parts[piece].size)
	})
	return c
}

// strong returns the graph of the strong couplings in c.
func (s *setup) strong(c *couplings) *graph {
	n := len(c.root)
	g := &graph{start: c.ptr[:n], count: mem.Uncleared[int32](n), to: mem.Uncleared[int32](len(c.to))}
	s.run.ranges(n, 1<<12, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			g.count[i] = int32(c.strong(i, s.theta, g.to[c.ptr[i]:c.ptr[i+1]]))
		}
	})
	return g
}

// either returns the graph in which two nodes are coupled if g or h couples them. Nodes without neighbours in g, such as
// boundary conditions, have none in the result. Both store their neighbours.
func (g *graph) either(h *graph, run runner) *graph {
	n := g.nodes()
	both := &graph{start: make([]int64, n+1), count: make([]int32, n)}
	for i := range n {
		both.start[i+1] = both.start[i] + int64(g.count[i]) + int64(h.count[i])
	}
	both.to = mem.Make[int32](int(both.start[n]))
	run.pieces(n, 1<<12, func(_, lo, hi int) {
		in := make([]int32, n) // of each node: 1 + the last node of which it is a neighbour
		for i := lo; i < hi; i++ {
			if g.count[i] == 0 {
				continue
			}
			at := both.start[i]
			for _, list := range [][]int32{g.neighbours(i, nil), h.neighbours(i, nil)} {
				for _, j := range list {
					if in[j] != int32(i+1) && g.count[j] > 0 {
						in[j] = int32(i + 1)
						both.to[at] = j
						at++
					}
				}
			}
			both.count[i] = int32(at - both.start[i])
		}
	})
	return both
}

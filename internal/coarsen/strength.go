package coarsen

import (
	"math"
	"slices"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/sparse"
)

// graph has the strong couplings. The neighbours of node i, without i, are to[start[i]] to to[start[i]+count[i]-1], in the
// order of the entries of A.
type graph struct {
	start []int64
	count []int32
	to    []int32
}

func (g *graph) nodes() int { return len(g.count) }

func (g *graph) neighbours(i int) []int32 {
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

// findDiagonal sets diagonal, inverse and rowSum.
func (s *setup) findDiagonal() {
	a := s.a
	s.diagonal, s.inverse = mem.Make[float64](a.Rows), mem.Make[float64](a.Rows)
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
			s.diagonal[i] = d
			if d != 0 {
				s.inverse[i] = 1 / d
			}
			most = max(most, sum*math.Abs(s.inverse[i]))
		}
		largest[piece] = most
	})
	s.rowSum = slices.Max(largest)
}

// couplingsOf returns the couplings of A or A'.
func (s *setup) couplingsOf(a *sparse.CSR[float64]) *couplings {
	if s.nodes.single() {
		root := mem.Make[float64](a.Rows)
		s.run.ranges(a.Rows, 1<<13, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				root[i] = math.Sqrt(math.Abs(s.diagonal[i]))
			}
		})
		return &couplings{ptr: a.RowPtr, to: a.ColIdx, size: a.Val, root: root}
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
		var found part
		at := make([]int32, count) // of each node: 1 + its place in the row, 0 if it is not there
		for i := lo; i < hi; i++ {
			from, end := s.nodes.span(i)
			start, own := len(found.to), 0.0
			for k := a.RowPtr[from]; k < a.RowPtr[end]; k++ {
				j, v := s.node[a.ColIdx[k]], a.Val[k]
				if int(j) == i {
					own += v * v
					continue
				}
				if at[j] == 0 {
					found.to, found.size = append(found.to, j), append(found.size, 0)
					at[j] = int32(len(found.to) - start)
				}
				found.size[start+int(at[j])-1] += v * v
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
	c.to, c.size = make([]int32, 0, c.ptr[count]), make([]float64, 0, c.ptr[count])
	for _, p := range parts {
		c.to, c.size = append(c.to, p.to...), append(c.size, p.size...)
	}
	return c
}

// strong returns the graph of the couplings c with |a_ij|^2 > theta^2 |a_ii a_jj|.
func (s *setup) strong(c *couplings) *graph {
	n := len(c.root)
	g := &graph{start: c.ptr[:n], count: make([]int32, n), to: mem.Make[int32](len(c.to))}
	s.run.ranges(n, 1<<12, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			limit := s.theta * c.root[i]
			from := c.ptr[i]
			to, size := c.to[from:c.ptr[i+1]], c.size[from:c.ptr[i+1]]
			out := g.to[from:c.ptr[i+1]]
			count := 0
			for k, j := range to {
				if math.Abs(size[k]) > limit*c.root[j] && int(j) != i {
					out[count] = j
					count++
				}
			}
			g.count[i] = int32(count)
		}
	})
	return g
}

// either returns the graph in which two nodes are coupled if g or h couples them. Nodes without neighbours in g, such as
// boundary conditions, have none in the result.
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
			for _, list := range [][]int32{g.neighbours(i), h.neighbours(i)} {
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

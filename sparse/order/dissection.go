package order

import (
	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/sparse"
)

const (
	// leafNodes is the number of nodes below which Dissection uses AMD.
	leafNodes = 200
	// parallelNodes is the number of nodes from which two halves are dissected at once.
	parallelNodes = 1 << 13
)

// Dissection returns a nested dissection order of the pattern of A + A': it finds a small
// set of nodes whose removal divides the graph into two parts of similar size, orders the
// parts in the same way, one after the other, and the set last (George, Nested dissection
// of a regular finite element mesh, SIAM J. Numer. Anal. 10 (1973) 345-363). Parts of at
// most 200 nodes, and parts without a small separator, are ordered by minimum degree.
//
// Separators are found on coarser graphs and refined (Karypis and Kumar, A fast and high
// quality multilevel scheme for partitioning irregular graphs, SIAM J. Sci. Comput. 20
// (1998) 359-392; for separators of nodes, Hendrickson and Rothberg, Improving the run time
// and quality of nested dissection ordering, SIAM J. Sci. Comput. 20 (1998) 468-489).
//
// Dissection takes 10 to 20 times as long as AMD on one goroutine and uses several. On meshes of more than 10,000 nodes in
// three dimensions the factorisation then takes 0.3 to 0.7 of the work. In two dimensions
// AMD is about as good, and better if the mesh has the natural order of a grid; on graphs
// with few cycles, such as circuits and road maps, AMD is better. The rows that AMD orders
// last are last here too.
//
// A matrix that is not valid or not square is a *sparse.InputError.
func Dissection[V sparse.Value](a *sparse.CSR[V]) ([]int32, error) {
	g, err := symmetricGraph(a)
	if err != nil {
		return nil, err
	}
	// Two levels of subgraphs with their coarser graphs, or one quotient graph.
	n, entries := int64(g.nodes()), int64(len(g.adj))
	if err := fits(a, max(2*(2*8*entries+2*24*n), quotientBytes(int(n), 0, entries))); err != nil {
		return nil, err
	}
	limit := denseLimit(g.nodes())
	var nodes, dense []int32
	for i := range int32(n) {
		if g.degree(i) > limit {
			dense = append(dense, i)
		} else {
			nodes = append(nodes, i)
		}
	}
	sortByKey(dense, func(i int32) int { return g.degree(i) })
	all := &subgraph{graph: g, names: nodes}
	if len(dense) > 0 {
		place := filled(int(n), none)
		all = (&subgraph{graph: g, names: sequence(int(n))}).part(nodes, place)
	}
	order := make([]int32, len(nodes), n)
	all.dissect(order)
	return append(order, dense...), nil
}

// subgraph is a part of a graph. names[i] is node i of the subgraph in the whole graph.
type subgraph struct {
	*graph
	names []int32
}

// part returns the subgraph of the given nodes. place must have none for every node, and
// has again on return.
func (s *subgraph) part(nodes, place []int32) *subgraph {
	p := &subgraph{graph: &graph{ptr: make([]int64, len(nodes)+1)}, names: make([]int32, len(nodes))}
	entries := int64(0)
	for k, i := range nodes {
		place[i] = int32(k)
		p.names[k] = s.names[i]
		entries += int64(s.degree(i))
	}
	p.adj = make([]int32, 0, entries)
	for k, i := range nodes {
		for _, j := range s.neighbours(i) {
			if place[j] != none {
				p.adj = append(p.adj, place[j])
			}
		}
		p.ptr[k+1] = int64(len(p.adj))
	}
	for _, i := range nodes {
		place[i] = none
	}
	return p
}

// dissect stores the order of the subgraph, in names of the whole graph.
func (s *subgraph) dissect(order []int32) {
	n := s.nodes()
	if n > leafNodes {
		if left, right, ok := s.divide(order); ok {
			size := left.nodes()
			rest := size + right.nodes()
			s.graph, s.names = nil, nil // free their memory
			halves := func(half int) {
				if half == 0 {
					left.dissect(order[:size])
				} else {
					right.dissect(order[size:rest])
				}
			}
			if n >= parallelNodes {
				par.Do(2, halves)
			} else {
				halves(0)
				halves(1)
			}
			return
		}
	}
	for k, i := range minimumDegree(s.graph) {
		order[k] = s.names[i]
	}
}

// divide finds a separator, stores it at the end of order, and returns the two parts. ok
// is false if the separator is too large to be of use.
func (s *subgraph) divide(order []int32) (left, right *subgraph, ok bool) {
	side := (&mesh{graph: s.graph}).separate()
	n := s.nodes()
	var nodes [3][]int32
	for i, p := range side {
		nodes[p] = append(nodes[p], int32(i))
	}
	if len(nodes[0]) == 0 || len(nodes[1]) == 0 || len(nodes[between]) > n/5 {
		return nil, nil, false
	}
	for k, i := range nodes[between] {
		order[n-len(nodes[between])+k] = s.names[i]
	}
	place := filled(n, none)
	return s.part(nodes[0], place), s.part(nodes[1], place), true
}

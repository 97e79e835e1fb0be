package order

import (
	"math"
	"math/rand/v2"
)

// between marks the nodes of a separator; 0 and 1 mark those of its two sides.
const between = 2

// mesh is a graph with weights of nodes and edges; nil weights are 1.
type mesh struct {
	*graph
	weight []int32 // by node
	edge   []int32 // by entry of adj
}

func (m *mesh) nodeWeight(i int32) int64 {
	if m.weight == nil {
		return 1
	}
	return int64(m.weight[i])
}

func (m *mesh) edgeWeight(k int64) int32 {
	if m.edge == nil {
		return 1
	}
	return m.edge[k]
}

const (
	coarsest = 120 // a graph of at most so many nodes is not made coarser
	trials   = 6   // separators tried on the coarsest graph
)

// separate returns the side of each node of a graph with at least one: 0, 1 or between. No
// edge joins 0 and 1. It makes the graph coarser, separates the coarsest one, and takes the sides back, refined on each
// graph.
func (m *mesh) separate() []uint8 {
	graphs, maps := []*mesh{m}, [][]int32(nil) // maps[k] leads from nodes of graphs[k] to nodes of graphs[k+1]
	for {
		g := graphs[len(graphs)-1]
		if g.nodes() <= coarsest {
			break
		}
		coarse, to := g.coarsen()
		if coarse.nodes() > g.nodes()*9/10 {
			break
		}
		graphs, maps = append(graphs, coarse), append(maps, to)
	}
	g := graphs[len(graphs)-1]
	r := newRefiner(g, g.firstSides())
	for k := len(maps) - 1; k >= 0; k-- {
		side := make([]uint8, graphs[k].nodes())
		for i := range side {
			side[i] = r.side[maps[k][i]]
		}
		r = newRefiner(graphs[k], side)
		r.refine()
	}
	return r.side
}

// coarsen joins each node, in random order, with the neighbour to which it has the heaviest
// edge, unless that one is joined already. It returns the coarse graph and the coarse node
// of each node. In the natural order of a grid, coarse nodes would be boxes with flat
// sides, and the separators 1.2 times as heavy.
func (m *mesh) coarsen() (*mesh, []int32) {
	n := m.nodes()
	total := int64(0)
	for i := range int32(n) {
		total += m.nodeWeight(i)
	}
	heaviest := max(total*3/(2*coarsest), 2)
	to := filled(n, none)
	c := clusters{first: make([]int32, 0, n), next: filled(n, none)}
	for _, i := range shuffled(n) {
		if to[i] != none {
			continue
		}
		mate, most := int32(none), int32(0)
		for k := m.ptr[i]; k < m.ptr[i+1]; k++ {
			j := m.adj[k]
			if e := m.edgeWeight(k); to[j] == none && e > most && m.nodeWeight(i)+m.nodeWeight(j) <= heaviest {
				mate, most = j, e
			}
		}
		to[i] = int32(len(c.first))
		if mate != none {
			to[mate] = to[i]
		}
		c.first, c.next[i] = append(c.first, i), mate
	}
	return m.contract(c, to), to
}

// clusters are sets of nodes that become one node each: cluster c has the nodes first[c],
// next[first[c]] and so on up to none.
type clusters struct{ first, next []int32 }

// contract returns the graph whose nodes are clusters. to is the cluster of each node.
// Weights of nodes and edges are sums.
func (m *mesh) contract(by clusters, to []int32) *mesh {
	count := len(by.first)
	c := &mesh{graph: &graph{ptr: make([]int64, count+1)}, weight: make([]int32, count)}
	c.adj, c.edge = make([]int32, 0, len(m.adj)), make([]int32, 0, len(m.adj))
	at := make([]int64, count) // place of a neighbour in adj, if it is in this list
	for a := range int32(count) {
		begin := int64(len(c.adj))
		for i := by.first[a]; i != none; i = by.next[i] {
			c.weight[a] = int32(min(int64(c.weight[a])+m.nodeWeight(i), math.MaxInt32))
			for k := m.ptr[i]; k < m.ptr[i+1]; k++ {
				b := to[m.adj[k]]
				if b == a {
					continue
				}
				if p := at[b]; p >= begin && p < int64(len(c.adj)) && c.adj[p] == b {
					c.edge[p] = int32(min(int64(c.edge[p])+int64(m.edgeWeight(k)), math.MaxInt32))
					continue
				}
				at[b] = int64(len(c.adj))
				c.adj, c.edge = append(c.adj, b), append(c.edge, m.edgeWeight(k))
			}
		}
		c.ptr[a+1] = int64(len(c.adj))
	}
	return c
}

// shuffled returns 0 to n-1 in random order, the same whenever it is called.
func shuffled(n int) []int32 {
	s := sequence(n)
	rand.New(rand.NewPCG(1, uint64(n))).Shuffle(n, func(i, j int) { s[i], s[j] = s[j], s[i] })
	return s
}

// firstSides returns the best of some separators: each grows a part from a node until it
// has half of the weight, and is refined.
func (m *mesh) firstSides() []uint8 {
	n := m.nodes()
	count := trials
	if n > 10*coarsest {
		count = 1
	}
	l := levels{graph: m.graph, round: make([]int64, n)}
	var best *refiner
	for trial := range count {
		start := int32(trial * n / count)
		if trial%2 == 0 {
			start = l.starts(start)[0]
		}
		r := newRefiner(m, m.grow(start))
		r.refine()
		if best == nil || r.better(best.score()) {
			best = r
		}
	}
	return best.side
}

// grow returns sides: the nodes nearest to start are 0 and have about half of the weight,
// their other neighbours are between, the rest is 1.
func (m *mesh) grow(start int32) []uint8 {
	n := m.nodes()
	side, total := make([]uint8, n), int64(0)
	for i := range int32(n) {
		side[i] = 1
		total += m.nodeWeight(i)
	}
	var queue []int32
	inside, next := int64(0), int32(0)
	seen := make([]bool, n)
	for at := 0; 2*inside < total; at++ {
		if at == len(queue) { // the start, or the next component
			i := start
			for seen[i] {
				i = next
				next++
			}
			seen[i] = true
			queue = append(queue, i)
		}
		i := queue[at]
		side[i] = 0
		inside += m.nodeWeight(i)
		for _, j := range m.neighbours(i) {
			if !seen[j] {
				seen[j] = true
				queue = append(queue, j)
			}
		}
	}
	for _, i := range queue {
		if side[i] == 0 {
			continue
		}
		for _, j := range m.neighbours(i) {
			if side[j] == 0 {
				side[i] = between
				break
			}
		}
	}
	return side
}

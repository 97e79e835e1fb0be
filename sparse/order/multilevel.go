package order

import (
	"context"
	"math"
	"math/rand/v2"
)

const (
	nodesPerPart = 30  // the coarsest graph of a partition has at least so many nodes for each part
	coarsePasses = 8   // passes of refinement on a coarse graph, at most
	finePasses   = 6   // passes on the graph itself
	bisections   = 8   // bisections tried of each graph
	edgeScale    = 720 // what a node divides among its edges
)

// partition returns the part of each node. Part k shall have share[k] of the weight, within
// 3 %. It makes the graph coarser, divides the coarsest one by bisections, and takes the
// parts back, refined on each graph (Karypis and Kumar, Multilevel k-way partitioning scheme
// for irregular graphs, J. Parallel Distrib. Comput. 48 (1998) 96-129).
//
// On coarse graphs edges count. The edges of a node have the weight of the node between
// them: the edges between parts then stand for what is sent, which does not grow with the
// degree of a node.
func (m *mesh) partition(ctx context.Context, share []int64, nets *nets) ([]int32, error) {
	m.edge = m.dividedEdges()
	least := max(nodesPerPart*len(share), coarsest)
	graphs, maps := []*mesh{m}, [][]int32(nil)
	for {
		g := graphs[len(graphs)-1]
		if g.nodes() <= least {
			break
		}
		coarse, to, err := g.gather(ctx, least)
		if err != nil {
			return nil, err
		}
		if coarse.nodes() > g.nodes()*19/20 {
			break
		}
		graphs, maps = append(graphs, coarse), append(maps, to)
	}
	last := len(graphs) - 1
	part := make([]int32, graphs[last].nodes())
	if err := graphs[last].bisect(ctx, share, sequence(len(part)), part, 0); err != nil {
		return nil, err
	}
	for k := last; k >= 0; k-- {
		g, passes := graphs[k], coarsePasses
		if k < last {
			part = pick(part, maps[k])
		}
		limit := g.limits(share, k > 0)
		if err := newKway(ctx, g, part, limit, nil).refine(passes); err != nil {
			return nil, err
		}
		if k == 0 {
			if err := newKway(ctx, g, part, limit, nets).refine(finePasses); err != nil {
				return nil, err
			}
		}
	}
	return part, nil
}

// pick returns part[to[i]] for each i.
func pick(part, to []int32) []int32 {
	out := make([]int32, len(to))
	for i, c := range to {
		out[i] = part[c]
	}
	return out
}

// dividedEdges returns weights of edges: each node divides the same among its edges, and an
// edge gets what its two nodes give.
func (m *mesh) dividedEdges() []int32 {
	edge := make([]int32, len(m.adj))
	for i := range int32(m.nodes()) {
		for k := m.ptr[i]; k < m.ptr[i+1]; k++ {
			edge[k] = int32(max(edgeScale/m.degree(i)+edgeScale/m.degree(m.adj[k]), 1))
		}
	}
	return edge
}

// totalWeight returns the weight of all nodes.
func (m *mesh) totalWeight() (sum int64) {
	for i := range int32(m.nodes()) {
		sum += m.nodeWeight(i)
	}
	return sum
}

// limits returns the most weight that each part should have: 3 % more than its share, or as
// much as the heaviest node makes necessary.
func (m *mesh) limits(share []int64, coarse bool) []int64 {
	total, heaviest := m.totalWeight(), int64(0)
	for i := range int32(m.nodes()) {
		heaviest = max(heaviest, m.nodeWeight(i))
	}
	sum := int64(0)
	for _, s := range share {
		sum += s
	}
	limit := make([]int64, len(share))
	for q, s := range share {
		target := float64(total) * (float64(s) / float64(sum))
		limit[q] = max(int64(target*1.03), min(s, 1)*heaviest)
		if coarse {
			limit[q] = max(limit[q], min(int64(target)+heaviest, int64(target*1.2)))
		}
	}
	return limit
}

// gather joins nodes into clusters: each node, in nearly random order, joins the neighbour,
// or the cluster of neighbours, to which it has the heaviest edges for the weight of the
// other. It returns the coarse graph and the coarse node of each node.
func (m *mesh) gather(ctx context.Context, least int) (*mesh, []int32, error) {
	n := m.nodes()
	g := gatherer{mesh: m, heaviest: max(m.totalWeight()*3/(2*int64(least)), 2), to: filled(n, none),
		clusters: clusters{first: make([]int32, 0, n/2), next: filled(n, none)}, joined: make([]int64, 2*n), lonely: filled(n+1, none)}
	for at, i := range nearlyShuffled(n) {
		if at&4095 == 0 && ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		if g.to[i] == none {
			g.place(i)
		}
	}
	g.clusters.sort(g.to)
	return m.contract(g.clusters, g.to), g.to, nil
}

// gatherer is the state of gather.
type gatherer struct {
	*mesh
	clusters
	heaviest int64   // the most that a cluster weighs, unless it is one node
	to       []int32 // by node: its cluster, or none
	weights  []int64 // by cluster
	joined   []int64 // by cluster, then by node from n on; zero between calls: edges of node i to it
	seen     []int32 // the elements of joined in use
	// lonely has by node i the last cluster that was begun for a node without a mate whose
	// heaviest edge leads to i; the last element is for nodes without edges.
	lonely []int32
}

// place puts node i into a cluster.
func (g *gatherer) place(i int32) {
	n, w := int32(g.nodes()), g.nodeWeight(i)
	near, strongest := n, int32(0)
	for k := g.ptr[i]; k < g.ptr[i+1]; k++ {
		j, e := g.adj[k], g.edgeWeight(k)
		if e > strongest {
			near, strongest = j, e
		}
		x := n + j
		if g.to[j] != none {
			x = g.to[j]
		}
		if g.joined[x] == 0 {
			g.seen = append(g.seen, x)
		}
		g.joined[x] += int64(e)
	}
	mate, most := int32(none), 0.0
	for _, x := range g.seen {
		e := float64(g.joined[x])
		g.joined[x] = 0
		other := g.weightOf(x)
		if score := e / float64(max(other, 1)); score > most && w+other <= g.heaviest {
			mate, most = x, score
		}
	}
	g.seen = g.seen[:0]
	if mate == none {
		if mate = g.lonely[near]; mate == none || w+g.weights[mate] > g.heaviest {
			g.lonely[near] = g.begin(i)
			return
		}
	}
	if mate >= n { // a node without a cluster
		j := mate - n
		mate = g.begin(j)
	}
	g.to[i] = mate
	g.weights[mate] += w
	g.next[i] = g.next[g.first[mate]]
	g.next[g.first[mate]] = i
}

// weightOf returns the weight of an element of joined.
func (g *gatherer) weightOf(x int32) int64 {
	if n := int32(g.nodes()); x >= n {
		return g.nodeWeight(x - n)
	}
	return g.weights[x]
}

// begin makes a cluster of node i.
func (g *gatherer) begin(i int32) int32 {
	c := int32(len(g.first))
	g.to[i] = c
	g.first, g.weights = append(g.first, i), append(g.weights, g.nodeWeight(i))
	return c
}

// sort numbers clusters by their lowest nodes, so that clusters near each other in the graph
// stay near each other in memory if nodes do.
func (c *clusters) sort(to []int32) {
	place, first := filled(len(c.first), none), make([]int32, 0, len(c.first))
	for i, x := range to {
		if place[x] == none {
			place[x] = int32(len(first))
			first = append(first, c.first[x])
		}
		to[i] = place[x]
	}
	c.first = first
}

// nearlyShuffled returns 0 to n-1, block by block, in random order within a block.
func nearlyShuffled(n int) []int32 {
	const block = 1 << 12
	s := sequence(n)
	r := rand.New(rand.NewPCG(2, uint64(n)))
	for lo := 0; lo < n; lo += block {
		b := s[lo:min(lo+block, n)]
		r.Shuffle(len(b), func(i, j int) { b[i], b[j] = b[j], b[i] })
	}
	return s
}

// bisect divides nodes, of the graph with the numbers names in the whole, into parts from
// first on by bisections.
func (m *mesh) bisect(ctx context.Context, share []int64, names []int32, part []int32, first int32) error {
	if len(share) == 1 || m.nodes() == 0 {
		for _, i := range names {
			part[i] = first
		}
		return nil
	}
	half := len(share) / 2
	var two [2]int64
	for q, s := range share {
		if q < half {
			two[0] += s
		} else {
			two[1] += s
		}
	}
	side, err := m.halves(ctx, two)
	if err != nil {
		return err
	}
	for s, shares := range [2][]int64{share[:half], share[half:]} {
		sub, nodes := m.only(side, int32(s))
		if err := sub.bisect(ctx, shares, pick(names, nodes), part, first+int32(s*half)); err != nil {
			return err
		}
	}
	return nil
}

// only returns the graph of the nodes on a side, and these nodes.
func (m *mesh) only(side []int32, s int32) (*mesh, []int32) {
	var nodes []int32
	place := filled(m.nodes(), none)
	for i, t := range side {
		if t == s {
			place[i] = int32(len(nodes))
			nodes = append(nodes, int32(i))
		}
	}
	sub := &mesh{graph: &graph{ptr: make([]int64, 1, len(nodes)+1)}}
	for _, i := range nodes {
		sub.weight = append(sub.weight, int32(m.nodeWeight(i)))
		for k := m.ptr[i]; k < m.ptr[i+1]; k++ {
			if j := place[m.adj[k]]; j != none {
				sub.adj, sub.edge = append(sub.adj, j), append(sub.edge, m.edgeWeight(k))
			}
		}
		sub.ptr = append(sub.ptr, int64(len(sub.adj)))
	}
	return sub, nodes
}

// halves returns the better of some bisections: each grows side 0 from a node until it has
// its share of the weight, and is refined.
func (m *mesh) halves(ctx context.Context, share [2]int64) ([]int32, error) {
	n := m.nodes()
	limit := m.limits(share[:], true)
	target := int64(float64(m.totalWeight()) * (float64(share[0]) / float64(share[0]+share[1])))
	starts := shuffled(n)
	var best []int32
	least := int64(math.MaxInt64)
	for t := range min(bisections, n) {
		side := m.growWeight(starts[t], target)
		r := newKway(ctx, m, side, limit, nil)
		if err := r.refine(coarsePasses); err != nil {
			return nil, err
		}
		over := max(-r.room(0), 0) + max(-r.room(1), 0)
		if cut := r.cut() + over<<32; cut < least {
			best, least = side, cut
		}
	}
	return best, nil
}

// cut returns twice the weight of the edges between parts.
func (r *kway) cut() (sum int64) {
	for i := range int32(r.nodes()) {
		for k := r.ptr[i]; k < r.ptr[i+1]; k++ {
			if r.part[i] != r.part[r.adj[k]] {
				sum += int64(r.edgeWeight(k))
			}
		}
	}
	return sum
}

// growWeight returns sides: nodes come to side 0 from a start, those with the heaviest edges
// to it, less those to the rest, first, until it has the weight target.
func (m *mesh) growWeight(start int32, target int64) []int32 {
	n := m.nodes()
	side, gain := filled(n, 1), make([]int64, n)
	for i := range int32(n) {
		for k := m.ptr[i]; k < m.ptr[i+1]; k++ {
			gain[i] -= int64(m.edgeWeight(k))
		}
	}
	var heap gains
	inside, next := int64(0), int32(0)
	heap.push(entry{gain[start], start})
	for inside < target {
		if len(heap) == 0 {
			for int(next) < n && side[next] == 0 {
				next++
			}
			if int(next) == n {
				break
			}
			heap.push(entry{gain[next], next})
		}
		e := heap[0]
		heap.pop()
		if side[e.node] == 0 || gain[e.node] != e.gain {
			continue
		}
		if w := m.nodeWeight(e.node); inside+w/2 > target && inside > 0 {
			break
		}
		side[e.node] = 0
		inside += m.nodeWeight(e.node)
		for k := m.ptr[e.node]; k < m.ptr[e.node+1]; k++ {
			if j := m.adj[k]; side[j] == 1 {
				gain[j] += 2 * int64(m.edgeWeight(k))
				heap.push(entry{gain[j], j})
			}
		}
	}
	return side
}

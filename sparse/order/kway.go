package order

import (
	"context"
	"math"
)

// kway moves nodes between the parts of a graph so that less is exchanged, in passes as
// those of Fiduccia and Mattheyses (A linear-time heuristic for improving network
// partitions, 1982). Without nets, it minimises the weight of the edges between parts, else
// the sum over the nets of the number of parts that a net reaches, less one.
type kway struct {
	*mesh
	ctx   context.Context
	part  []int32 // by node
	total []int64 // by part: weight of its nodes
	limit []int64 // by part: the most weight that it should have
	nets  *nets   // nil while edges count

	to    []int64 // by part, zero between calls: how much node i is joined to it
	seen  []int32 // the parts with an element in to
	key   []int64 // by node: the gain of its valid entry in heap, or noKey
	moved []bool  // by node: in this pass
	heap  gains   // entries whose gain is not the key of their node are stale
	log   []step  // of this pass
	work  int     // edges and nets that passes have looked at
}

// step is a node and its part before a move.
type step struct{ node, part int32 }

const (
	noKey = math.MinInt64
	// patience is the number of moves without an improvement after which a pass ends.
	patience = 200
	// budget bounds what passes look at, in edges of the graph.
	budget = 5
	// hub is the degree from which neighbours of a moved node, or moved neighbours, are not
	// considered again in the same pass: that would take too long.
	hub = 64
)

// newKway returns a refiner for parts with limits. nets may be nil.
func newKway(ctx context.Context, m *mesh, part []int32, limit []int64, nets *nets) *kway {
	n := m.nodes()
	r := &kway{mesh: m, ctx: ctx, part: part, total: make([]int64, len(limit)), limit: limit, nets: nets,
		to: make([]int64, len(limit)), key: make([]int64, n), moved: make([]bool, n)}
	for i, q := range part {
		r.total[q] += m.nodeWeight(int32(i))
		r.key[i] = noKey
	}
	if nets != nil {
		nets.count(part)
	}
	return r
}

// refine brings the parts below their limits where it can, then runs at most most passes,
// until one gains nothing.
func (r *kway) refine(most int) error {
	if err := r.balance(); err != nil {
		return err
	}
	for range most {
		gain, err := r.pass()
		if err != nil {
			return err
		}
		if gain == 0 || r.work >= r.most() {
			return nil
		}
	}
	return nil
}

// most returns how much passes may look at together.
func (r *kway) most() int { return budget * (len(r.adj) + r.nodes()) }

// best returns the part with room to which node i moves with the largest gain, and the
// gain. The part is none if no part with room is joined to i.
func (r *kway) best(i int32) (gain int64, to int32) {
	own, w := r.part[i], r.nodeWeight(i)
	base := r.join(i, own)
	r.work += r.degree(i)
	to = none
	for _, q := range r.seen {
		g := r.to[q] + base
		r.to[q] = 0
		if q == own || r.total[q]+w > r.limit[q] {
			continue
		}
		if to == none || g > gain || g == gain && r.room(q) > r.room(to) {
			gain, to = g, q
		}
	}
	r.seen = r.seen[:0]
	return gain, to
}

// room returns the weight that a part may still take.
func (r *kway) room(q int32) int64 { return r.limit[q] - r.total[q] }

// join sets to and seen for node i, which is in part own. A move of i to part q gains
// to[q] plus the result.
func (r *kway) join(i, own int32) (base int64) {
	if r.nets != nil {
		return r.joinNets(i, own)
	}
	for k := r.ptr[i]; k < r.ptr[i+1]; k++ {
		q := r.part[r.adj[k]]
		if r.to[q] == 0 {
			r.seen = append(r.seen, q)
		}
		r.to[q] += int64(r.edgeWeight(k))
	}
	return -r.to[own]
}

// joinNets is join where nets count: a net that only i brings to part own is gained, one
// that does not reach part q is lost.
func (r *kway) joinNets(i, own int32) (base int64) {
	add := func(j int32) {
		for _, c := range r.nets.reach(j) {
			if c.part == own {
				if c.nodes > 1 {
					base--
				}
				continue
			}
			if r.to[c.part] == 0 {
				r.seen = append(r.seen, c.part)
			}
			r.to[c.part]++
		}
	}
	add(i)
	for _, j := range r.nets.of.neighbours(i) {
		add(j)
	}
	return base
}

// offer puts the best move of node i into the heap, if it has one.
func (r *kway) offer(i int32) {
	gain, to := r.best(i)
	if to == none {
		r.key[i] = noKey
		return
	}
	if r.key[i] != gain {
		r.key[i] = gain
		r.heap.push(entry{gain, i})
	}
}

// next takes the best valid entry from the heap and returns its move.
func (r *kway) next() (i, to int32, gain int64, ok bool) {
	for len(r.heap) > 0 {
		e := r.heap[0]
		r.heap.pop()
		i := e.node
		if r.moved[i] || r.key[i] != e.gain {
			continue
		}
		gain, to := r.best(i)
		if to != none && gain == e.gain {
			r.key[i] = noKey
			return i, to, gain, true
		}
		r.key[i] = noKey
		if to != none {
			r.key[i] = gain
			r.heap.push(entry{gain, i})
		}
	}
	return 0, 0, 0, false
}

// pass moves nodes, each at most once, takes back the moves after the best state, and
// returns how much it gained.
func (r *kway) pass() (int64, error) {
	r.heap, r.log = r.heap[:0], r.log[:0]
	for i := range int32(r.nodes()) {
		if i&4095 == 0 && r.ctx.Err() != nil {
			return 0, r.ctx.Err()
		}
		r.key[i] = noKey
		if r.border(i) {
			r.offer(i)
		}
	}
	var sum, best int64
	kept := 0
	for len(r.log)-kept < patience && r.work < r.most() {
		i, to, gain, ok := r.next()
		if !ok {
			break
		}
		if len(r.log)&1023 == 0 && r.ctx.Err() != nil {
			return 0, r.ctx.Err()
		}
		r.log = append(r.log, step{i, r.part[i]})
		r.move(i, to)
		r.moved[i] = true
		if sum += gain; sum > best {
			best, kept = sum, len(r.log)
		}
		r.offerNeighbours(i)
	}
	for k := len(r.log) - 1; k >= 0; k-- {
		s := r.log[k]
		r.moved[s.node] = false
		if k >= kept {
			r.move(s.node, s.part)
		}
	}
	return best, nil
}

// border reports whether node i is joined to another part.
func (r *kway) border(i int32) bool {
	if r.nets != nil {
		if len(r.nets.reach(i)) > 1 {
			return true
		}
		for _, j := range r.nets.of.neighbours(i) {
			if len(r.nets.reach(j)) > 1 {
				return true
			}
		}
		return false
	}
	for _, j := range r.neighbours(i) {
		if r.part[j] != r.part[i] {
			return true
		}
	}
	return false
}

// offerNeighbours offers the neighbours of a node that has moved.
func (r *kway) offerNeighbours(i int32) {
	if r.degree(i) > hub {
		return
	}
	for _, j := range r.neighbours(i) {
		if !r.moved[j] && r.degree(j) <= hub {
			r.offer(j)
		}
	}
}

// move moves node i to part q.
func (r *kway) move(i, q int32) {
	own, w := r.part[i], r.nodeWeight(i)
	r.total[own] -= w
	r.total[q] += w
	r.part[i] = q
	if r.nets != nil {
		r.nets.move(i, own, q)
	}
}

// balance moves nodes out of parts beyond their limits, those with the largest gain first,
// to parts with room. It leaves a part beyond its limit if none of its nodes fits anywhere.
func (r *kway) balance() error {
	over := false
	for q := range r.total {
		over = over || r.room(int32(q)) < 0
	}
	if !over {
		return nil
	}
	r.heap = r.heap[:0]
	for i := range int32(r.nodes()) {
		r.key[i] = noKey
		if r.room(r.part[i]) < 0 {
			r.offerAnywhere(i)
		}
	}
	for count := 0; len(r.heap) > 0; count++ {
		if count&1023 == 0 && r.ctx.Err() != nil {
			return r.ctx.Err()
		}
		e := r.heap[0]
		r.heap.pop()
		i := e.node
		if r.moved[i] || r.key[i] != e.gain || r.room(r.part[i]) >= 0 {
			continue
		}
		gain, to := r.bestAnywhere(i)
		if to == none {
			continue
		}
		if gain != e.gain {
			r.key[i] = gain
			r.heap.push(entry{gain, i})
			continue
		}
		r.move(i, to)
		r.key[i] = noKey
		if r.degree(i) > hub {
			continue
		}
		for _, j := range r.neighbours(i) {
			if r.room(r.part[j]) < 0 && r.degree(j) <= hub {
				r.offerAnywhere(j)
			}
		}
	}
	return nil
}

// bestAnywhere is best, but for a node that is joined to no part with room it returns the
// part with the most room, if the node fits there.
func (r *kway) bestAnywhere(i int32) (gain int64, to int32) {
	if gain, to = r.best(i); to != none {
		return gain, to
	}
	to = r.roomiest()
	if r.nodeWeight(i) > r.room(to) || to == r.part[i] {
		return 0, none
	}
	gain = r.join(i, r.part[i])
	for _, q := range r.seen {
		r.to[q] = 0
	}
	r.seen = r.seen[:0]
	return gain, to
}

func (r *kway) offerAnywhere(i int32) {
	if gain, to := r.bestAnywhere(i); to != none && gain != r.key[i] {
		r.key[i] = gain
		r.heap.push(entry{gain, i})
	}
}

// roomiest returns the first part with the most room.
func (r *kway) roomiest() int32 {
	to := int32(0)
	for q := range int32(len(r.total)) {
		if r.room(q) > r.room(to) {
			to = q
		}
	}
	return to
}

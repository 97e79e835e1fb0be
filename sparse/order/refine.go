package order

// refiner improves a separator by moving nodes out of it: a node that moves to one side
// draws its neighbours on the other side into the separator (Ashcraft and Liu, Applications
// of the Dulmage-Mendelsohn decomposition and network flow to graph bisection improvement,
// SIAM J. Matrix Anal. Appl. 19 (1998); in passes as those of Fiduccia and Mattheyses, A
// linear-time heuristic for improving network partitions, 1982).
type refiner struct {
	*mesh
	side   []uint8
	total  [3]int64 // weight of each side and of the separator
	limit  int64    // largest weight that a side should have
	moved  []bool   // nodes that have moved out of the separator in this pass
	heaps  [2]gains // by side: the nodes of the separator; some entries are stale
	log    []change // of this pass
	pushed []int32  // nodes that were in a heap in this pass
}

// change is a node and its side before a move.
type change struct {
	node int32
	side uint8
}

func newRefiner(m *mesh, side []uint8) *refiner {
	r := &refiner{mesh: m, side: side}
	all := int64(0)
	for i, s := range side {
		w := m.nodeWeight(int32(i))
		r.total[s] += w
		all += w
	}
	r.limit = max(all*11/20, 1)
	return r
}

// score is what refine minimises: first the weight of sides beyond the limit, then that of
// the separator, then the difference of the sides.
type score [3]int64

func (r *refiner) score() score {
	heavy, light := max(r.total[0], r.total[1]), min(r.total[0], r.total[1])
	return score{max(heavy-r.limit, 0), r.total[between], heavy - light}
}

// better reports whether the score of r is below s.
func (r *refiner) better(s score) bool {
	for k, v := range r.score() {
		if v != s[k] {
			return v < s[k]
		}
	}
	return false
}

const (
	passes  = 6
	retreat = 60 // moves without a better separator after which a pass ends
)

// refine runs passes until one does not improve the separator.
func (r *refiner) refine() {
	r.moved = make([]bool, r.nodes())
	for range passes {
		if !r.pass() {
			return
		}
	}
}

// gain returns the weight by which the separator shrinks if its node i moves to a side: the
// weight of i less that of its neighbours on the other side.
func (r *refiner) gain(i int32, to uint8) int64 {
	g := r.nodeWeight(i)
	for _, j := range r.neighbours(i) {
		if r.side[j] == 1-to {
			g -= r.nodeWeight(j)
		}
	}
	return g
}

// pass moves nodes, each at most once, and takes back the moves after the best separator.
func (r *refiner) pass() bool {
	r.heaps[0], r.heaps[1], r.log, r.pushed = r.heaps[0][:0], r.heaps[1][:0], r.log[:0], r.pushed[:0]
	for i, s := range r.side {
		if s == between {
			r.push(int32(i))
		}
	}
	start := r.score()
	best, kept := start, 0
	for tries := 0; tries < retreat; tries++ {
		i, to, ok := r.choose()
		if !ok {
			break
		}
		r.move(i, to)
		if r.better(best) {
			best, kept, tries = r.score(), len(r.log), 0
		}
	}
	for k := len(r.log) - 1; k >= kept; k-- {
		c := r.log[k]
		r.set(c.node, c.side)
	}
	for _, i := range r.pushed {
		r.moved[i] = false
	}
	return best != start
}

// push offers node i of the separator for both sides.
func (r *refiner) push(i int32) {
	r.pushed = append(r.pushed, i)
	for to := range uint8(2) {
		r.heaps[to].push(entry{r.gain(i, to), i})
	}
}

// choose returns the move with the largest gain. It prefers the lighter side if the gains
// are equal, and takes only that side if the other is too heavy.
func (r *refiner) choose() (i int32, to uint8, ok bool) {
	light := uint8(0)
	if r.total[1] < r.total[0] {
		light = 1
	}
	a, okA := r.top(light)
	b, okB := r.top(1 - light)
	heavy := 1 - light
	switch {
	case okB && r.total[heavy]+r.nodeWeight(b.node) <= r.limit && (!okA || b.gain > a.gain):
		r.heaps[heavy].pop()
		return b.node, heavy, true
	case okA:
		r.heaps[light].pop()
		return a.node, light, true
	}
	return 0, 0, false
}

// top returns the best entry of a heap that still holds, and removes those before it that
// do not.
func (r *refiner) top(to uint8) (entry, bool) {
	h := &r.heaps[to]
	for len(*h) > 0 {
		e := (*h)[0]
		if r.side[e.node] == between && !r.moved[e.node] {
			g := r.gain(e.node, to)
			if g == e.gain {
				return e, true
			}
			h.pop()
			h.push(entry{g, e.node})
			continue
		}
		h.pop()
	}
	return entry{}, false
}

// move moves node i of the separator to a side.
func (r *refiner) move(i int32, to uint8) {
	r.moved[i] = true
	r.record(i, to)
	for _, j := range r.neighbours(i) {
		if r.side[j] == 1-to {
			r.record(j, between)
			if !r.moved[j] {
				r.push(j)
			}
			// Neighbours of j in the separator lose less by a move to this side.
			for _, k := range r.neighbours(j) {
				if r.side[k] == between && !r.moved[k] && k != j {
					r.heaps[to].push(entry{r.gain(k, to), k})
				}
			}
		}
	}
}

func (r *refiner) record(i int32, to uint8) {
	r.log = append(r.log, change{i, r.side[i]})
	r.set(i, to)
}

func (r *refiner) set(i int32, to uint8) {
	w := r.nodeWeight(i)
	r.total[r.side[i]] -= w
	r.total[to] += w
	r.side[i] = to
}

// entry is a node and the weight by which its move would reduce the separator.
type entry struct {
	gain int64
	node int32
}

// gains is a heap: the largest gain first, the lowest node first among equal ones.
type gains []entry

func (a entry) before(b entry) bool {
	return a.gain > b.gain || a.gain == b.gain && a.node < b.node
}

func (h *gains) push(e entry) {
	s := append(*h, e)
	*h = s
	at := len(s) - 1
	for at > 0 && e.before(s[(at-1)/2]) {
		s[at] = s[(at-1)/2]
		at = (at - 1) / 2
	}
	s[at] = e
}

func (h *gains) pop() {
	s := *h
	n := len(s) - 1
	e := s[n]
	s = s[:n]
	*h = s
	if n == 0 {
		return
	}
	at := 0
	for {
		child := 2*at + 1
		if child >= n {
			break
		}
		if child+1 < n && s[child+1].before(s[child]) {
			child++
		}
		if e.before(s[child]) {
			break
		}
		s[at] = s[child]
		at = child
	}
	s[at] = e
}

package coarsen

import (
	"math"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/par"
)

// leastBranches is the least number of neighbours of a root whose star is completed to a box. Stencils of 5 points in 2
// dimensions have fewer: boxes of 9 nodes would take a third more iterations there, and save less time than these cost.
const leastBranches = 5

// A zone is a range of consecutive nodes in which one goroutine makes aggregates. Zones depend only on the number of nodes,
// so aggregates do not depend on the number of goroutines.
const (
	leastZone = 1 << 17 // nodes
	mostZones = 32
)

// aggregate sets aggregates and of in two passes.
//
// The first pass visits the nodes in order. A node becomes the root of an aggregate if neither it nor a neighbour is in
// one. The aggregate is a star: the root and its neighbours. If the neighbours are not coupled to each other, as in a
// stencil of 7 points, nodes that are coupled to two of them join; the star becomes a box of about 3^d nodes. Zones run in
// parallel. Nodes with a neighbour in another zone are visited after all zones.
//
// In the second pass, each node that is in no aggregate joins that of a neighbour (see joined).
func (s *setup) aggregate(g *graph) {
	root := g.roots(s.run)
	s.number(s.joined(g, root), root)
}

// roots returns the root of the aggregate of each node after the first pass; -1: none.
func (g *graph) roots(run runner) []int32 {
	n := g.nodes()
	root := mem.Uncleared[int32](n)
	run.ranges(n, 1<<14, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			root[i] = -1
		}
	})
	zones := min(max(n/leastZone, 1), mostZones)
	late := make([][]int32, zones)
	run.do(zones, func(zone int) {
		lo, hi := par.Cut(int64(n), zones, zone), par.Cut(int64(n), zones, zone+1)
		z := starter{g: g, root: root, lo: int32(lo), hi: int32(hi)}
		for i := z.lo; i < z.hi; i++ {
			z.start(i)
		}
		late[zone] = z.late
	})
	all := starter{g: g, root: root, hi: int32(n)}
	for _, nodes := range late {
		for _, i := range nodes {
			all.start(i)
		}
	}
	return root
}

// starter makes aggregates whose roots, and the neighbours of these, are nodes lo to hi-1.
type starter struct {
	g      *graph
	root   []int32
	lo, hi int32
	near   []int32 // memory of the neighbours of a node
	far    []int32 // memory of the neighbours of one of these
	late   []int32 // possible roots with a neighbour out of the range
	beside []int32 // for complete: nodes coupled to neighbours of the root
	times  []uint8 // for complete: to how many of these neighbours each node is coupled, at most 2; all 0 between calls
}

// start makes an aggregate with root i, unless i or a neighbour is in one.
func (z *starter) start(i int32) {
	if z.root[i] >= 0 {
		return
	}
	near := z.g.neighbours(int(i), &z.near)
	if len(near) == 0 {
		return
	}
	outside := false
	for _, j := range near {
		if j < z.lo || j >= z.hi {
			outside = true
		} else if z.root[j] >= 0 {
			return
		}
	}
	if outside {
		z.late = append(z.late, i)
		return
	}
	z.root[i] = i
	for _, j := range near {
		z.root[j] = i
	}
	z.complete(i, near)
}

// complete adds to an aggregate the nodes that are coupled to two neighbours of its root, unless two neighbours are coupled
// to each other.
func (z *starter) complete(root int32, near []int32) {
	if len(near) < leastBranches {
		return
	}
	if z.times == nil {
		z.times = make([]uint8, z.hi-z.lo)
	}
	z.beside = z.beside[:0]
	defer func() {
		for _, l := range z.beside {
			z.times[l-z.lo] = 0
		}
	}()
	for _, j := range near {
		for _, l := range z.g.neighbours(int(j), &z.far) {
			switch {
			case l < z.lo || l >= z.hi || l == root:
			case z.root[l] == root:
				return
			case z.root[l] < 0:
				if z.times[l-z.lo] == 0 {
					z.beside = append(z.beside, l)
				}
				z.times[l-z.lo] = min(z.times[l-z.lo]+1, 2)
			}
		}
	}
	for _, l := range z.beside {
		if z.times[l-z.lo] == 2 {
			z.root[l] = root
		}
	}
}

// number sets aggregates and of from the root of each node. Aggregates are numbered in the order of their roots. It
// overwrites root, which becomes of, and room, which is as long.
func (s *setup) number(root, room []int32) {
	n := len(root)
	count := make([]int32, s.run.most+1)
	s.run.pieces(n, 1<<14, func(piece, lo, hi int) {
		for i := lo; i < hi; i++ {
			if root[i] == int32(i) {
				count[piece+1]++
			}
		}
	})
	for p := 1; p < len(count); p++ {
		count[p] += count[p-1]
	}
	s.aggregates = count[len(count)-1]
	s.run.pieces(n, 1<<14, func(piece, lo, hi int) {
		next := count[piece]
		for i := lo; i < hi; i++ {
			if root[i] == int32(i) {
				room[i] = next
				next++
			}
		}
	})
	s.run.ranges(n, 1<<14, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			if r := root[i]; r >= 0 {
				root[i] = room[r]
			}
		}
	})
	s.of = root
}

// joined returns a copy of root in which each node i without an aggregate has joined that of a neighbour j:
//
//  1. the j with the largest |a_ij|^2/|a_ii a_jj|, if that coupling is strong;
//  2. else the j with the largest |a_ij|, if that is above theta |a_ii|: so an unknown with a small coefficient joins a
//     neighbour with a large one;
//  3. else the first neighbour in g that is in an aggregate.
//
// A node for which no rule holds stays in no aggregate.
func (s *setup) joined(g *graph, root []int32) []int32 {
	joined := s.joinedByEntries(root)
	s.run.ranges(len(root), 1<<12, func(lo, hi int) {
		var near []int32
		for i := lo; i < hi; i++ {
			if joined[i] < 0 {
				joined[i] = g.firstRoot(root, i, &near)
			}
		}
	})
	return joined
}

// firstRoot returns the root of the first neighbour of node i that is in an aggregate; -1: none is. room is that of
// neighbours.
func (g *graph) firstRoot(root []int32, i int, room *[]int32) int32 {
	for _, j := range g.neighbours(i, room) {
		if root[j] >= 0 {
			return root[j]
		}
	}
	return -1
}

// joinedByEntries applies the first two rules of joined, which need only the row of the node.
func (s *setup) joinedByEntries(root []int32) []int32 {
	c := s.c
	joined := mem.Uncleared[int32](len(root))
	s.run.ranges(len(root), 1<<12, func(lo, hi int) {
		copy(joined[lo:hi], root[lo:hi])
		for i := lo; i < hi; i++ {
			if root[i] >= 0 {
				continue
			}
			strongest, largest := s.theta*c.root[i], s.theta*c.root[i]*c.root[i]
			mutual, oneWay := int32(-1), int32(-1)
			for k := c.ptr[i]; k < c.ptr[i+1]; k++ {
				j := c.to[k]
				if root[j] < 0 {
					continue
				}
				v := math.Abs(c.size[k])
				if v > strongest*c.root[j] {
					strongest, mutual = v/c.root[j], root[j]
				}
				if v > largest {
					largest, oneWay = v, root[j]
				}
			}
			if joined[i] = mutual; mutual < 0 {
				joined[i] = oneWay
			}
		}
	})
	return joined
}

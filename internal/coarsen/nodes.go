package coarsen

import "github.com/msrep-go/msrep/sparse"

// nodes divides unknowns into nodes.
type nodes struct {
	count int
	block int     // unknowns of each node if first is nil
	first []int32 // count+1: the first unknown of each node
}

func nodesOf(n int, opt Options) nodes {
	if opt.Nodes != nil {
		return nodes{count: len(opt.Nodes) - 1, first: opt.Nodes}
	}
	block := max(opt.Block, 1)
	return nodes{count: n / block, block: block}
}

// single reports whether each unknown is a node.
func (s nodes) single() bool { return s.first == nil && s.block == 1 }

// span returns the unknowns lo to hi-1 of a node.
func (s nodes) span(node int) (lo, hi int) {
	if s.first != nil {
		return int(s.first[node]), int(s.first[node+1])
	}
	return node * s.block, (node + 1) * s.block
}

// byUnknown returns the node of each unknown.
func (s nodes) byUnknown(n int, run runner) []int32 {
	of := make([]int32, n)
	run.ranges(s.count, 1<<12, func(lo, hi int) {
		for node := lo; node < hi; node++ {
			from, to := s.span(node)
			for i := from; i < to; i++ {
				of[i] = int32(node)
			}
		}
	})
	return of
}

func checkNodes(n int, opt Options) error {
	if opt.Nodes == nil {
		if opt.Block < 0 {
			return sparse.Inputf("block", "%d unknowns in a node: must not be negative", opt.Block)
		}
		if opt.Block > 1 && n%opt.Block != 0 {
			return sparse.Inputf("block", "%d unknowns in a node do not divide %d rows", opt.Block, n)
		}
		return nil
	}
	if opt.Block != 0 {
		return sparse.Inputf("nodes", "Block and Nodes must not both be given")
	}
	if len(opt.Nodes) == 0 || opt.Nodes[0] != 0 || int(opt.Nodes[len(opt.Nodes)-1]) != n {
		return sparse.Inputf("nodes", "must run from 0 to the number of rows, %d", n)
	}
	for i := 1; i < len(opt.Nodes); i++ {
		if opt.Nodes[i] < opt.Nodes[i-1] {
			return sparse.Inputf("nodes", "element %d falls from %d to %d", i, opt.Nodes[i-1], opt.Nodes[i])
		}
	}
	return nil
}

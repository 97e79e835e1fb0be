package msrep

import (
	"time"

	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/kernels/cpu"
	"github.com/msrep-go/msrep/merge"
	"github.com/msrep-go/msrep/partition"
)

// multiplyOnNodes computes the partial results of all nodes.
func (r *run[V]) multiplyOnNodes() error {
	if err := r.interleaveX(); err != nil {
		return err
	}
	return r.plan.eachNode(r.multiplyOnNode)
}

// multiplyOnNode computes the partial result of one node.
func (r *run[V]) multiplyOnNode(n *nodeShare[V]) error {
	t := time.Now()
	if err := r.copyXToNode(n); err != nil {
		return err
	}
	copying := time.Since(t)
	if err := n.eachDevice(r.multiplyPart); err != nil {
		return err
	}
	t = time.Now()
	if err := r.mergeNode(n); err != nil {
		return err
	}
	merging := time.Since(t)
	for i := n.first; i < n.end; i++ {
		r.times[i].Distribute += copying
		r.times[i].Merge += merging
	}
	return nil
}

// mergeNode merges the results of the devices of a node, as far as this concerns only the node.
func (r *run[V]) mergeNode(n *nodeShare[V]) error {
	switch {
	case r.byMajor && r.writesToY():
		return r.addCarriesOnNode(n)
	case r.byMajor || n.end-n.first == 1:
		return nil
	}
	return r.sumOnNode(n)
}

// addCarriesOnNode adds the carries of the devices of the node: to y if the node owns the row, otherwise to the carry
// of the node.
func (r *run[V]) addCarriesOnNode(n *nodeShare[V]) error {
	carry, err := r.carries(n.first, n.end)
	if err != nil {
		return err
	}
	var parts []partition.Part
	var own []V
	sum := V(0)
	for i, p := range r.plan.parts[n.first:n.end] {
		switch {
		case !p.StartFlag:
		case p.StartMajor < n.part.OwnFirst:
			sum += carry[i]
		default:
			parts, own = append(parts, p), append(own, carry[i])
		}
	}
	r.nodeCarry[n.first] = sum
	return merge.Rows(r.y, parts, own)
}

// sumOnNode adds the partial vectors of the devices of the node into the first one. Each device adds one range.
func (r *run[V]) sumOnNode(n *nodeShare[V]) error {
	var hosts [][]V
	for _, s := range r.plan.shares[n.first:n.end] {
		hosts = append(hosts, s.vec[r.byMajor].host)
	}
	m := int64(len(r.y))
	return n.eachDevice(func(i int) error {
		k, of := i-n.first, n.end-n.first
		lo, hi := par.Cut(m, of, k), par.Cut(m, of, k+1)
		in := make([][]V, 0, of-1)
		for _, h := range hosts[1:] {
			in = append(in, h[lo:hi])
		}
		if w, ok := r.plan.shares[i].dev.(cpu.Workers); ok {
			return cpu.SumOn(w, hosts[0][lo:hi], 1, in)
		}
		return merge.Sum(hosts[0][lo:hi], 1, in)
	})
}

// mergeNodes merges the results of the nodes.
func (r *run[V]) mergeNodes() error {
	var parts []partition.Part
	var carry []V
	var sums [][]V
	for _, n := range r.plan.nodes {
		parts, carry = append(parts, n.part), append(carry, r.nodeCarry[n.first])
		if !r.byMajor {
			sums = append(sums, r.plan.shares[n.first].vec[r.byMajor].host)
		}
	}
	if r.byMajor {
		return merge.Rows(r.y, parts, carry)
	}
	return merge.Sum(r.y, r.beta, sums)
}

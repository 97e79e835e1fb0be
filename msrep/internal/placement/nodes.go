package placement

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/internal/rescue"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/numa"
)

// Group is the devices [First, End) of a System, which are on one node (kernels.Info.NUMANode).
type Group struct{ Node, First, End int }

// Cut returns the range of [0, n) for device i, one of equal ranges for the devices of the group.
func (g Group) Cut(n int64, i int) (lo, hi int64) {
	of := g.End - g.First
	return par.Cut(n, of, i-g.First), par.Cut(n, of, i-g.First+1)
}

// GroupOf returns the index of the group of device i.
func GroupOf(groups []Group, i int) int {
	return slices.IndexFunc(groups, func(g Group) bool { return i < g.End })
}

// Groups returns the groups of devices that follow each other on one node.
func Groups(devices []kernels.Device) (groups []Group) {
	for i, d := range devices {
		node := d.Info().NUMANode
		if n := len(groups); n > 0 && groups[n-1].Node == node {
			groups[n-1].End++
		} else {
			groups = append(groups, Group{node, i, i + 1})
		}
	}
	return groups
}

// Nodes describes the nodes among which plans split their matrices. The zero value has no nodes.
type Nodes struct {
	Groups  []Group
	memory  []int64 // bytes of each node; 0 if unknown
	Farness float64 // relative cost of memory on other nodes; see numa.Topology.Farness
}

// Place returns the nodes of devices that are sorted by node.
func Place(topo *numa.Topology, devices []kernels.Device) Nodes {
	n := Nodes{Groups: Groups(devices)}
	var ids []int
	for _, g := range n.Groups {
		ids = append(ids, g.Node)
		n.memory = append(n.memory, devices[g.First].Info().Memory)
	}
	n.Farness = topo.Farness(ids)
	return n
}

// Weights returns the number of devices of each node.
func (n Nodes) Weights() (out []int) {
	for _, g := range n.Groups {
		out = append(out, g.End-g.First)
	}
	return out
}

// Lacks returns "" if a copy of a matrix of the given size takes at most half of the memory of every node, with an equal
// part for each device; otherwise it says which node lacks memory.
func (n Nodes) Lacks(bytes int64) string {
	if len(n.Groups) == 0 {
		return ""
	}
	each := float64(bytes) / float64(n.Groups[len(n.Groups)-1].End)
	for i, g := range n.Groups {
		if need := each * float64(g.End-g.First); n.memory[i] > 0 && need > float64(n.memory[i])/2 {
			return fmt.Sprintf("a copy of the matrix takes %.0f of the %d bytes of node %d, more than half: the matrix is used in place", need, n.memory[i], g.Node)
		}
	}
	return ""
}

// OnNode runs f on a thread of d, and so on the node of d: a worker of a CPU device, or the thread that manages a GPU.
// f must not use the device.
func OnNode(d kernels.Device, f func() error) (err error) {
	guarded := func() {
		defer rescue.To(&err)
		err = f()
	}
	switch d := d.(type) {
	case kernels.Workers:
		err = errors.Join(d.Run(1, func(int) { guarded() }), err)
	case kernels.Threaded:
		err = errors.Join(d.OnThread(guarded), err)
	default:
		guarded()
	}
	return err
}

// warned limits warnings to one for each process.
var warned sync.Once

// Refusal stores the first reason why placement is off or incomplete.
type Refusal struct {
	Warn func(string) // may be nil

	mu    sync.Mutex
	first string
}

// Report stores reason if it is the first, and passes the first of the process to Warn.
func (r *Refusal) Report(reason string) {
	r.mu.Lock()
	if r.first == "" {
		r.first = reason
	}
	r.mu.Unlock()
	if r.Warn != nil {
		warned.Do(func() {
			defer func() { _ = recover() }() // a panic of Warn must not interrupt Open
			r.Warn("NUMA: " + reason + "; results are right, but memory or threads may be far from each other")
		})
	}
}

// First returns the first reason, "" if there is none.
func (r *Refusal) First() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.first
}

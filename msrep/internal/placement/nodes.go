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
	memory  []int64 // bytes of each node, or of its GPUs; 0 if unknown
	weights []int   // of the devices; see Weights
	Farness float64 // relative cost of memory on other nodes; see numa.Topology.Farness
}

// Place returns the nodes of devices that are sorted by node.
func Place(topo *numa.Topology, devices []kernels.Device) Nodes {
	n := Nodes{Groups: Groups(devices), weights: Weights(devices)}
	var ids []int
	for _, g := range n.Groups {
		ids = append(ids, g.Node)
		n.memory = append(n.memory, memoryOf(devices[g.First:g.End]))
	}
	n.Farness = topo.Farness(ids)
	return n
}

// memoryOf returns the memory of the devices of a node. CPU devices share the memory of the node, GPUs have their own.
func memoryOf(devices []kernels.Device) (bytes int64) {
	on := sharing(devices)
	for i, d := range devices {
		if d.Info().Kind == "cpu" {
			return d.Info().Memory
		}
		bytes += d.Info().Memory / int64(on[i])
	}
	return bytes
}

// NodeWeights returns the sums of weights, one for each device, over the devices of each node. With nil, each weighs 1.
func (n Nodes) NodeWeights(weights []int) (out []int) {
	for _, g := range n.Groups {
		sum := g.End - g.First
		if weights != nil {
			sum = 0
			for _, w := range weights[g.First:g.End] {
				sum += w
			}
		}
		out = append(out, sum)
	}
	return out
}

// Lacks returns "" if a copy of a matrix of the given size takes at most half of the memory of every node, split by the
// weights of the devices; otherwise it says which node lacks memory.
func (n Nodes) Lacks(bytes int64) string {
	weights := n.NodeWeights(n.weights)
	all := 0
	for _, w := range weights {
		all += w
	}
	for i, g := range n.Groups {
		if need := float64(bytes) * float64(weights[i]) / float64(all); n.memory[i] > 0 && need > float64(n.memory[i])/2 {
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
			r.Tell("NUMA: " + reason + "; results are right, but memory or threads may be far from each other")
		})
	}
}

// Tell passes a note to Warn.
func (r *Refusal) Tell(note string) {
	defer func() { _ = recover() }() // a panic of Warn must not interrupt Open
	if r.Warn != nil {
		r.Warn(note)
	}
}

// First returns the first reason, "" if there is none.
func (r *Refusal) First() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.first
}

package msrep

import (
	"sync"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/numa"
)

// Placement is how a System places its devices, and the memory that they hold.
type Placement struct {
	On      bool   // threads and memory belong to nodes
	Refused string // the first thing that the system did not do, "" if it did all
	Nodes   []NodeMemory
}

// NodeMemory is the devices of one NUMA node.
type NodeMemory struct {
	Node    int   // -1 for devices of no node in particular
	Devices []int // indices in System.Devices
	Bytes   int64 // that they hold now: buffers, results of their workers, pinned memory of GPUs
}

// Placement tells where the devices are and how much memory they hold for all
// plans, by node.
func (s *System) Placement() Placement {
	p := Placement{On: len(s.nodes) > 0, Refused: s.refusal.text()}
	for _, g := range groupByNode(s.devices) {
		m := NodeMemory{Node: g.node}
		for i := g.first; i < g.end; i++ {
			m.Devices = append(m.Devices, i)
			m.Bytes += s.devices[i].InUse()
			if d, ok := s.devices[i].(interface{ Scratch() int64 }); ok {
				m.Bytes += d.Scratch()
			}
			if d, ok := s.devices[i].(interface {
				Staging() (int64, numa.PageCount)
			}); ok {
				pinned, _ := d.Staging()
				m.Bytes += pinned
			}
		}
		p.Nodes = append(p.Nodes, m)
	}
	return p
}

// nodeGroup is the devices [first, end) of a System, which are on one node.
// Devices of any kind make groups; their own Info says the node.
type nodeGroup struct{ node, first, end int }

// place makes plans split and place their matrices by the nodes of the devices.
func (s *System) place(topo *numa.Topology) {
	s.nodes = groupByNode(s.devices)
	var ids []int
	for _, g := range s.nodes {
		ids = append(ids, g.node)
	}
	s.farness = topo.Farness(ids)
}

func groupByNode(devices []kernels.Device) (groups []nodeGroup) {
	for i, d := range devices {
		node := d.Info().NUMANode
		if n := len(groups); n > 0 && groups[n-1].node == node {
			groups[n-1].end++
		} else {
			groups = append(groups, nodeGroup{node, i, i + 1})
		}
	}
	return groups
}

// warned is used up by the first warning of the process.
var warned sync.Once

// refusal keeps the first thing that the system did not do.
type refusal struct {
	warn func(string) // may be nil

	mu    sync.Mutex
	first string
}

func (r *refusal) report(reason string) {
	r.mu.Lock()
	if r.first == "" {
		r.first = reason
	}
	r.mu.Unlock()
	if r.warn != nil {
		warned.Do(func() {
			defer func() { _ = recover() }() // else what is being opened would stay open
			r.warn("NUMA: " + reason + "; results are right, but memory or threads may be far from each other")
		})
	}
}

func (r *refusal) text() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.first
}

package msrep

import (
	"sync"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/numa"
)

// Placement describes how a System places its devices, and the memory that they hold.
type Placement struct {
	On      bool   // threads and memory belong to nodes
	Refused string // the first reason why placement is off or incomplete although requested, "" if none
	Nodes   []NodeMemory
}

// NodeMemory describes the devices of one NUMA node and their memory.
type NodeMemory struct {
	Node    int   // -1 for devices that belong to no node
	Devices []int // indices in System.Devices
	Bytes   int64 // held now: buffers, results of workers, pinned memory of GPUs
}

// Placement returns, for each node, its devices and the memory that they hold for all plans.
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

// nodeGroup is the range [first, end) of the devices of a System that are on one node (kernels.Info.NUMANode).
type nodeGroup struct{ node, first, end int }

// place turns placement on: from now on, plans split and place their matrices by the nodes of the devices.
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

// warned limits warnings to one for each process.
var warned sync.Once

// refusal stores the first reason why placement is off or incomplete.
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
			defer func() { _ = recover() }() // a panic of warn must not interrupt Open
			r.warn("NUMA: " + reason + "; results are right, but memory or threads may be far from each other")
		})
	}
}

func (r *refusal) text() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.first
}

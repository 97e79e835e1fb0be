package msrep

import (
	"cmp"
	"errors"
	"runtime"
	"slices"

	"github.com/msrep-go/msrep/internal/devvec"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/nvidia"
	"github.com/msrep-go/msrep/msrep/internal/placement"
	"github.com/msrep-go/msrep/numa"
	"github.com/msrep-go/msrep/sparse"
)

// MaxThreads is the largest Config.Threads.
const MaxThreads = 4096

// System is a set of open devices of one kind. Its methods may be called from any goroutine. Several Systems may be
// open at the same time, also with the same GPUs; they then compete for the machine.
type System struct {
	held                    // the devices, and the plans and vectors that are open on them
	nodes   placement.Nodes // none without placement
	refusal placement.Refusal
	trace   func(Event) error // nil for none
	notes   []string          // see Placement.Notes
	weights []int             // see Placement.Weights
}

// held lets other packages of this module find the devices of a System; see devvec.Device.
type held = devvec.Held

// newSystem returns a System of these devices.
func newSystem(devices ...kernels.Device) *System {
	s := &System{}
	s.devices().Open(devices)
	return s
}

// devices returns the devices of s, which is not nil.
func (s *System) devices() *devvec.Devices { return devvec.Of(&s.held) }

// Open opens the devices that c selects. Errors in c give a *sparse.InputError.
func Open(c Config) (*System, error) {
	topo, err := numa.Discover("/")
	if err != nil { // the topology is optional
		topo = &numa.Topology{}
	}
	return openOn(topo, c)
}

// openOn is Open on a machine with the topology topo.
func openOn(topo *numa.Topology, c Config) (*System, error) {
	if c.Threads < 0 || c.Threads > MaxThreads {
		return nil, sparse.Inputf("threads", "%d: use 1 to %d, or 0 for all", c.Threads, MaxThreads)
	}
	switch c.NUMA {
	case "", NUMAAuto, NUMAOn, NUMAOff:
	default:
		return nil, sparse.Inputf("numa", "%q is not known: use %s, %s or %s", string(c.NUMA), NUMAAuto, NUMAOn, NUMAOff)
	}
	if c.Run != nil {
		if c.NUMA == NUMAOn {
			return nil, sparse.Inputf("numa", "%q places workers: it cannot be used with Run", string(c.NUMA))
		}
		c.NUMA = NUMAOff
	}
	c.Threads = cmp.Or(c.Threads, runtime.GOMAXPROCS(0))
	s := newSystem()
	s.refusal.Warn = c.Warn
	if s.trace = listener(c.Trace); s.trace != nil {
		s.devices().Traced = s.traced
	}
	r := placement.Request{Devices: c.Devices, Threads: c.Threads, NUMA: string(c.NUMA), Yield: c.Yield, Run: c.Run, Refused: s.refusal.Report,
		Notes: func(note string) { s.notes = append(s.notes, note) }}
	devices, placed, err := r.Open(topo)
	s.devices().List = devices
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.weights = placement.Weights(devices)
	if placed {
		s.place(topo)
	}
	for _, note := range s.notes {
		s.refusal.Tell(note)
	}
	return s, nil
}

// place makes plans split and place their matrices by the nodes of the devices.
func (s *System) place(topo *numa.Topology) { s.nodes = placement.Place(topo, s.devices().List) }

// Devices returns a description of each device, in the order of the parts of a plan.
func (s *System) Devices() []DeviceInfo {
	list := s.devices().List
	out := make([]kernels.Info, len(list))
	for i, d := range list {
		out[i] = d.Info()
	}
	return out
}

// Peers returns how data goes between each ordered pair of GPUs: by which link, whether copies are direct, and if not, why.
// Open has checked each pair by copying. It returns nil if the devices are not GPUs, or only one.
func (s *System) Peers() []PeerLink { return nvidia.Links(s.devices().List) }

// Close closes the plans and vectors that are still open, then the devices. It may be called again.
func (s *System) Close() error {
	if s == nil {
		return nil
	}
	return s.devices().Close()
}

// Placement describes how a System places its devices, and the memory that they hold.
type Placement struct {
	On      bool   // threads and memory belong to nodes
	Refused string // the first reason why placement is off or incomplete although requested, "" if none
	Nodes   []NodeMemory
	// Weights has a number for each device: its part of a matrix is in proportion to that, unless memory bounds it.
	// Devices whose memory is faster get more. It is nil for equal parts.
	Weights []int
	Notes   []string // GPUs that Config.Devices selects without naming them and that cannot be used
}

// NodeMemory describes the devices of one NUMA node and their memory.
type NodeMemory struct {
	Node    int   // -1 for devices that belong to no node
	Devices []int // indices in System.Devices
	Bytes   int64 // held now: buffers, results of workers, pinned memory of GPUs
}

// Placement returns, for each node, its devices and the memory that they hold for all plans.
func (s *System) Placement() Placement {
	p := Placement{On: len(s.nodes.Groups) > 0, Refused: s.refusal.First(), Weights: slices.Clone(s.weights), Notes: slices.Clone(s.notes)}
	devices := s.devices().List
	for _, g := range placement.Groups(devices) {
		m := NodeMemory{Node: g.Node}
		for i := g.First; i < g.End; i++ {
			m.Devices = append(m.Devices, i)
			m.Bytes += devices[i].InUse()
			if d, ok := devices[i].(kernels.Scratcher); ok {
				m.Bytes += d.Scratch()
			}
			if d, ok := devices[i].(kernels.Stager); ok {
				pinned, _ := d.Staging()
				m.Bytes += pinned
			}
		}
		p.Nodes = append(p.Nodes, m)
	}
	return p
}

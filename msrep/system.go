package msrep

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu"
	"github.com/msrep-go/msrep/kernels/nvidia"
	"github.com/msrep-go/msrep/numa"
	"github.com/msrep-go/msrep/sparse"
)

// MaxThreads is the largest Config.Threads.
const MaxThreads = 4096

// System is a set of open devices of one kind. Its methods may be called from any goroutine. Several Systems may be
// open at the same time, also with the same GPUs; they then compete for the machine.
type System struct {
	devices []kernels.Device
	nodes   []nodeGroup // groups of devices, in order; none without placement
	farness float64     // relative cost of memory on other nodes; see numa.Topology.Farness
	refusal refusal
	trace   func(Event) error // nil for none

	mu      sync.Mutex
	closers map[io.Closer]bool // open plans, vectors and selections; nil after Close
	streams *vectorStreams     // for vectors; nil before the first one
}

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
	c.Threads = cmp.Or(c.Threads, runtime.GOMAXPROCS(0))
	s := &System{closers: map[io.Closer]bool{}, refusal: refusal{warn: c.Warn}, trace: listener(c.Trace)}
	if err := s.open(topo, c); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// open opens the devices that c selects. After an error some devices may be open.
func (s *System) open(topo *numa.Topology, c Config) error {
	if kind, _, _ := strings.Cut(c.Devices, ":"); kind == "sim" {
		return s.openSimulated(c.Devices)
	}
	gpus, some, err := gpusFor(c.Devices, nvidia.Query)
	if err != nil {
		return err
	}
	if some {
		return s.openGPUs(topo, gpus, c.NUMA)
	}
	return s.openCPUs(topo, c)
}

// openCPUs opens the CPU devices that c selects.
func (s *System) openCPUs(topo *numa.Topology, c Config) error {
	places, placed, note, err := c.places(topo)
	if err != nil {
		return err
	}
	if note != "" {
		s.refusal.report(note)
	}
	for i, p := range places {
		if err := s.addDevice(cpu.Open(cpu.Config{Index: i, Threads: p.threads, NUMANode: p.node, Memory: p.memory,
			CPUs: p.cpus, OnRefused: s.onRefused})); err != nil {
			return err
		}
	}
	if placed {
		s.place(topo)
	}
	return nil
}

// addDevice adds d to the devices, or returns err if it is not nil.
func (s *System) addDevice(d kernels.Device, err error) error {
	if err == nil {
		s.devices = append(s.devices, d)
	}
	return err
}

// onRefused records a placement request that the operating system refused.
func (s *System) onRefused(err error) { s.refusal.report(err.Error()) }

// Devices returns a description of each device, in the order of the parts of a plan.
func (s *System) Devices() []DeviceInfo {
	out := make([]kernels.Info, len(s.devices))
	for i, d := range s.devices {
		out[i] = d.Info()
	}
	return out
}

// Close closes the plans and vectors that are still open, then the devices. It may be called again.
func (s *System) Close() error {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	plans := s.closers
	s.closers = nil
	s.mu.Unlock()
	if plans == nil {
		return nil
	}
	var errs []error
	for p := range plans {
		errs = append(errs, p.Close())
	}
	for _, d := range s.devices {
		errs = append(errs, d.Close())
	}
	return errors.Join(errs...)
}

// register adds an open plan, vector or selection, which Close will close.
func (s *System) register(p io.Closer) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closers == nil {
		return fmt.Errorf("system: %w", ErrClosed)
	}
	s.closers[p] = true
	return nil
}

// unregister removes what register added.
func (s *System) unregister(p io.Closer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.closers, p)
}

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

// MaxThreads bounds Config.Threads.
const MaxThreads = 4096

// System is a set of open devices of one kind. Its methods may be called from any goroutine. Several
// may be open at once, also with the same GPUs; what they do then shares the machine.
type System struct {
	devices []kernels.Device
	nodes   []nodeGroup // of the devices, in order; none without placement
	farness float64     // how much farther the memory of other nodes is; see numa.Topology.Farness
	refusal refusal
	trace   func(Event) error // nil for none

	mu      sync.Mutex
	plans   map[io.Closer]bool // and vectors; nil once closed
	streams *vectorStreams     // of vectors; nil before the first
}

// Open opens the devices that c asks for. Errors about c are *sparse.InputError.
func Open(c Config) (*System, error) {
	topo, err := numa.Discover("/")
	if err != nil { // a machine that hides its topology still multiplies
		topo = &numa.Topology{}
	}
	return openOn(topo, c)
}

// openOn opens devices on a machine of this topology.
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
	s := &System{plans: map[io.Closer]bool{}, refusal: refusal{warn: c.Warn}, trace: listener(c.Trace)}
	if err := s.open(topo, c); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// open opens the devices that c asks for. Where it fails some may be open.
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

// openCPUs opens CPU devices.
func (s *System) openCPUs(topo *numa.Topology, c Config) error {
	places, placed, note, err := c.places(topo)
	if err != nil {
		return err
	}
	if note != "" {
		s.refusal.report(note)
	}
	for i, p := range places {
		if err := s.take(cpu.Open(cpu.Config{Index: i, Threads: p.threads, NUMANode: p.node, Memory: p.memory,
			CPUs: p.cpus, OnRefused: s.refused})); err != nil {
			return err
		}
	}
	if placed {
		s.place(topo)
	}
	return nil
}

// take takes a device that was opened; else it gives the error.
func (s *System) take(d kernels.Device, err error) error {
	if err == nil {
		s.devices = append(s.devices, d)
	}
	return err
}

// refused hears of what the system did not do to place a device.
func (s *System) refused(err error) { s.refusal.report(err.Error()) }

// Devices describes the devices, in the order of the parts of a plan.
func (s *System) Devices() []DeviceInfo {
	out := make([]kernels.Info, len(s.devices))
	for i, d := range s.devices {
		out[i] = d.Info()
	}
	return out
}

// Close closes the plans and vectors that are still open, then the devices. It may be called
// again.
func (s *System) Close() error {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	plans := s.plans
	s.plans = nil
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

// enter notes an open plan.
func (s *System) enter(p io.Closer) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.plans == nil {
		return fmt.Errorf("system: %w", ErrClosed)
	}
	s.plans[p] = true
	return nil
}

// leave forgets a plan.
func (s *System) leave(p io.Closer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.plans, p)
}

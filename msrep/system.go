package msrep

import (
	"errors"
	"io"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu"
	"github.com/msrep-go/msrep/numa"
	"github.com/msrep-go/msrep/sparse"
)

// maxDevices bounds N in cpu:N.
const maxDevices = 1024

// System is a set of open devices. Its methods may be called from any goroutine.
type System struct {
	devices []kernels.Device

	mu    sync.Mutex
	plans map[io.Closer]bool // nil once closed
}

// Open opens the devices that c asks for. Errors about c are *sparse.InputError;
// kinds of devices that this version lacks wrap ErrNotYet.
func Open(c Config) (*System, error) {
	places, err := c.places()
	if err != nil {
		return nil, err
	}
	threads := c.Threads
	if threads < 0 {
		return nil, sparse.Inputf("threads", "%d: use 1 or more, or 0 for all", threads)
	}
	if threads == 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	s := &System{plans: map[io.Closer]bool{}}
	for i, p := range places {
		n := par.Cut(int64(threads), len(places), i+1) - par.Cut(int64(threads), len(places), i)
		d, err := cpu.Open(cpu.Config{Index: i, Threads: int(max(n, 1)), NUMANode: p.node, Memory: p.memory})
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
		s.devices = append(s.devices, d)
	}
	return s, nil
}

// place is where a CPU device goes.
type place struct {
	node   int   // NUMA node, -1 for none in particular
	memory int64 // of the whole machine, 0 when unknown
}

// places resolves the Devices string.
func (c Config) places() ([]place, error) {
	kind, arg, hasArg := strings.Cut(c.Devices, ":")
	switch kind {
	case "", "auto", "cpu":
	case "cuda":
		return nil, &sparse.InputError{File: "devices", Msg: c.Devices + ": GPUs are", Err: ErrNotYet}
	case "sim":
		return nil, &sparse.InputError{File: "devices", Msg: c.Devices + ": simulated GPUs are", Err: ErrNotYet}
	default:
		return nil, sparse.Inputf("devices", "%q is not known: use auto, cpu or cpu:N", c.Devices)
	}
	if hasArg && kind != "cpu" {
		return nil, sparse.Inputf("devices", "%q: %s takes no number", c.Devices, kind)
	}
	topo, err := numa.Discover("/")
	if err != nil { // a machine that hides its topology still multiplies
		topo = &numa.Topology{}
	}
	var memory int64
	for _, n := range topo.Nodes {
		memory += n.MemBytes
	}
	if hasArg {
		n, err := strconv.Atoi(arg)
		if err != nil || n < 1 || n > maxDevices {
			return nil, sparse.Inputf("devices", "%q: the number of CPU devices must be 1 to %d", c.Devices, maxDevices)
		}
		return slices.Repeat([]place{{-1, memory}}, n), nil
	}
	var out []place
	for _, g := range topo.CoreGroups() {
		out = append(out, place{g.Node, memory})
	}
	if len(out) == 0 {
		out = []place{{-1, memory}}
	}
	return out, nil
}

// Devices describes the devices, in the order of the parts of a plan.
func (s *System) Devices() []kernels.Info {
	out := make([]kernels.Info, len(s.devices))
	for i, d := range s.devices {
		out[i] = d.Info()
	}
	return out
}

// Close closes the plans that are still open, then the devices. It may be called
// again.
func (s *System) Close() error {
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
		return ErrClosed
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

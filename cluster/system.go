package cluster

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"runtime"

	"github.com/msrep-go/msrep/msrep"
)

// System holds the devices of one rank and its connection to the other ranks.
type System struct {
	comm  Comm
	local *msrep.System
	hosts []string
}

// Open opens the devices of this rank. All ranks call it. If c.Threads is 0, ranks on one host with the same CPUs
// divide these among themselves. If c.Devices is "auto" or "cuda", ranks on one host that see the same GPUs divide
// those: each takes GPUs on the NUMA nodes that it may run on first, and with more ranks than GPUs several share one.
func Open(comm Comm, c msrep.Config) (*System, error) {
	if comm == nil {
		return nil, errNoComm
	}
	s := &System{comm: comm}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	own := place{host, usableCPUs(), visibleGPUs(c.Devices)}
	all, err := places(comm, own)
	if err != nil {
		return nil, err
	}
	neighbours := 0
	for _, p := range all {
		s.hosts = append(s.hosts, p.Host)
		if p.Host == own.Host && p.CPUs == own.CPUs {
			neighbours++
		}
	}
	c.Threads = cmp.Or(c.Threads, max(runtime.GOMAXPROCS(0)/neighbours, 1))
	if gpus := shareOfGPUs(all, comm.Rank()); len(gpus) > 0 {
		c.Devices = devicesOf(gpus)
	}
	s.local, err = msrep.Open(c)
	if err := Agree(comm, host, err); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Comm returns the connection between the ranks.
func (s *System) Comm() Comm { return s.comm }

// Local returns the devices of this rank.
func (s *System) Local() *msrep.System { return s.local }

// Agree is the function Agree with the name of this host.
func (s *System) Agree(err error) error {
	if s.none() {
		return errors.Join(err, errNoSystem)
	}
	return Agree(s.comm, s.hosts[s.comm.Rank()], err)
}

// none reports whether s was not made by Open.
func (s *System) none() bool { return s == nil || s.comm == nil }

// Name returns the name of a rank, 0 to Size-1, in messages.
func (s *System) Name(rank int) string { return fmt.Sprintf("rank %d on %s", rank, s.hosts[rank]) }

// Close closes the devices of this rank.
func (s *System) Close() error {
	if s == nil || s.local == nil {
		return nil
	}
	return s.local.Close()
}

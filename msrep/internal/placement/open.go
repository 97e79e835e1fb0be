// Package placement opens the devices that a Config names, chooses the NUMA node and the CPUs of each, and decides where
// placed products read x.
package placement

import (
	"strconv"
	"strings"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu"
	"github.com/msrep-go/msrep/kernels/nvidia"
	"github.com/msrep-go/msrep/kernels/sim"
	"github.com/msrep-go/msrep/numa"
	"github.com/msrep-go/msrep/sparse"
)

// The values of Request.NUMA; "" means Auto.
const (
	Auto = "auto"
	On   = "on"
	Off  = "off"
)

// Request names the devices to open, as msrep.Config does.
type Request struct {
	Devices string
	Threads int
	NUMA    string
	Yield   bool                       // workers of CPU devices sleep at once
	Run     func(n int, f func(i int)) // unless nil, runs the jobs of CPU devices
	Refused func(reason string)        // called if placement has less effect than requested
	Notes   func(note string)          // unless nil, called for each GPU that is left out
}

// note reports GPUs that are left out.
func (r Request) note(leftOut []string) {
	for _, why := range leftOut {
		if r.Notes != nil {
			r.Notes("a GPU is left out: " + why)
		}
	}
}

// Open opens the devices on a machine with the topology topo. placed reports whether plans split their matrices by node:
// the devices are then sorted by node. After an error, Open returns the devices that are open.
func (r Request) Open(topo *numa.Topology) (devices []kernels.Device, placed bool, err error) {
	add := func(d kernels.Device, err error) error {
		if err == nil {
			devices = append(devices, d)
		}
		return err
	}
	refused := func(err error) { r.Refused(err.Error()) }
	if kind, _, _ := strings.Cut(r.Devices, ":"); kind == "sim" {
		n, err := simulated(r.Devices)
		for i := 0; i < n && err == nil; i++ {
			err = add(sim.Open(sim.Config{Index: i}))
		}
		return devices, false, err
	}
	gpus, err := gpusFor(r.Devices, nvidia.Query)
	if err != nil {
		return nil, false, err
	}
	if len(gpus.list) > 0 {
		configs := gpuConfigs(topo, gpus.list, r.NUMA)
		for i := range configs {
			configs[i].OnRefused, configs[i].OwnContext = refused, ownContexts(r.Devices)
		}
		if !gpus.named {
			orderByLinks(configs, nvidia.Between)
		}
		var leftOut []string
		devices, leftOut, err = openGPUs(configs, gpus.named, nvidia.Open)
		gpus.leftOut = append(gpus.leftOut, leftOut...)
		switch {
		case err == nil:
			measure(gpus.list, devices)
			r.note(gpus.leftOut)
			_, err := nvidia.Connect(devices)
			return devices, severalNodes(devices), err
		case gpus.must || len(devices) > 0:
			return devices, false, err
		}
		gpus.leftOut = append(gpus.leftOut, err.Error())
	}
	r.note(gpus.leftOut)
	cpus, placed, note, err := r.CPUs(topo)
	if err != nil {
		return nil, false, err
	}
	if note != "" {
		r.Refused(note)
	}
	for i, p := range cpus {
		c := cpu.Config{Index: i, Threads: p.Threads, NUMANode: p.Node, Memory: p.Memory, CPUs: p.CPUs, Yield: r.Yield, Run: r.Run, OnRefused: refused}
		if err := add(cpu.Open(c)); err != nil {
			return devices, false, err
		}
	}
	return devices, placed, nil
}

// maxSimulated is the largest N in sim:N.
const maxSimulated = 64

// simulatedMachines maps the machines of the MSREP paper to their number of GPUs. Only the number is simulated here;
// msrep bench models the times of these machines.
var simulatedMachines = map[string]int{"dgx1": 8, "summit": 6}

// simulated returns the number of simulated GPUs of spec, "sim:N". They run the PTX kernels of real GPUs in an
// interpreter, which checks memory accesses and is slow.
func simulated(spec string) (int, error) {
	_, arg, _ := strings.Cut(spec, ":")
	if n, ok := simulatedMachines[arg]; ok {
		arg = strconv.Itoa(n)
	}
	n, err := strconv.Atoi(arg)
	if err != nil || n < 1 || n > maxSimulated {
		return 0, sparse.Inputf("devices", "%q: use 1 to %d simulated GPUs, or sim:dgx1 (8) or sim:summit (6)", spec, maxSimulated)
	}
	return n, nil
}

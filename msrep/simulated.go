package msrep

import (
	"strconv"
	"strings"

	"github.com/msrep-go/msrep/kernels/sim"
	"github.com/msrep-go/msrep/sparse"
)

// maxSimulated is the largest N in sim:N.
const maxSimulated = 64

// simulatedMachines maps the machines of the MSREP paper to their number of GPUs. Only the number is simulated here;
// msrep bench models the times of these machines.
var simulatedMachines = map[string]int{"dgx1": 8, "summit": 6}

// openSimulated opens the simulated GPUs of spec, "sim:N". They run the PTX kernels of real GPUs in an interpreter,
// which checks memory accesses and is slow.
func (s *System) openSimulated(spec string) error {
	_, arg, _ := strings.Cut(spec, ":")
	if n, ok := simulatedMachines[arg]; ok {
		arg = strconv.Itoa(n)
	}
	n, err := strconv.Atoi(arg)
	if err != nil || n < 1 || n > maxSimulated {
		return sparse.Inputf("devices", "%q: use 1 to %d simulated GPUs, or sim:dgx1 (8) or sim:summit (6)", spec, maxSimulated)
	}
	for i := range n {
		if err := s.addDevice(sim.Open(sim.Config{Index: i})); err != nil {
			return err
		}
	}
	return nil
}

package msrep

import (
	"strconv"
	"strings"

	"github.com/msrep-go/msrep/kernels/sim"
	"github.com/msrep-go/msrep/sparse"
)

// maxSimulated bounds N in sim:N.
const maxSimulated = 64

// machines is the numbers of GPUs of the paper's machines. msrep bench models their
// times; here they are only as many simulated GPUs.
var machines = map[string]int{"dgx1": 8, "summit": 6}

// openSimulated opens the simulated GPUs that spec, "sim:N", asks for. They run the
// kernels of real GPUs, on an interpreter: right, checked, and slow.
func (s *System) openSimulated(spec string) error {
	_, arg, _ := strings.Cut(spec, ":")
	if n, ok := machines[arg]; ok {
		arg = strconv.Itoa(n)
	}
	n, err := strconv.Atoi(arg)
	if err != nil || n < 1 || n > maxSimulated {
		return sparse.Inputf("devices", "%q: use 1 to %d simulated GPUs, or sim:dgx1 (8) or sim:summit (6)", spec, maxSimulated)
	}
	for i := range n {
		if err := s.take(sim.Open(sim.Config{Index: i})); err != nil {
			return err
		}
	}
	return nil
}

//go:build mpi

package mpi

// #include "shim.h"
import "C"

import (
	"fmt"
	"os"

	"github.com/msrep-go/msrep/cluster"
	"github.com/msrep-go/msrep/sparse"
)

// deviceVariable names the environment variable that sets whether messages use the memory of devices: "on", "off", or
// "auto", which asks the library.
const deviceVariable = "MSREP_MPI_DEVICE"

var _ cluster.DeviceComm = (*Comm)(nil)

// TakesMemoryOf reports whether the library accepts memory of GPUs and MSREP_MPI_DEVICE allows it.
func (c *Comm) TakesMemoryOf(kind string) bool { return kind == "cuda" && c.onDevice }

// askDevices reports whether the library accepts memory of GPUs. MPI must be started.
func askDevices() (bool, error) {
	switch v := os.Getenv(deviceVariable); v {
	case "on":
		return true, nil
	case "off":
		return false, nil
	case "", "auto":
	default:
		return false, &sparse.InputError{Msg: fmt.Sprintf("%s: %q: use auto, on or off", deviceVariable, v)}
	}
	for _, name := range []string{"MV2_USE_CUDA", "MPICH_GPU_SUPPORT_ENABLED"} { // MVAPICH2, and MPICH by HPE
		if os.Getenv(name) == "1" {
			return true, nil
		}
	}
	return C.msrep_takes_cuda() != 0, nil
}

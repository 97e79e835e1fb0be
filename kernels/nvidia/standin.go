//go:build cuda && standin

package nvidia

import "github.com/msrep-go/msrep/kernels/nvidia/nvidiatest"

// With the tag standin a whole program runs its kernels on the interpreter, when
// MSREP_LIBCUDA is the stand-in for the driver: to try scripts without a GPU. Its tests
// run as on a GPU.
func init() { nvidiatest.Hide() }

//go:build cuda && standin

package nvidia

import "github.com/msrep-go/msrep/internal/nvidiatest"

// With the tag standin, a whole program runs its kernels on the interpreter if
// MSREP_LIBCUDA is the stand-in for the driver. This tests scripts without a GPU. Tests
// with the tag run as on a GPU.
func init() { nvidiatest.Hide() }

//go:build cuda

package nvidiatest

// #include <string.h>
// #include "control.h"
import "C"

import (
	"fmt"
	"os"
	"sync"
	"unsafe"

	"github.com/msrep-go/msrep/kernels/sim"
)

//export nvidiatestParams
func nvidiatestParams(kernel *C.char) C.int {
	return C.int(sim.KernelParams(C.GoString(kernel)))
}

// launched holds the names of the launched kernels.
var launched sync.Map

// Launched returns the names of all kernels that this process has launched.
func Launched() (names []string) {
	launched.Range(func(name, _ any) bool {
		names = append(names, name.(string))
		return true
	})
	return names
}

// launchFailed is CUDA_ERROR_LAUNCH_FAILED.
const launchFailed = 719

//export nvidiatestLaunch
func nvidiatestLaunch(kernel, text *C.char, grid, block, shared C.uint, params *C.uint64_t, count C.int) C.int {
	args := unsafe.Slice((*uint64)(unsafe.Pointer(params)), int(count))
	launched.Store(C.GoString(kernel), true)
	if C.GoString(kernel) == os.Getenv("MSREP_STANDIN_FAULT") {
		return launchFailed
	}
	ptx := unsafe.String((*byte)(unsafe.Pointer(text)), int(C.strlen(text)))
	if err := sim.RunKernel(C.GoString(kernel), ptx, int(grid), int(block), int64(shared), args, allocation); err != nil {
		fmt.Fprintln(os.Stderr, "stand-in for the driver:", err)
		return launchFailed
	}
	return 0
}

// allocation returns the allocation that contains an address, nil if there is none or the
// running kernel may not access it.
func allocation(addr uint64) (base uint64, bytes []byte) {
	if addr == 0 {
		return 0, nil
	}
	var at, n C.uint64_t
	p := C.nvidiatest_range(C.uint64_t(addr), &at, &n)
	if p == nil {
		return 0, nil
	}
	return uint64(at), unsafe.Slice((*byte)(p), int(n))
}

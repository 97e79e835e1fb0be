//go:build cuda

package nvidiatest

// #include <string.h>
// #include "control.h"
import "C"

import (
	"fmt"
	"math"
	"os"
	"strings"
	"sync"
	"unsafe"

	"github.com/msrep-go/msrep/kernels/internal/cuda"
	"github.com/msrep-go/msrep/kernels/internal/ptx"
)

//export nvidiatestParams
func nvidiatestParams(kernel *C.char) C.int {
	k, err := cuda.Lookup(C.GoString(kernel))
	if err != nil {
		return 0
	}
	return C.int(len(k.Params))
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
func nvidiatestLaunch(kernel, text *C.char, grid, block C.uint, params *C.uint64_t, count C.int) C.int {
	args := unsafe.Slice((*uint64)(unsafe.Pointer(params)), int(count))
	launched.Store(C.GoString(kernel), true)
	if C.GoString(kernel) == os.Getenv("MSREP_STANDIN_FAULT") {
		return launchFailed
	}
	if err := launch(C.GoString(kernel), text, int(grid), int(block), args); err != nil {
		fmt.Fprintln(os.Stderr, "stand-in for the driver:", err)
		return launchFailed
	}
	return 0
}

// modules holds the parsed texts.
var modules sync.Map

// module parses the text that the driver received for a family.
func module(family string, text *C.char) (*ptx.Module, error) {
	given := unsafe.String((*byte)(unsafe.Pointer(text)), int(C.strlen(text)))
	if m, ok := modules.Load(given); ok {
		return m.(*ptx.Module), nil
	}
	given = strings.Clone(given)
	m, err := ptx.Parse(family, given)
	if err == nil {
		modules.Store(given, m)
	}
	return m, err
}

// launch runs a kernel on copies of the allocations that its arguments point to, and
// copies back those that it writes.
func launch(name string, text *C.char, grid, block int, params []uint64) error {
	info, err := cuda.Lookup(name)
	if err != nil {
		return err
	}
	m, err := module(info.Family, text)
	if err != nil {
		return err
	}
	k, err := m.Kernel(name)
	if err != nil {
		return err
	}
	mem := ptx.NewMemory(0)
	copies := map[uint64]ptx.Addr{} // by the start address of the allocation
	written := map[uint64][]byte{}
	args := make([]any, len(params))
	for i, p := range info.Params {
		switch p.Type {
		case cuda.Int64:
			args[i] = int64(params[i])
		case cuda.Float64:
			args[i] = math.Float64frombits(params[i])
		case cuda.Float32:
			args[i] = math.Float32frombits(uint32(params[i]))
		case cuda.Pointer:
			base, bytes := allocation(params[i])
			if bytes == nil { // a null pointer, or a pointer that the kernel must not use
				args[i] = ptx.Addr(0)
				continue
			}
			at, ok := copies[base]
			if !ok {
				if at, err = mem.Alloc(p.Name, int64(len(bytes))); err != nil {
					return err
				}
				if err := mem.Write(at, bytes); err != nil {
					return err
				}
				copies[base] = at
			}
			if p.Written {
				written[base] = bytes
			}
			args[i] = at + ptx.Addr(params[i]-base)
		}
	}
	if _, err := k.Launch(mem, ptx.Launch{Grid: ptx.Dim{X: grid}, Block: ptx.Dim{X: block}}, args...); err != nil {
		return err
	}
	for base, bytes := range written {
		if err := mem.Read(bytes, copies[base]); err != nil {
			return err
		}
	}
	return nil
}

// allocation returns the allocation that contains an address, nil if there is none.
func allocation(addr uint64) (base uint64, bytes []byte) {
	if addr == 0 {
		return 0, nil
	}
	var n C.uint64_t
	p := C.nvidiatest_range(C.uint64_t(addr), &n)
	if p == nil {
		return 0, nil
	}
	return uint64(uintptr(p)), unsafe.Slice((*byte)(p), int(n))
}

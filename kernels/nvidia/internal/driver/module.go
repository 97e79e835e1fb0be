//go:build cuda

package driver

// #include <stdint.h>
// #include <stdlib.h>
// #include <cuda.h>
//
// enum { most_params = 64 };
//
// static CUresult load(CUmodule *m, const char *text, char *words, size_t n) {
//	CUjit_option names[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
//	void *values[] = {words, (void *)n};
//	return cuModuleLoadDataEx(m, text, 2, names, values);
// }
//
// static CUresult start(CUfunction f, unsigned grid, unsigned block, unsigned shared, CUstream s, uint64_t *slots, int n) {
//	void *params[most_params];
//	if (n > most_params) {
//		return CUDA_ERROR_INVALID_VALUE;
//	}
//	for (int i = 0; i < n; i++) {
//		params[i] = &slots[i];
//	}
//	return cuLaunchKernel(f, grid, 1, 1, block, 1, 1, shared, s, params, 0);
// }
import "C"

import (
	"bytes"
	"fmt"
	"unsafe"

	"gorgonia.org/cu"
)

// Module is a set of kernels compiled for a GPU.
type Module struct{ m C.CUmodule }

// Function is a kernel.
type Function struct{ f C.CUfunction }

// Load compiles PTX for the GPU of the current context. An error contains the log of
// the driver's compiler.
func Load(text string) (Module, error) {
	var m Module
	words := make([]byte, 4096)
	source := C.CString(text)
	defer C.free(unsafe.Pointer(source))
	err := check(C.load(&m.m, source, (*C.char)(unsafe.Pointer(&words[0])), C.size_t(len(words))))
	if words, _, _ = bytes.Cut(words, []byte{0}); err != nil && len(words) > 0 {
		err = fmt.Errorf("%s: %w", bytes.TrimSpace(words), err)
	}
	return m, err
}

// Function returns a kernel.
func (m Module) Function(name string) (Function, error) {
	var f Function
	n := C.CString(name)
	defer C.free(unsafe.Pointer(n))
	err := check(C.cuModuleGetFunction(&f.f, m.m, n))
	return f, err
}

// Resident returns the number of blocks of block threads that a multiprocessor runs at
// a time.
func (f Function) Resident(block int) (int, error) {
	var n C.int
	err := check(C.cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, f.f, C.int(block), 0))
	return int(n), err
}

// AllowShared lets the kernel be launched with up to bytes of dynamic shared memory. Up to 48 KiB need no permission.
func (f Function) AllowShared(bytes int64) error {
	return check(C.cuFuncSetAttribute(f.f, C.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, C.int(bytes)))
}

// Unload unloads the kernels.
func (m Module) Unload() error { return check(C.cuModuleUnload(m.m)) }

// Launch puts a kernel on a stream, with shared bytes of dynamic shared memory and one parameter at the start of each slot.
//
// C code sets the pointers to the slots. If Go stores pointers in uninitialized C
// memory, as cu.Function.Launch does, the garbage collector reads the old contents as
// pointers. It ends the program if one of them points to freed Go memory, for example
// memory that was registered (golang/go 19928).
func (f Function) Launch(grid, block int, shared int64, s cu.Stream, slots []uint64) error {
	return check(C.start(f.f, C.uint(grid), C.uint(block), C.uint(shared), stream(s), (*C.uint64_t)(unsafe.SliceData(slots)), C.int(len(slots))))
}

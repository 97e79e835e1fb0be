//go:build cuda

package driver

// #cgo LDFLAGS: -Wl,--as-needed -ldl
// #include <stdint.h>
// #include <stdlib.h>
// #include <cuda.h>
// #include "load.h"
//
// static CUresult share_pool(CUmemoryPool pool, int with) {
//	CUmemAccessDesc d = {.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
//	d.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
//	d.location.id = with;
//	return cuMemPoolSetAccess(pool, &d, 1);
// }
//
// CUresult cuProfilerStart(void); // of cudaProfiler.h, which not every package of headers has
// CUresult cuProfilerStop(void);
//
// static CUresult pin(uintptr_t p, size_t n, unsigned flags) { return cuMemHostRegister((void *)p, n, flags); }
// static CUresult unpin(uintptr_t p) { return cuMemHostUnregister((void *)p); }
import "C"

import (
	"errors"
	"fmt"
	"strings"
	"unsafe"

	"gorgonia.org/cu"

	"github.com/msrep-go/msrep/kernels"
)

// HeaderVersion is the CUDA version that the binary was built for: 11080 for 11.8.
const HeaderVersion = C.CUDA_VERSION

// Ready starts the driver at its first call. It returns nil if the driver has started,
// else why it has not. All other functions need a driver that has started.
func Ready() error {
	if C.msrep_cuda_start() == 0 {
		return nil
	}
	return errors.New(strings.TrimSpace(C.GoString(C.msrep_cuda_reason())))
}

// Error is an error code of the driver; its text is the driver's.
type Error struct{ Code int }

func (e Error) Error() string {
	var s *C.char
	if C.cuGetErrorString(C.CUresult(e.Code), &s) != C.CUDA_SUCCESS || s == nil {
		return fmt.Sprintf("CUDA error %d", e.Code)
	}
	return fmt.Sprintf("CUDA error %d, %s", e.Code, C.GoString(s))
}

// Is maps the results of invalid memory accesses to kernels.ErrBadAccess: illegal
// addresses, misaligned addresses, addresses of another address space, and failed
// launches, which such accesses usually cause.
func (e Error) Is(target error) bool {
	return target == kernels.ErrBadAccess && (e.Code == 700 || e.Code == 716 || e.Code == 717 || e.Code == 719)
}

// check converts a result to an error.
func check(r C.CUresult) error {
	if r == C.CUDA_SUCCESS {
		return nil
	}
	return Error{int(r)}
}

// Register pins host memory for all contexts, so that its copies are asynchronous. The
// memory must not move until Unregister. Memory that the program must not write can be
// pinned only for reading, if the GPU supports that.
func Register(addr, bytes uintptr, readOnly bool) error {
	flags := C.uint(C.CU_MEMHOSTREGISTER_PORTABLE)
	if readOnly {
		flags |= C.CU_MEMHOSTREGISTER_READ_ONLY
	}
	return check(C.pin(C.uintptr_t(addr), C.size_t(bytes), flags))
}

// Unregister unpins memory that Register pinned at this address.
func Unregister(addr uintptr) error { return check(C.unpin(C.uintptr_t(addr))) }

// HostAlloc allocates pinned memory on a node that the driver chooses.
func HostAlloc(bytes int) ([]byte, error) {
	var p unsafe.Pointer
	if err := check(C.cuMemHostAlloc(&p, C.size_t(bytes), C.CU_MEMHOSTALLOC_PORTABLE)); err != nil {
		return nil, err
	}
	return unsafe.Slice((*byte)(p), bytes), nil
}

// HostFree frees memory of HostAlloc.
func HostFree(p []byte) error { return check(C.cuMemFreeHost(unsafe.Pointer(unsafe.SliceData(p)))) }

// Pinned reports whether the host memory p can be copied directly: all of it must lie
// in one pinned range, because the driver rejects copies that leave a range. If the
// driver does not report the range, the ends of p decide.
func Pinned(p []byte) bool {
	if len(p) == 0 {
		return false
	}
	first, last := unsafe.Pointer(&p[0]), unsafe.Pointer(&p[len(p)-1])
	if !pinnedAt(first) {
		return false
	}
	start, bytes := rangeAt(first)
	if at := uintptr(first) - start; at < bytes {
		return uintptr(len(p)) <= bytes-at
	}
	return pinnedAt(last)
}

func pinnedAt(p unsafe.Pointer) bool {
	var kind C.uint
	return attribute(unsafe.Pointer(&kind), C.CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p) && kind == C.CU_MEMORYTYPE_HOST
}

// rangeAt returns the driver's memory range that contains p; bytes is 0 if the driver
// does not report it.
func rangeAt(p unsafe.Pointer) (start, bytes uintptr) {
	var at C.CUdeviceptr
	var n C.size_t
	if !attribute(unsafe.Pointer(&at), C.CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, p) ||
		!attribute(unsafe.Pointer(&n), C.CU_POINTER_ATTRIBUTE_RANGE_SIZE, p) {
		return 0, 0
	}
	return uintptr(at), uintptr(n)
}

// attribute queries an attribute of p. It returns false if the driver has none.
func attribute(value unsafe.Pointer, which C.CUpointer_attribute, p unsafe.Pointer) bool {
	return C.cuPointerGetAttribute(value, which, C.CUdeviceptr(uintptr(p))) == C.CUDA_SUCCESS
}

// OnDevice reports whether an address is in the memory of a GPU.
func OnDevice(addr uint64, d cu.Device) bool {
	var kind C.uint
	var ordinal C.int
	p := C.CUdeviceptr(addr)
	return C.cuPointerGetAttribute(unsafe.Pointer(&kind), C.CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p) == C.CUDA_SUCCESS && kind == C.CU_MEMORYTYPE_DEVICE &&
		C.cuPointerGetAttribute(unsafe.Pointer(&ordinal), C.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, p) == C.CUDA_SUCCESS && ordinal == C.int(d)
}

// AllocAsync allocates memory in stream order.
func AllocAsync(bytes int64, s cu.Stream) (cu.DevicePtr, error) {
	var p C.CUdeviceptr
	err := check(C.cuMemAllocAsync(&p, C.size_t(bytes), stream(s)))
	return cu.DevicePtr(p), err
}

// FreeAsync frees memory in stream order.
func FreeAsync(p cu.DevicePtr, s cu.Stream) error {
	return check(C.cuMemFreeAsync(C.CUdeviceptr(p), stream(s)))
}

// KeepPool makes the pool of a GPU keep freed memory for later allocations, until
// TrimPool.
func KeepPool(d cu.Device) error {
	var pool C.CUmemoryPool
	if err := check(C.cuDeviceGetDefaultMemPool(&pool, C.CUdevice(d))); err != nil {
		return err
	}
	all := C.cuuint64_t(1<<64 - 1)
	return check(C.cuMemPoolSetAttribute(pool, C.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, unsafe.Pointer(&all)))
}

// TrimPool releases the unused memory of the pool of a GPU.
func TrimPool(d cu.Device) error {
	var pool C.CUmemoryPool
	if err := check(C.cuDeviceGetDefaultMemPool(&pool, C.CUdevice(d))); err != nil {
		return err
	}
	return check(C.cuMemPoolTrimTo(pool, 0))
}

// FreeMemory returns the unused bytes of the GPU of the current context. If pool, it
// includes the unused memory of the pool.
func FreeMemory(d cu.Device, pool bool) (int64, error) {
	var free, total C.size_t
	if err := check(C.cuMemGetInfo(&free, &total)); err != nil || !pool {
		return int64(free), err
	}
	var p C.CUmemoryPool
	if err := check(C.cuDeviceGetDefaultMemPool(&p, C.CUdevice(d))); err != nil {
		return 0, err
	}
	var kept, used C.cuuint64_t
	if err := check(C.cuMemPoolGetAttribute(p, C.CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, unsafe.Pointer(&kept))); err != nil {
		return 0, err
	}
	err := check(C.cuMemPoolGetAttribute(p, C.CU_MEMPOOL_ATTR_USED_MEM_CURRENT, unsafe.Pointer(&used)))
	return int64(free) + int64(kept) - int64(used), err
}

// SharePool lets a GPU access the memory of the pool of another. Peer access between
// contexts does not include pools.
func SharePool(of, with cu.Device) error {
	var pool C.CUmemoryPool
	if err := check(C.cuDeviceGetDefaultMemPool(&pool, C.CUdevice(of))); err != nil {
		return err
	}
	return check(C.share_pool(pool, C.int(with)))
}

// StreamDone reports whether all work on a stream is done.
func StreamDone(s cu.Stream) (bool, error) { return done(C.cuStreamQuery(stream(s))) }

// EventDone reports whether the work before the last record of an event is done.
func EventDone(e cu.Event) (bool, error) {
	// The handle is the only field of cu.Event.
	return done(C.cuEventQuery(*(*C.CUevent)(unsafe.Pointer(&e))))
}

func done(r C.CUresult) (bool, error) {
	if r == C.CUDA_ERROR_NOT_READY {
		return false, nil
	}
	return r == C.CUDA_SUCCESS, check(r)
}

// Profile starts or ends the range that a waiting profiler counts.
func Profile(on bool) error {
	if on {
		return check(C.cuProfilerStart())
	}
	return check(C.cuProfilerStop())
}

// PCI returns the PCI address of a GPU as sysfs writes it, for example 0000:06:00.0.
func PCI(d cu.Device) (string, error) {
	var buf [32]C.char
	if err := check(C.cuDeviceGetPCIBusId(&buf[0], C.int(len(buf)), C.CUdevice(d))); err != nil {
		return "", err
	}
	return strings.ToLower(C.GoString(&buf[0])), nil
}

// PoolsSupported reports whether a GPU supports allocation in stream order.
func PoolsSupported(d cu.Device) bool {
	var yes C.int
	r := C.cuDeviceGetAttribute(&yes, C.CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, C.CUdevice(d))
	return r == C.CUDA_SUCCESS && yes != 0
}

// stream returns the C handle of a stream, the only field of cu.Stream.
func stream(s cu.Stream) C.CUstream { return C.CUstream(unsafe.Pointer(s.C())) }

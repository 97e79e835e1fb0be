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

// HeaderVersion is the version of CUDA that the binary was built for, 11080 for 11.8.
const HeaderVersion = C.CUDA_VERSION

// Ready says whether the driver has started, and if not why.
func Ready() error {
	if C.msrep_cuda_result() == 0 {
		return nil
	}
	return errors.New(strings.TrimSpace(C.GoString(C.msrep_cuda_reason())))
}

// Error is a result of the driver with the driver's own words for it.
type Error struct{ Code int }

func (e Error) Error() string {
	var s *C.char
	if C.cuGetErrorString(C.CUresult(e.Code), &s) != C.CUDA_SUCCESS || s == nil {
		return fmt.Sprintf("CUDA error %d", e.Code)
	}
	return fmt.Sprintf("CUDA error %d, %s", e.Code, C.GoString(s))
}

// Is says that the results of bad accesses are kernels.ErrBadAccess: illegal and misaligned
// addresses, those of another address space, and launches that failed, of which such accesses
// are the common cause.
func (e Error) Is(target error) bool {
	return target == kernels.ErrBadAccess && (e.Code == 700 || e.Code == 716 || e.Code == 717 || e.Code == 719)
}

// check makes an error of a result.
func check(r C.CUresult) error {
	if r == C.CUDA_SUCCESS {
		return nil
	}
	return Error{int(r)}
}

// Register pins host memory, so that copies of it run beside the program, for all
// contexts. It must stay where it is until Unregister. Memory that the program may not
// write can only be pinned for reading, where the GPU can do that at all.
func Register(addr, bytes uintptr, readOnly bool) error {
	flags := C.uint(C.CU_MEMHOSTREGISTER_PORTABLE)
	if readOnly {
		flags |= C.CU_MEMHOSTREGISTER_READ_ONLY
	}
	return check(C.pin(C.uintptr_t(addr), C.size_t(bytes), flags))
}

// Unregister ends what Register of this address began.
func Unregister(addr uintptr) error { return check(C.unpin(C.uintptr_t(addr))) }

// HostAlloc takes pinned memory where the driver likes.
func HostAlloc(bytes int) ([]byte, error) {
	var p unsafe.Pointer
	if err := check(C.cuMemHostAlloc(&p, C.size_t(bytes), C.CU_MEMHOSTALLOC_PORTABLE)); err != nil {
		return nil, err
	}
	return unsafe.Slice((*byte)(p), bytes), nil
}

// HostFree gives back what HostAlloc took.
func HostFree(p []byte) error { return check(C.cuMemFreeHost(unsafe.Pointer(unsafe.SliceData(p)))) }

// Pinned reports whether copies of host memory at p need no pinned memory in between: all
// of it lies in one range that was pinned. The driver refuses copies that reach out of one.
// Where it does not tell the range, the ends of p count.
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

// rangeAt is the memory that the driver knows as one at p; no bytes where it does not tell.
func rangeAt(p unsafe.Pointer) (start, bytes uintptr) {
	var at C.CUdeviceptr
	var n C.size_t
	if !attribute(unsafe.Pointer(&at), C.CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, p) ||
		!attribute(unsafe.Pointer(&n), C.CU_POINTER_ATTRIBUTE_RANGE_SIZE, p) {
		return 0, 0
	}
	return uintptr(at), uintptr(n)
}

// attribute asks for an attribute of p. It is false where the driver has none.
func attribute(value unsafe.Pointer, which C.CUpointer_attribute, p unsafe.Pointer) bool {
	return C.cuPointerGetAttribute(value, which, C.CUdeviceptr(uintptr(p))) == C.CUDA_SUCCESS
}

// AllocAsync allocates memory in the order of a stream.
func AllocAsync(bytes int64, s cu.Stream) (cu.DevicePtr, error) {
	var p C.CUdeviceptr
	err := check(C.cuMemAllocAsync(&p, C.size_t(bytes), stream(s)))
	return cu.DevicePtr(p), err
}

// FreeAsync frees memory in the order of a stream.
func FreeAsync(p cu.DevicePtr, s cu.Stream) error {
	return check(C.cuMemFreeAsync(C.CUdeviceptr(p), stream(s)))
}

// KeepPool makes the pool of a GPU keep what was freed, for the next allocation,
// until TrimPool.
func KeepPool(d cu.Device) error {
	var pool C.CUmemoryPool
	if err := check(C.cuDeviceGetDefaultMemPool(&pool, C.CUdevice(d))); err != nil {
		return err
	}
	all := C.cuuint64_t(1<<64 - 1)
	return check(C.cuMemPoolSetAttribute(pool, C.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, unsafe.Pointer(&all)))
}

// TrimPool gives back what the pool of a GPU keeps and nobody uses.
func TrimPool(d cu.Device) error {
	var pool C.CUmemoryPool
	if err := check(C.cuDeviceGetDefaultMemPool(&pool, C.CUdevice(d))); err != nil {
		return err
	}
	return check(C.cuMemPoolTrimTo(pool, 0))
}

// FreeMemory is the bytes of the GPU of the calling thread's context that nobody has, with
// what its pool keeps and nobody uses, where it has one.
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

// SharePool lets a GPU reach the memory that the pool of another gives. Peer access
// between contexts does not open pools.
func SharePool(of, with cu.Device) error {
	var pool C.CUmemoryPool
	if err := check(C.cuDeviceGetDefaultMemPool(&pool, C.CUdevice(of))); err != nil {
		return err
	}
	return check(C.share_pool(pool, C.int(with)))
}

// Profile starts or ends the range that a profiler counts which was told to wait for it.
func Profile(on bool) error {
	if on {
		return check(C.cuProfilerStart())
	}
	return check(C.cuProfilerStop())
}

// PCI is the PCI address of a GPU as sysfs writes it, such as 0000:06:00.0.
func PCI(d cu.Device) (string, error) {
	var buf [32]C.char
	if err := check(C.cuDeviceGetPCIBusId(&buf[0], C.int(len(buf)), C.CUdevice(d))); err != nil {
		return "", err
	}
	return strings.ToLower(C.GoString(&buf[0])), nil
}

// PoolsSupported reports whether a GPU allocates in the order of streams.
func PoolsSupported(d cu.Device) bool {
	var yes C.int
	r := C.cuDeviceGetAttribute(&yes, C.CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, C.CUdevice(d))
	return r == C.CUDA_SUCCESS && yes != 0
}

// stream is the C handle of a stream: cu.Stream holds nothing else.
func stream(s cu.Stream) C.CUstream { return C.CUstream(unsafe.Pointer(s.C())) }

//go:build cgo

package main

/*
#define MSREP_NO_PROTOTYPES
#include "msrep.h"
#include "lasterror.h"
#include <stdlib.h>
*/
import "C"

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"unsafe"

	"github.com/msrep-go/msrep/internal/crash"
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/solver"
	"github.com/msrep-go/msrep/sparse"
)

func main() {}

var version = C.CString(msrep.Version)

//export msrep_version
func msrep_version() *C.char { return version }

//export msrep_open
func msrep_open(devices *C.char, threads C.int, system *C.uint64_t) C.msrep_status {
	return call(func() error {
		if system == nil {
			return isNull("system")
		}
		*system = 0
		spec := "auto"
		if devices != nil {
			spec = C.GoString(devices)
		}
		sys, err := msrep.Open(msrep.Config{Devices: spec, Threads: int(threads)})
		if err != nil {
			return err
		}
		*system = C.uint64_t(handles.add(&openSystem{sys: sys}))
		return nil
	})
}

//export msrep_plan_csr
func msrep_plan_csr(system C.uint64_t, rows, cols, nnz C.int64_t, rowPtr *C.int64_t, colIdx *C.int32_t, val *C.double, flags C.int, plan *C.uint64_t) C.msrep_status {
	return makePlan[float64](system, rows, cols, nnz, rowPtr, colIdx, unsafe.Pointer(val), flags, plan)
}

//export msrep_plan_csr_single
func msrep_plan_csr_single(system C.uint64_t, rows, cols, nnz C.int64_t, rowPtr *C.int64_t, colIdx *C.int32_t, val *C.float, flags C.int, plan *C.uint64_t) C.msrep_status {
	return makePlan[float32](system, rows, cols, nnz, rowPtr, colIdx, unsafe.Pointer(val), flags, plan)
}

func makePlan[V sparse.Value](system C.uint64_t, rows, cols, nnz C.int64_t, rowPtr *C.int64_t, colIdx *C.int32_t, val unsafe.Pointer, flags C.int, plan *C.uint64_t) C.msrep_status {
	return call(func() error {
		if plan == nil {
			return isNull("plan")
		}
		*plan = 0
		sys, err := get[*openSystem](uint64(system))
		if err != nil {
			return err
		}
		if flags&^C.MSREP_DETERMINISTIC != 0 {
			return sparse.Inputf("flags", "%d: use 0 or MSREP_DETERMINISTIC", int(flags))
		}
		if rows < 0 || rows > sparse.MaxDim || cols < 0 || cols > sparse.MaxDim {
			return sparse.Inputf("matrix", "%d x %d: use 0 to %d rows and columns", int64(rows), int64(cols), sparse.MaxDim)
		}
		ptr, err := view[int64]("row_ptr", unsafe.Pointer(rowPtr), int64(rows)+1)
		if err != nil {
			return err
		}
		idx, err := view[int32]("col_idx", unsafe.Pointer(colIdx), int64(nnz))
		if err != nil {
			return err
		}
		v, err := view[V]("val", val, int64(nnz))
		if err != nil {
			return err
		}
		if err := checkEnds(ptr, int64(nnz)); err != nil { // before the entries are read
			return err
		}
		need := 8*int64(rows) + (4+mem.Size[V]())*int64(nnz) // no overflow: view has checked the lengths
		if have, ok := mem.Fits(need); !ok {
			return sparse.Inputf("matrix", "a copy takes %d bytes, %d are available", need, have)
		}
		a := &sparse.CSR[V]{Rows: int(rows), Cols: int(cols), RowPtr: slices.Clone(ptr), ColIdx: slices.Clone(idx), Val: slices.Clone(v)}
		p, err := msrep.NewPlan(context.Background(), sys.sys, sparse.Matrix[V](a), msrep.PlanOptions{
			Deterministic: flags&C.MSREP_DETERMINISTIC != 0,
		})
		if err != nil {
			return err
		}
		h, err := handles.addPlan(newOpenPlan(uint64(system), p, a))
		*plan = C.uint64_t(h)
		return err
	})
}

// checkEnds checks the first and the last row pointer of a matrix with nnz entries.
func checkEnds(ptr []int64, nnz int64) error {
	switch first, last := ptr[0], ptr[len(ptr)-1]; {
	case first == 1 && last == nnz+1:
		return sparse.Inputf("row_ptr", "begins with 1 and ends with nnz+1: row_ptr and col_idx must count from 0, as arrays of C do, not from 1")
	case first != 0:
		return sparse.Inputf("row_ptr", "begins with %d: it must begin with 0", first)
	case last != nnz:
		return sparse.Inputf("row_ptr", "ends with %d: it must end with nnz, %d", last, nnz)
	}
	return nil
}

//export msrep_update
func msrep_update(plan C.uint64_t, nnz C.int64_t, val *C.double) C.msrep_status {
	return update[float64](plan, nnz, unsafe.Pointer(val))
}

//export msrep_update_single
func msrep_update_single(plan C.uint64_t, nnz C.int64_t, val *C.float) C.msrep_status {
	return update[float32](plan, nnz, unsafe.Pointer(val))
}

func update[V sparse.Value](plan C.uint64_t, nnz C.int64_t, val unsafe.Pointer) C.msrep_status {
	return call(func() error {
		p, err := get[*openPlan[V]](uint64(plan))
		if err != nil {
			return err
		}
		v, err := view[V]("val", val, int64(nnz))
		if err != nil {
			return err
		}
		return p.update(v)
	})
}

//export msrep_multiply
func msrep_multiply(plan C.uint64_t, transpose C.int, alpha C.double, nx C.int64_t, x *C.double, beta C.double, ny C.int64_t, y *C.double) C.msrep_status {
	return multiply(plan, transpose, float64(alpha), nx, unsafe.Pointer(x), float64(beta), ny, unsafe.Pointer(y))
}

//export msrep_multiply_single
func msrep_multiply_single(plan C.uint64_t, transpose C.int, alpha C.float, nx C.int64_t, x *C.float, beta C.float, ny C.int64_t, y *C.float) C.msrep_status {
	return multiply(plan, transpose, float32(alpha), nx, unsafe.Pointer(x), float32(beta), ny, unsafe.Pointer(y))
}

func multiply[V sparse.Value](plan C.uint64_t, transpose C.int, alpha V, nx C.int64_t, x unsafe.Pointer, beta V, ny C.int64_t, y unsafe.Pointer) C.msrep_status {
	return call(func() error {
		p, err := get[*openPlan[V]](uint64(plan))
		if err != nil {
			return err
		}
		vx, err := view[V]("x", x, int64(nx))
		if err != nil {
			return err
		}
		vy, err := view[V]("y", y, int64(ny))
		if err != nil {
			return err
		}
		return p.multiply(msrep.Transpose(transpose != 0), alpha, vx, beta, vy)
	})
}

//export msrep_solve
func msrep_solve(plan C.uint64_t, method, precond C.int, n C.int64_t, b, x *C.double, tol C.double, maxIter C.int64_t, iterations *C.int64_t, residual *C.double) C.msrep_status {
	return call(func() error {
		p, err := get[solvable](uint64(plan))
		if err != nil {
			return err
		}
		vb, err := view[float64]("b", unsafe.Pointer(b), int64(n))
		if err != nil {
			return err
		}
		vx, err := view[float64]("x", unsafe.Pointer(x), int64(n))
		if err != nil {
			return err
		}
		res, err := p.solve(int(method), int(precond), vb, vx, solver.Options{Tol: float64(tol), MaxIter: int(maxIter)})
		if res != nil {
			if iterations != nil {
				*iterations = C.int64_t(res.Iterations)
			}
			if residual != nil {
				*residual = C.double(res.Residual)
			}
		}
		return err
	})
}

//export msrep_close
func msrep_close(handle C.uint64_t) C.msrep_status {
	return call(func() error { return handles.close(uint64(handle)) })
}

// call runs f and converts its error, or a panic, to a status. It stores the message for msrep_last_error.
func call(f func() error) C.msrep_status {
	err := guard(f)
	if err == nil {
		return C.MSREP_OK
	}
	text := C.CString(strings.Join(strings.Fields(err.Error()), " "))
	C.keep_last_error(text)
	C.free(unsafe.Pointer(text))
	var device *kernels.DeviceError
	var gaveUp *solver.ConvergenceError
	switch {
	case errors.Is(err, errHandle), errors.Is(err, msrep.ErrClosed):
		return C.MSREP_BAD_HANDLE
	case sparse.IsInput(err):
		return C.MSREP_BAD_INPUT
	case errors.As(err, &device):
		return C.MSREP_DEVICE_ERROR
	case errors.As(err, &gaveUp):
		return C.MSREP_NOT_CONVERGED
	}
	return C.MSREP_FAILED
}

// guard runs f and returns a panic or a memory fault as an error.
func guard(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("internal error: %w", crash.Recovered(r))
		}
	}()
	return f()
}

func isNull(name string) error { return sparse.Inputf(name, "is a null pointer") }

// view returns n elements of the caller's memory as a slice.
func view[T int32 | int64 | float32 | float64](name string, p unsafe.Pointer, n int64) ([]T, error) {
	switch {
	case n < 0 || n > 1<<48:
		return nil, sparse.Inputf(name, "%d elements: that is no length", n)
	case n == 0:
		return nil, nil
	case p == nil:
		return nil, isNull(name)
	case uintptr(p)%unsafe.Sizeof(T(0)) != 0:
		return nil, sparse.Inputf(name, "begins at an address that is no multiple of %d", unsafe.Sizeof(T(0)))
	}
	return unsafe.Slice((*T)(p), n), nil
}

// touch reads one byte of each page of v, and writes it back if write is set. A page that the caller has not mapped
// Transposeauses an error here instead of a fault in a worker, which would make the plan unusable. The caller runs touch
// under guard, which converts faults to panics.
func touch[V sparse.Value](name string, v []V, write bool) (err error) {
	const page = 4096
	bytes := int64(len(v)) * int64(unsafe.Sizeof(V(0)))
	b := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), bytes)
	at, can := int64(0), "read"
	defer func() {
		if recover() != nil {
			err = sparse.Inputf(name, "byte %d of its %d is not in memory that can be %s", at, bytes, can)
		}
	}()
	for ; at < bytes; at = min(at+page, max(bytes-1, at+1)) {
		c := load(&b[at])
		if write {
			can = "written"
			store(&b[at], c)
		}
	}
	return nil
}

// load and store are not inlined, because the compiler would drop the accesses.
//
//go:noinline
func load(p *byte) byte { return *p }

//go:noinline
func store(p *byte, c byte) { *p = c }

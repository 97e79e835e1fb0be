//go:build cgo

package main

// #include "shim.h"
import "C"

import (
	"cmp"
	"context"
	"errors"
	"unsafe"

	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
)

//export msrepgo_multiply
func msrepgo_multiply(plan C.msrep_plan, transpose C.int, alpha C.double, nx C.int64_t, x unsafe.Pointer, beta C.double, ny C.int64_t, y *C.double) C.msrep_status {
	return multiply(plan, transpose, float64(alpha), nx, x, float64(beta), ny, unsafe.Pointer(y))
}

//export msrepgo_multiply_single
func msrepgo_multiply_single(plan C.msrep_plan, transpose C.int, alpha C.float, nx C.int64_t, x unsafe.Pointer, beta C.float, ny C.int64_t, y *C.float) C.msrep_status {
	return multiply(plan, transpose, float32(alpha), nx, x, float32(beta), ny, unsafe.Pointer(y))
}

func multiply[V sparse.Value](plan C.msrep_plan, transpose C.int, alpha V, nx C.int64_t, x unsafe.Pointer, beta V, ny C.int64_t, y unsafe.Pointer) C.msrep_status {
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

// multiply computes y = alpha*op(A)*x + beta*y.
func (p *openPlan[V]) multiply(op msrep.Transpose, alpha V, x []V, beta V, y []V) error {
	rows, cols := p.dims(op)
	if len(x) == cols && len(y) == rows { // SpMV refuses other lengths
		if err := cmp.Or(touch("x", x, false), touch("y", y, true)); err != nil {
			return err
		}
	}
	return p.plan.SpMV(context.Background(), op, alpha, x, beta, y)
}

//export msrepgo_multiply_on_gpu
func msrepgo_multiply_on_gpu(plan C.msrep_plan, transpose C.int, alpha C.double, nx C.int64_t, x C.uintptr_t, beta C.double, ny C.int64_t, y C.uintptr_t) C.msrep_status {
	return multiplyOnGPU(plan, transpose, float64(alpha), int64(nx), uint64(x), float64(beta), int64(ny), uint64(y))
}

//export msrepgo_multiply_on_gpu_single
func msrepgo_multiply_on_gpu_single(plan C.msrep_plan, transpose C.int, alpha C.float, nx C.int64_t, x C.uintptr_t, beta C.float, ny C.int64_t, y C.uintptr_t) C.msrep_status {
	return multiplyOnGPU(plan, transpose, float32(alpha), int64(nx), uint64(x), float32(beta), int64(ny), uint64(y))
}

// multiplyOnGPU multiplies vectors at addresses x and y of the plan's GPU.
func multiplyOnGPU[V sparse.Value](plan C.msrep_plan, transpose C.int, alpha V, nx int64, x uint64, beta V, ny int64, y uint64) C.msrep_status {
	return call(func() error {
		p, err := get[*openPlan[V]](uint64(plan))
		if err != nil {
			return err
		}
		vx, err := vectorAt[V](p.sys, "x", x, nx)
		if err != nil {
			return err
		}
		defer vx.Close()
		vy, err := vectorAt[V](p.sys, "y", y, ny)
		if err != nil {
			return err
		}
		defer vy.Close()
		if nx > 0 && ny > 0 && x < y+uint64(vy.Bytes()) && y < x+uint64(vx.Bytes()) {
			return sparse.Inputf("y", "overlaps x")
		}
		if err := p.plan.Apply(context.Background(), msrep.Transpose(transpose != 0), alpha, vx, beta, vy); err != nil {
			return err
		}
		return vy.Wait()
	})
}

// vectorAt is msrep.VectorAt for the argument name.
func vectorAt[V sparse.Value](sys *msrep.System, name string, at uint64, n int64) (*msrep.Vector[V], error) {
	if n < 0 || n > sparse.MaxDim {
		return nil, sparse.Inputf(name, "%d elements: that is no length", n)
	}
	v, err := msrep.VectorAt[V](sys, at, int(n))
	if e := (*sparse.InputError)(nil); errors.As(err, &e) {
		e.Subject = name
	}
	return v, err
}

//export msrepgo_multiply_many
func msrepgo_multiply_many(plan C.msrep_plan, transpose C.int, count C.int64_t, alpha C.double, nx C.int64_t, x unsafe.Pointer, xStride C.int64_t, beta C.double, ny C.int64_t, y *C.double, yStride C.int64_t, byColumn C.int) C.msrep_status {
	return multiplyMany(plan, transpose, float64(alpha), vectors{"x", x, nx, count, xStride, byColumn != 0}, float64(beta), vectors{"y", unsafe.Pointer(y), ny, count, yStride, byColumn != 0})
}

//export msrepgo_multiply_many_single
func msrepgo_multiply_many_single(plan C.msrep_plan, transpose C.int, count C.int64_t, alpha C.float, nx C.int64_t, x unsafe.Pointer, xStride C.int64_t, beta C.float, ny C.int64_t, y *C.float, yStride C.int64_t, byColumn C.int) C.msrep_status {
	return multiplyMany(plan, transpose, float32(alpha), vectors{"x", x, nx, count, xStride, byColumn != 0}, float32(beta), vectors{"y", unsafe.Pointer(y), ny, count, yStride, byColumn != 0})
}

// vectors are count vectors of n elements in the caller's memory; see msrep.MultiVector.
type vectors struct {
	name             string
	p                unsafe.Pointer
	n, count, stride C.int64_t
	byColumn         bool
}

func multiplyMany[V sparse.Value](plan C.msrep_plan, transpose C.int, alpha V, x vectors, beta V, y vectors) C.msrep_status {
	return call(func() error {
		p, err := get[*openPlan[V]](uint64(plan))
		if err != nil {
			return err
		}
		op := msrep.Transpose(transpose != 0)
		rows, cols := p.dims(op)
		switch {
		case x.count < 0:
			return sparse.Inputf("count", "%d: use 0 or more vectors", int64(x.count))
		case int64(x.n) != int64(cols):
			return sparse.Inputf("x", "vectors of %d elements: op(A) is %d x %d, so they need %d", int64(x.n), rows, cols, cols)
		case int64(y.n) != int64(rows):
			return sparse.Inputf("y", "vectors of %d elements: op(A) is %d x %d, so they need %d", int64(y.n), rows, cols, rows)
		case x.count == 0:
			return nil
		}
		vx, err := viewMany[V](x, false)
		if err != nil {
			return err
		}
		vy, err := viewMany[V](y, true)
		if err != nil {
			return err
		}
		return p.plan.SpMM(context.Background(), op, alpha, vx, beta, vy)
	})
}

// viewMany returns vectors of the caller. Their memory can be read, and written if write is set.
func viewMany[V sparse.Value](v vectors, write bool) (out msrep.MultiVector[V], err error) {
	const limit = 1 << 48
	outer, inner := int64(v.n), int64(v.count) // rows of count elements
	if v.byColumn {
		outer, inner = inner, outer
	}
	stride := int64(v.stride)
	switch {
	case stride < inner:
		return out, sparse.Inputf(v.name, "its stride is %d: use at least %d", stride, inner)
	case outer > 0 && stride > limit/outer, int64(v.count) > limit:
		return out, sparse.Inputf(v.name, "%d vectors with a stride of %d: that is no length", int64(v.count), stride)
	}
	length := int64(0)
	if outer > 0 {
		length = (outer-1)*stride + inner
	}
	val, err := view[V](v.name, v.p, length)
	if err != nil {
		return out, err
	}
	if stride == inner {
		err = touch(v.name, val, write)
	} else { // the elements between belong to others, who may be writing them
		for k := int64(0); k < outer && err == nil; k++ {
			err = touch(v.name, val[k*stride:k*stride+inner], write)
		}
	}
	return msrep.MultiVector[V]{Val: val, Count: int(v.count), Stride: int(stride), ByColumn: v.byColumn}, err
}

//go:build cgo

package main

// #include "shim.h"
import "C"

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"unsafe"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/solver/factor"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/order"
)

// openFactor is complete factors with their matrix.
type openFactor struct {
	system  uint64
	nnz     int64
	mu      sync.RWMutex // Refactor takes the write lock
	matrix  sparse.Matrix[float64]
	factors completeFactors
}

// completeFactors is *factor.LU or *factor.Cholesky.
type completeFactors interface {
	Size() int
	Apply(b, x []float64) error
	Refactor(ctx context.Context, a *sparse.CSR[float64]) error
}

func (f *openFactor) Close() error { return nil } // the garbage collector frees the memory

func (f *openFactor) owner() uint64 { return f.system }

// orders are the elimination orders by the names of solver.Orders; nil is the default of package factor.
var orders = map[string]factor.Order{"": nil, "none": factor.Natural, "rcm": order.RCM[float64], "amd": order.AMD[float64]}

//export msrepgo_factor
func msrepgo_factor(system C.msrep_system, matrix *C.msrep_matrix, kind, orderName *C.char, handle *C.msrep_factors) C.msrep_status {
	return call(func() error {
		if handle == nil {
			return isNull("factors")
		}
		*handle = 0
		if _, err := get[*openSystem](uint64(system)); err != nil {
			return err
		}
		by, ok := orders[named(orderName)]
		if !ok {
			return sparse.Inputf("order", "%q is not known: use auto, none, rcm or amd", text(orderName))
		}
		what := cmp.Or(text(kind), "lu")
		if what != "lu" && what != "cholesky" {
			return sparse.Inputf("kind", "%q is not known: use lu or cholesky", what)
		}
		r := begin(uint64(system), 0)
		defer r.end()
		g, err := readMatrix(matrix)
		if err != nil {
			return err
		}
		a, err := loadMatrix[float64](g, false)
		if err != nil {
			return err
		}
		if err := a.Validate(); err != nil {
			return err
		}
		var made completeFactors
		_, ended, err := r.supervise(progress{}, func(ctx context.Context, _ func(int, float64)) error {
			f, err := newFactors(ctx, what, sparse.ToCSR(a), by)
			made = f
			return err
		})
		if err != nil || !ended {
			return err
		}
		h, err := handles.addOwned(&openFactor{system: uint64(system), nnz: a.NNZ(), matrix: a, factors: made})
		*handle = C.msrep_factors(h)
		return err
	})
}

func newFactors(ctx context.Context, kind string, a *sparse.CSR[float64], by factor.Order) (completeFactors, error) {
	if kind == "cholesky" {
		return factor.NewCholesky(ctx, a, factor.CholeskyOptions{Order: by})
	}
	return factor.NewLU(ctx, a, factor.LUOptions{Order: by})
}

//export msrepgo_factor_solve
func msrepgo_factor_solve(handle C.msrep_factors, n C.int64_t, b unsafe.Pointer, x *C.double) C.msrep_status {
	return call(func() error {
		f, err := get[*openFactor](uint64(handle))
		if err != nil {
			return err
		}
		vb, err := view[float64]("b", b, int64(n))
		if err != nil {
			return err
		}
		vx, err := view[float64]("x", unsafe.Pointer(x), int64(n))
		if err != nil {
			return err
		}
		return f.solve(vb, vx)
	})
}

func (f *openFactor) solve(b, x []float64) error {
	f.mu.RLock()
	defer f.mu.RUnlock()
	if n := f.factors.Size(); len(b) != n {
		return sparse.Inputf("b", "%d elements: the matrix has %d rows", len(b), n)
	}
	if mem.Overlap(b, x) {
		return sparse.Inputf("x", "shares memory with b")
	}
	if err := cmp.Or(touch("b", b, false), touch("x", x, true)); err != nil {
		return err
	}
	return f.factors.Apply(b, x)
}

//export msrepgo_factor_update
func msrepgo_factor_update(handle C.msrep_factors, nnz C.int64_t, val unsafe.Pointer) C.msrep_status {
	return call(func() error {
		f, err := get[*openFactor](uint64(handle))
		if err != nil {
			return err
		}
		v, err := view[float64]("val", val, int64(nnz))
		if err != nil {
			return err
		}
		return f.update(uint64(handle), v)
	})
}

// update replaces the factors by those of a matrix with other values.
func (f *openFactor) update(handle uint64, val []float64) error {
	if int64(len(val)) != f.nnz {
		return sparse.Inputf("val", "%d values: the matrix has %d entries", len(val), f.nnz)
	}
	if err := touch("val", val, false); err != nil {
		return err
	}
	val = slices.Clone(val)
	r := begin(f.system, handle)
	defer r.end()
	_, _, err := r.supervise(progress{}, func(ctx context.Context, _ func(int, float64)) error {
		f.mu.Lock()
		defer f.mu.Unlock()
		a := withValues(f.matrix, val)
		err := f.factors.Refactor(ctx, sparse.ToCSR(a))
		if err == nil {
			f.matrix = a
		}
		return err
	})
	return err
}

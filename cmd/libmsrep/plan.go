//go:build cgo

package main

// #include "shim.h"
import "C"

import (
	"cmp"
	"context"
	"slices"
	"unsafe"

	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
)

//export msrepgo_plan_csr
func msrepgo_plan_csr(system C.msrep_system, rows, cols, nnz C.int64_t, rowPtr, colIdx, val unsafe.Pointer, valueBits, flags C.int, plan *C.msrep_plan) C.msrep_status {
	return call(func() error {
		if plan == nil {
			return isNull("plan")
		}
		*plan = 0
		if err := checkFlags(flags, C.MSREP_DETERMINISTIC); err != nil {
			return err
		}
		m := C.msrep_matrix{rows: rows, cols: cols, nnz: nnz, value_bits: valueBits, pointers: rowPtr, indices: colIdx, values: val}
		m.size = C.size_t(unsafe.Sizeof(m))
		g, err := readMatrix(&m)
		if err != nil {
			return err
		}
		g.pointersName, g.indicesName, g.valuesName = "row_ptr", "col_idx", "val"
		return makePlan(system, g, C.msrep_plan_options{flags: flags}, plan)
	})
}

//export msrepgo_plan_matrix
func msrepgo_plan_matrix(system C.msrep_system, matrix *C.msrep_matrix, options *C.msrep_plan_options, plan *C.msrep_plan) C.msrep_status {
	return call(func() error {
		if plan == nil {
			return isNull("plan")
		}
		*plan = 0
		o, err := readStruct("options", options)
		if err != nil {
			return err
		}
		g, err := readMatrix(matrix)
		if err != nil {
			return err
		}
		if err := checkFlags(o.flags, C.MSREP_DETERMINISTIC|C.MSREP_BORROW); err != nil {
			return err
		}
		return makePlan(system, g, o, plan)
	})
}

func makePlan(system C.msrep_system, g *given, o C.msrep_plan_options, plan *C.msrep_plan) error {
	r := begin(uint64(system), 0)
	defer r.end()
	if g.m.value_bits == 32 {
		return makePlanOf[float32](r, system, g, o, plan)
	}
	return makePlanOf[float64](r, system, g, o, plan)
}

func makePlanOf[V sparse.Value](r *run, system C.msrep_system, g *given, o C.msrep_plan_options, plan *C.msrep_plan) error {
	sys, err := get[*openSystem](uint64(system))
	if err != nil {
		return err
	}
	opt, err := planOptions(o)
	if err != nil {
		return err
	}
	borrow := o.flags&C.MSREP_BORROW != 0
	a, err := loadMatrix[V](g, borrow)
	if err != nil {
		return err
	}
	r.usesCaller = borrow || sys.runsOnCaller
	p, err := supervised(r, progress{o.progress, o.arg}, func(ctx context.Context, _ func(int, float64)) (*msrep.Plan[V], error) {
		return msrep.NewPlan(ctx, sys.sys, a, opt)
	})
	if err != nil {
		return err
	}
	h, err := handles.addOwned(newOpenPlan(uint64(system), sys.sys, p, a, borrow))
	*plan = C.msrep_plan(h)
	return err
}

func planOptions(o C.msrep_plan_options) (opt msrep.PlanOptions, err error) {
	products, err := count("expected_products", o.expected_products)
	transposed, err2 := count("expected_transposed", o.expected_transposed)
	if err = cmp.Or(err, err2); err != nil {
		return opt, err
	}
	opt.Expected = msrep.Expected{Products: products, Transposed: transposed}
	opt.Deterministic = o.flags&C.MSREP_DETERMINISTIC != 0
	opt.Storage.Format, opt.Storage.Form = sparse.Format(text(o.format)), msrep.Form(text(o.form))
	if opt.Storage.Form == "auto" {
		opt.Storage.Form = ""
	}
	if known := msrep.Forms(""); opt.Storage.Form != "" && !slices.Contains(known, opt.Storage.Form) {
		return opt, sparse.Inputf("form", "%q is not known: use one of %v", opt.Storage.Form, known)
	}
	return opt, nil
}

//export msrepgo_update
func msrepgo_update(plan C.msrep_plan, nnz C.int64_t, val unsafe.Pointer) C.msrep_status {
	return update[float64](plan, nnz, val)
}

//export msrepgo_update_single
func msrepgo_update_single(plan C.msrep_plan, nnz C.int64_t, val unsafe.Pointer) C.msrep_status {
	return update[float32](plan, nnz, val)
}

func update[V sparse.Value](plan C.msrep_plan, nnz C.int64_t, val unsafe.Pointer) C.msrep_status {
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

//go:build cgo

package main

// #include "shim.h"
import "C"

import (
	"unsafe"

	"github.com/msrep-go/msrep/sparse"
)

//export msrepgo_for
func msrepgo_for(plan C.msrep_plan, n, grain C.int64_t, f C.msrep_range, arg unsafe.Pointer) C.msrep_status {
	return call(func() error {
		p, err := get[anyPlan](uint64(plan))
		if err != nil {
			return err
		}
		switch {
		case f == nil:
			return isNull("f")
		case n < 0:
			return sparse.Inputf("n", "%d: use 0 or more items", int64(n))
		}
		return p.each(int(n), int(grain), func(lo, hi int) { C.call_range(f, C.int64_t(lo), C.int64_t(hi), arg) })
	})
}

func (p *openPlan[V]) each(n, grain int, f func(lo, hi int)) error { return p.plan.Range(n, grain, f) }

//go:build cgo

package main

// #include "shim.h"
import "C"

import (
	"encoding/json"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
)

//export msrepgo_describe
func msrepgo_describe(plan C.msrep_plan, buffer *C.char, capacity C.size_t, length *C.size_t) C.msrep_status {
	return call(func() error {
		p, err := get[anyPlan](uint64(plan))
		if err != nil {
			return err
		}
		text, err := json.Marshal(p.describe())
		if err != nil {
			return err
		}
		return writeText(string(text), buffer, capacity, length)
	})
}

// description is what msrep_describe writes.
type description struct {
	Rows    int           `json:"rows"`
	Cols    int           `json:"cols"`
	NNZ     int64         `json:"nnz"`
	Values  string        `json:"values"` // "float64" or "float32"
	Format  sparse.Format `json:"format"`
	Bytes   int64         `json:"bytes"`
	Choice  msrep.Choice  `json:"choice"`
	Devices []devicePart  `json:"devices"`
}

// devicePart is the part of a device.
type devicePart struct {
	Name   string       `json:"name"`
	Rows   int          `json:"rows"` // that it owns; columns for a plan in csc
	NNZ    int64        `json:"nnz"`
	Form   kernels.Form `json:"form"`   // "" if the part is kept in the format of the plan
	Reason string       `json:"reason"` // why this form
	Bytes  int64        `json:"bytes"`
}

func (p *openPlan[V]) describe() description {
	d := description{NNZ: p.plan.NNZ(), Values: "float64", Format: p.plan.Format(), Bytes: p.plan.Bytes(), Choice: p.plan.Choice()}
	d.Rows, d.Cols = p.plan.Dims()
	if _, ok := any(p).(*openPlan[float32]); ok {
		d.Values = "float32"
	}
	devices, packed := p.sys.Devices(), p.plan.Packed(msrep.NoTrans)
	for i, s := range p.plan.Shares() {
		part := devicePart{Name: devices[s.Device].ID, Rows: s.Part.OwnEnd - s.Part.OwnFirst, NNZ: s.Part.NNZ()}
		if i < len(packed) {
			part.Form, part.Reason, part.Bytes = packed[i].Form, packed[i].Why, packed[i].Bytes
		}
		d.Devices = append(d.Devices, part)
	}
	return d
}

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/nvidia"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/matio"
)

// measureFile measures one matrix with values of each type.
func measureFile(ctx context.Context, b *bench, name string, types []string) (err error) {
	m, err := matio.Read(ctx, name, matio.SkipChecksums())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	for _, t := range types {
		double, single := measure[float64], measure[float32]
		switch {
		case *triangles:
			double, single = measureTriangles[float64], measureTriangles[float32]
		case *squares:
			double, single = measureSquare[float64], measureSquare[float32]
		}
		switch t {
		case "fp64":
			err = double(ctx, b, m.Name, t, sparse.Convert[float64](m.CSR))
		case "fp32":
			err = single(ctx, b, m.Name, t, sparse.Convert[float32](m.CSR))
		default:
			err = fmt.Errorf("values %q: say fp64 or fp32", t)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// result is the measurement of one form of one matrix.
type result struct {
	Form    string  `json:"form"`
	Why     string  `json:"why,omitempty"`
	Error   string  `json:"error,omitempty"`
	Seconds float64 `json:"seconds,omitempty"`
	Spell   int     `json:"spell,omitempty"`    // products between two events, one series
	Kept    string  `json:"kept,omitempty"`     // the form that auto chose
	GBPerS  float64 `json:"gb_per_s,omitempty"` // of the least bytes that a product in the form moves
	Bytes   int64   `json:"bytes,omitempty"`    // memory that the form holds
	PackS   float64 `json:"pack_s,omitempty"`
	Worst   float64 `json:"worst_error,omitempty"` // compared with the host's product, in units of eps*|A||x|
}

// forms are measured by default.
var forms = []kernels.Form{kernels.FormCSR, kernels.FormMerge, kernels.FormSlices, kernels.FormTiles, nvidia.FormCuSPARSE, kernels.FormAuto}

// measure multiplies by a matrix in each form, until ctx ends or the device is lost.
func measure[V sparse.Value](ctx context.Context, b *bench, name, value string, a *sparse.CSR[V]) (err error) {
	if *heap {
		a = &sparse.CSR[V]{Rows: a.Rows, Cols: a.Cols, RowPtr: slices.Clone(a.RowPtr), ColIdx: slices.Clone(a.ColIdx), Val: slices.Clone(a.Val)}
	}
	held, release, err := b.pin(mem.Bytes(a.RowPtr), mem.Bytes(a.ColIdx), mem.Bytes(a.Val))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	p, err := newProblem(b, a)
	defer func() { err = errors.Join(err, p.free()) }()
	if err != nil {
		return err
	}
	what := "product"
	if *watch {
		what = "profiled"
	}
	info, row := b.dev.Info(), longest(a.RowPtr)
	for _, form := range chosen() {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		r := p.measure(form)
		line := map[string]any{"what": what, "matrix": name, "value": value, "device": info.ID, "name": info.Name,
			"rows": a.Rows, "cols": a.Cols, "nnz": a.NNZ(), "longest": row, "least_bytes": p.leastBytes(), "pinned": held, "forms": []result{r}}
		if *set != "" {
			line["set"] = *set
		}
		if err := print(line); err != nil {
			return err
		}
		if r.Error != "" && b.stream.Sync() != nil { // Sync returns errors that the form left on the stream
			if err := b.stream.Sync(); err != nil {
				return err
			}
		}
	}
	return nil
}

// longest returns the number of entries of the longest row.
func longest(ptr []int64) (most int64) {
	for r := range len(ptr) - 1 {
		most = max(most, ptr[r+1]-ptr[r])
	}
	return most
}

// chosen returns the forms to measure.
func chosen() []kernels.Form {
	if *only == "" {
		return forms
	}
	var out []kernels.Form
	for _, f := range strings.Split(*only, ",") {
		out = append(out, kernels.Form(f))
	}
	return out
}

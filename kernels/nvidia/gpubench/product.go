package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cuda/launch"
	"github.com/msrep-go/msrep/kernels/nvidia"
	"github.com/msrep-go/msrep/partition"
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
		switch t {
		case "fp64":
			err = measure(ctx, b, m.Name, t, sparse.Convert[float64](m.CSR))
		case "fp32":
			err = measure(ctx, b, m.Name, t, sparse.Convert[float32](m.CSR))
		default:
			err = fmt.Errorf("values %q: say fp64 or fp32", t)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// result is one form of one matrix.
type result struct {
	Form    string  `json:"form"`
	Why     string  `json:"why,omitempty"`
	Error   string  `json:"error,omitempty"`
	Seconds float64 `json:"seconds,omitempty"`
	Spell   int     `json:"spell,omitempty"`    // products between two events
	Kept    string  `json:"kept,omitempty"`     // the form that auto chose
	GBPerS  float64 `json:"gb_per_s,omitempty"` // of the least bytes that a product in the form moves
	Bytes   int64   `json:"bytes,omitempty"`    // memory that the form holds
	PackS   float64 `json:"pack_s,omitempty"`
	Worst   float64 `json:"worst_error,omitempty"` // against the vector kernels, in units of eps*|A||x|
}

// forms is what is measured unless others are named, the vector kernels first: the first
// is what the others are compared with.
var forms = []kernels.Form{kernels.FormCSR, launch.FormMerge, launch.FormSlices, nvidia.FormCuSPARSE, kernels.FormAuto}

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
	parts, _, err := partition.Split(a.RowPtr, 1, partition.RuleNNZ)
	if err != nil {
		return err
	}
	x, err := kernels.NewArray[V](b.dev, int64(a.Cols))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.Free()) }()
	y, err := kernels.NewArray[V](b.dev, int64(a.Rows))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, y.Free()) }()
	host := make([]V, a.Cols)
	for i := range host {
		host[i] = V(math.Sin(float64(i + 1)))
	}
	if err := errors.Join(x.Write(b.stream, host), b.stream.Sync()); err != nil {
		return err
	}
	size := mem.Size[V]()
	vectors := size * int64(a.Rows+a.Cols)
	least := a.NNZ()*(size+4) + 8*int64(a.Rows+1) + vectors
	info := b.dev.Info()
	var first []V
	for _, form := range chosen() {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		op := &kernels.Packing[V]{Part: parts[0], Ptr: a.RowPtr, Idx: a.ColIdx, Val: a.Val, Minors: a.Cols, Form: form, Products: 1000, InPlace: true}
		r, got, err := one(b, op, x, y)
		if err != nil {
			r.Error = err.Error()
		} else {
			moved := least
			if r.Kept == string(launch.FormSlices) {
				moved = r.Bytes + vectors
			}
			if r.Seconds > 0 {
				r.GBPerS = float64(moved) / r.Seconds / 1e9
			}
			if first == nil {
				first = got
			}
			r.Worst = worst(a, host, first, got)
		}
		what := "product"
		if *watch {
			what = "profiled"
		}
		if err := print(map[string]any{"what": what, "matrix": name, "value": value, "device": info.ID, "name": info.Name,
			"rows": a.Rows, "cols": a.Cols, "nnz": a.NNZ(), "least_bytes": least, "pinned": held, "forms": []result{r}}); err != nil {
			return err
		}
		if r.Error != "" && b.stream.Sync() != nil { // what the form left there may be said once
			if err := b.stream.Sync(); err != nil {
				return err
			}
		}
	}
	return nil
}

// chosen is the forms to measure.
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

// one measures one form.
func one[V sparse.Value](b *bench, op *kernels.Packing[V], x, y kernels.Array[V]) (r result, got []V, err error) {
	r.Form = string(op.Form)
	packer, ok := b.dev.(kernels.Packer)
	if !ok {
		return r, nil, kernels.ErrNotSupported
	}
	begin := time.Now()
	p, err := packer.Pack(op)
	if err != nil {
		return r, nil, err
	}
	defer func() { err = errors.Join(err, p.Free()) }()
	info := p.Info()
	r.PackS, r.Why, r.Kept, r.Bytes = time.Since(begin).Seconds(), info.Why, string(info.Form), info.Bytes
	product := &kernels.GatherPacked[V]{A: p, Alpha: 1, X: x, Y: y}
	multiply := func() error { return b.stream.Launch(product) }
	if *watch {
		err = b.profile(multiply)
	} else {
		var took time.Duration
		took, r.Spell, err = b.time(multiply)
		r.Seconds = took.Seconds()
	}
	if err != nil {
		return r, nil, err
	}
	got = make([]V, y.Len)
	return r, got, errors.Join(y.Read(b.stream, got), b.stream.Sync())
}

// worst is the largest difference between two products of a and x, in units of
// eps*|A||x|.
func worst[V sparse.Value](a *sparse.CSR[V], x, y, z []V) (most float64) {
	eps := 0x1p-53
	if mem.Size[V]() == 4 {
		eps = 0x1p-24
	}
	var mu sync.Mutex
	par.Range(int64(len(y)), 1<<12, func(lo, hi int64) {
		own := 0.0
		for r := lo; r < hi; r++ {
			d := math.Abs(float64(y[r]) - float64(z[r]))
			if d == 0 {
				continue
			}
			scale := 0.0
			for k := a.RowPtr[r]; k < a.RowPtr[r+1]; k++ {
				scale += math.Abs(float64(a.Val[k]) * float64(x[a.ColIdx[k]]))
			}
			if d /= eps * scale; d <= math.MaxFloat64 {
				own = max(own, d)
			} else { // NaN, or no room for any difference
				own = math.MaxFloat64
			}
		}
		mu.Lock()
		most = max(most, own)
		mu.Unlock()
	})
	return most
}

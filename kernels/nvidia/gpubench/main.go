// Command gpubench measures resident products on one device: matrix and vectors stay
// in its memory, times are those of its own events. scripts/gpu-run calls it.
//
//	gpubench [--device cuda|sim] copy            the device's copy bandwidth
//	gpubench [--device cuda|sim] MATRIX...       each form of each matrix
//
// It prints one line of JSON for each.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"slices"
	"time"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cuda/launch"
	"github.com/msrep-go/msrep/kernels/nvidia"
	"github.com/msrep-go/msrep/kernels/sim"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/matio"
)

var (
	kind  = flag.String("device", "cuda", "`KIND` of device: cuda, or sim, whose times mean nothing")
	gpu   = flag.Int("gpu", 0, "number of the GPU")
	value = flag.String("value", "fp64", "`TYPE` of values: fp64 or fp32")
	runs  = flag.Int("runs", 30, "timed products of each form; the median counts")
	bytes = flag.Int64("bytes", 1<<30, "`SIZE` of the buffer that copy copies")
)

func main() {
	flag.Parse()
	if err := run(flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "gpubench:", err)
		os.Exit(1)
	}
}

func run(args []string) (err error) {
	if len(args) == 0 {
		return errors.New(`say "copy", or name matrices`)
	}
	d, err := open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	b, err := newBench(d)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	for _, a := range args {
		switch {
		case a == "copy":
			err = b.copy()
		case *value == "fp32":
			err = measure[float32](b, a)
		default:
			err = measure[float64](b, a)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func open() (kernels.Device, error) {
	if *kind == "sim" {
		return sim.Open(sim.Config{Unchecked: true})
	}
	return nvidia.Open(nvidia.Config{GPU: *gpu, Node: -1})
}

// bench is a device with what is needed to measure on it.
type bench struct {
	dev         kernels.Device
	stream      kernels.Stream
	start, stop kernels.Event
}

func newBench(d kernels.Device) (*bench, error) {
	b := &bench{dev: d}
	var err1, err2, err3 error
	b.stream, err1 = d.NewStream()
	b.start, err2 = d.NewEvent()
	b.stop, err3 = d.NewEvent()
	return b, errors.Join(err1, err2, err3)
}

func (b *bench) close() error {
	return errors.Join(b.start.Close(), b.stop.Close(), b.stream.Close())
}

// time is the median of some runs of f, after two that are not timed.
func (b *bench) time(f func() error) (time.Duration, error) {
	var all []time.Duration
	for i := range *runs + 2 {
		if err := errors.Join(b.stream.Record(b.start), f(), b.stream.Record(b.stop), b.stream.Sync()); err != nil {
			return 0, err
		}
		took, err := b.stop.Since(b.start)
		if err != nil {
			return 0, err
		}
		if i >= 2 {
			all = append(all, took)
		}
	}
	slices.Sort(all)
	return all[len(all)/2], nil
}

// copy measures copies within the memory of the device: bytes read plus written.
func (b *bench) copy() (err error) {
	src, err := b.dev.Alloc(*bytes)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, src.Free()) }()
	dst, err := b.dev.Alloc(*bytes)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dst.Free()) }()
	took, err := b.time(func() error { return b.stream.Copy(dst, 0, src, 0, *bytes) })
	if err != nil {
		return err
	}
	info := b.dev.Info()
	return print(map[string]any{"what": "copy", "device": info.ID, "name": info.Name, "bytes": *bytes,
		"seconds": took.Seconds(), "gb_per_s": 2 * float64(*bytes) / took.Seconds() / 1e9})
}

// result is one form of one matrix.
type result struct {
	Form    string  `json:"form"`
	Why     string  `json:"why,omitempty"`
	Error   string  `json:"error,omitempty"`
	Seconds float64 `json:"seconds,omitempty"`
	Kept    string  `json:"kept,omitempty"`     // the form that auto chose
	GBPerS  float64 `json:"gb_per_s,omitempty"` // of the least bytes that a product in the form moves
	Bytes   int64   `json:"bytes,omitempty"`    // memory that the form holds
	PackS   float64 `json:"pack_s,omitempty"`
	Worst   float64 `json:"worst_error,omitempty"` // against the vector kernels, in units of eps*|A||x|
}

// measure multiplies by a matrix in each form.
func measure[V sparse.Value](b *bench, name string) (err error) {
	m, err := matio.Read(context.Background(), name, matio.SkipChecksums())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	a := sparse.Convert[V](m.CSR)
	parts, err := partition.ByNNZ(a.RowPtr, 1)
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
	size := int64(8)
	if *value == "fp32" {
		size = 4
	}
	vectors := size * int64(a.Rows+a.Cols)
	least := m.NNZ()*(size+4) + 8*int64(a.Rows+1) + vectors
	forms := []kernels.Form{kernels.FormCSR, launch.FormMerge, launch.FormSlices, nvidia.FormCuSPARSE, kernels.FormAuto}
	var results []result
	var first []V
	for _, form := range forms {
		op := &kernels.Packing[V]{Part: parts[0], Ptr: a.RowPtr, Idx: a.ColIdx, Val: a.Val, Minors: a.Cols, Form: form, Products: 1000}
		r, got, err := one(b, op, x, y)
		if err != nil {
			r.Error = err.Error()
		} else {
			moved := least
			if r.Kept == string(launch.FormSlices) {
				moved = r.Bytes + vectors
			}
			r.GBPerS = float64(moved) / r.Seconds / 1e9
			if first == nil {
				first = got
			}
			r.Worst = worst(a, host, first, got)
		}
		results = append(results, r)
	}
	info := b.dev.Info()
	return print(map[string]any{"what": "product", "matrix": m.Name, "value": *value, "device": info.ID, "name": info.Name,
		"rows": a.Rows, "cols": a.Cols, "nnz": a.NNZ(), "least_bytes": least, "forms": results})
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
	took, err := b.time(func() error { return b.stream.Launch(product) })
	if err != nil {
		return r, nil, err
	}
	r.Seconds = took.Seconds()
	got = make([]V, y.Len)
	return r, got, errors.Join(y.Read(b.stream, got), b.stream.Sync())
}

// worst is the largest difference between two products of a and x, in units of
// eps*|A||x|.
func worst[V sparse.Value](a *sparse.CSR[V], x, y, z []V) (most float64) {
	eps := 0x1p-53
	if V(1)+V(0x1p-30) == 1 {
		eps = 0x1p-24
	}
	for r := range y {
		d := math.Abs(float64(y[r]) - float64(z[r]))
		if d == 0 {
			continue
		}
		scale := 0.0
		for k := a.RowPtr[r]; k < a.RowPtr[r+1]; k++ {
			scale += math.Abs(float64(a.Val[k]) * float64(x[a.ColIdx[k]]))
		}
		if most = max(most, d/(eps*scale)); math.IsNaN(d) {
			return math.MaxFloat64
		}
	}
	return most
}

func print(v any) error { return json.NewEncoder(os.Stdout).Encode(v) }

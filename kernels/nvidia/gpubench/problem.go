package main

import (
	"errors"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/nvidia"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// problem is a matrix as one part, with vectors of its size on the device.
type problem[V sparse.Value] struct {
	bench *bench
	a     *sparse.CSR[V]
	part  partition.Part
	host  []V // x
	x, y  kernels.Array[V]
	want  []float64 // A x, computed on the host
}

// newProblem creates the vectors, with x[i] = sin(i+1), and computes the product on the
// host. The caller must free the result even after an error.
func newProblem[V sparse.Value](b *bench, a *sparse.CSR[V]) (*problem[V], error) {
	p := &problem[V]{bench: b, a: a, host: make([]V, a.Cols)}
	parts, _, err := partition.Split(a.RowPtr, 1, partition.RuleNNZ)
	if err != nil {
		return p, err
	}
	p.part = parts[0]
	if p.x, err = kernels.NewArray[V](b.dev, int64(a.Cols)); err != nil {
		return p, err
	}
	if p.y, err = kernels.NewArray[V](b.dev, int64(a.Rows)); err != nil {
		return p, err
	}
	for i := range p.host {
		p.host[i] = V(math.Sin(float64(i + 1)))
	}
	p.want = make([]float64, a.Rows)
	par.Range(int64(a.Rows), 1<<12, func(lo, hi int64) {
		for r := lo; r < hi; r++ {
			for k := a.RowPtr[r]; k < a.RowPtr[r+1]; k++ {
				p.want[r] += float64(a.Val[k]) * float64(p.host[a.ColIdx[k]])
			}
		}
	})
	return p, errors.Join(p.x.Write(b.stream, p.host), b.stream.Sync())
}

func (p *problem[V]) free() error { return errors.Join(p.x.Free(), p.y.Free()) }

// vectorBytes returns the bytes of x and y.
func (p *problem[V]) vectorBytes() int64 { return mem.Size[V]() * int64(p.a.Rows+p.a.Cols) }

// leastBytes returns the least bytes that a product by rows moves: nnz values and
// columns, rows+1 pointers, and x and y once.
func (p *problem[V]) leastBytes() int64 {
	return p.a.NNZ()*(mem.Size[V]()+4) + 8*int64(p.a.Rows+1) + p.vectorBytes()
}

// byRows has the forms that move the bytes of CSR; other forms move the bytes that they
// hold.
var byRows = []kernels.Form{kernels.FormCSR, kernels.FormMerge, kernels.FormStreamed, kernels.FormCSRScalar, kernels.FormCSRVector, nvidia.FormCuSPARSE}

// measure measures one form, and compares its product with that of the host.
func (p *problem[V]) measure(form kernels.Form) result {
	r, y, err := p.one(form)
	if err != nil {
		r.Error = err.Error()
		return r
	}
	moved := p.leastBytes()
	if !slices.Contains(byRows, kernels.Form(r.Kept)) {
		moved = r.Bytes + p.vectorBytes()
	}
	if r.Seconds > 0 {
		r.GBPerS = float64(moved) / r.Seconds / 1e9
	}
	r.Worst = worst(p.a, p.host, y, p.want)
	return r
}

// one builds a form, multiplies by it and returns y.
func (p *problem[V]) one(form kernels.Form) (r result, y []V, err error) {
	b, a := p.bench, p.a
	r.Form = string(form)
	packer, ok := b.dev.(kernels.Packer)
	if !ok {
		return r, nil, kernels.ErrNotSupported
	}
	begin := time.Now()
	packed, err := packer.Pack(&kernels.Packing[V]{
		Part: p.part, Ptr: a.RowPtr, Idx: a.ColIdx, Val: a.Val, Minors: a.Cols, Form: form, Products: 5000, InPlace: true,
	})
	if err != nil {
		return r, nil, err
	}
	defer func() { err = errors.Join(err, packed.Free()) }()
	info := packed.Info()
	r.PackS, r.Why, r.Kept, r.Bytes = time.Since(begin).Seconds(), info.Why, string(info.Form), info.Bytes
	product := &kernels.MajorProductPacked[V]{A: packed, Alpha: 1, X: p.x, Y: p.y}
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
	y = make([]V, p.y.Len)
	return r, y, errors.Join(p.y.Read(b.stream, y), b.stream.Sync())
}

// worst returns the largest error of y, the product of a and x, in units of eps*|A||x|;
// want is the exact product.
func worst[V sparse.Value](a *sparse.CSR[V], x, y []V, want []float64) (most float64) {
	eps := 0x1p-53
	if mem.Size[V]() == 4 {
		eps = 0x1p-24
	}
	var mu sync.Mutex
	par.Range(int64(len(y)), 1<<12, func(lo, hi int64) {
		own := 0.0
		for r := lo; r < hi; r++ {
			d := math.Abs(float64(y[r]) - want[r])
			if d == 0 {
				continue
			}
			scale := 0.0
			for k := a.RowPtr[r]; k < a.RowPtr[r+1]; k++ {
				scale += math.Abs(float64(a.Val[k]) * float64(x[a.ColIdx[k]]))
			}
			if d /= eps * scale; d <= math.MaxFloat64 {
				own = max(own, d)
			} else { // NaN, or a difference where none is possible
				own = math.MaxFloat64
			}
		}
		mu.Lock()
		most = max(most, own)
		mu.Unlock()
	})
	return most
}

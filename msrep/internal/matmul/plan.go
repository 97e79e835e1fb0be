package matmul

import (
	"context"
	"errors"
	"sort"
	"sync"
	"time"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/internal/saturate"
	"github.com/msrep-go/msrep/internal/spgemm"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
)

// Plan computes C = A B, and again with other values. Its methods must not be called concurrently.
type Plan[V sparse.Value] struct {
	a, b    *sparse.CSR[V]
	c       *sparse.CSR[V]
	on      spgemm.On
	failed  error            // error of the workers
	pattern *spgemm.Pattern  // for products in host memory; made by the first update
	parts   []*DevicePart[V] // of each device, unless all use host memory
	Timing  spgemm.Timing    // of the last product
}

// New computes A B on devices. onHost states that all of them use host memory. A and B must be valid, with matching shapes.
func New[V sparse.Value](ctx context.Context, devices []kernels.Device, onHost bool, a, b *sparse.CSR[V]) (*Plan[V], error) {
	p := &Plan[V]{a: a, b: b}
	if !onHost {
		return p, p.onDevices(ctx, devices)
	}
	var all []kernels.Workers
	for _, d := range devices {
		if w, ok := d.(kernels.Workers); ok {
			all = append(all, w)
			p.on.Workers += w.Info().Threads
		}
	}
	if len(all) > 0 {
		p.on.Run = p.runOn(all)
	}
	var err error
	p.c, err = spgemm.MultiplyOn(p.now(ctx), a, b)
	return p, errors.Join(p.failed, err)
}

// runOn returns a function that divides n calls among the workers of several devices. n is at most their number.
func (p *Plan[V]) runOn(all []kernels.Workers) spgemm.Run {
	if len(all) == 1 { // another goroutine would need a CPU while the workers poll
		return func(n int, f func(i int)) { p.check(all[0].Run(n, f)) }
	}
	return func(n int, f func(i int)) {
		var wait sync.WaitGroup
		errs := make([]error, len(all))
		first := 0
		for k, w := range all {
			from, count := first, min(w.Info().Threads, n-first)
			if count <= 0 {
				break
			}
			first += count
			wait.Go(func() { errs[k] = w.Run(count, func(i int) { f(from + i) }) })
		}
		wait.Wait()
		p.check(errors.Join(errs...))
	}
}

// check ends a product whose workers have failed.
func (p *Plan[V]) check(err error) {
	if err != nil {
		p.failed = err
		panic(err)
	}
}

// now returns p.on with ctx, and resets Timing.
func (p *Plan[V]) now(ctx context.Context) spgemm.On {
	on := p.on
	p.Timing = spgemm.Timing{}
	on.Context, on.Timing = ctx, &p.Timing
	return on
}

// onDevices computes A B on devices of which some have their own memory.
func (p *Plan[V]) onDevices(ctx context.Context, devices []kernels.Device) error {
	begin := time.Now()
	a, b := p.a, p.b
	work := spgemm.Work(spgemm.On{}, a, b)
	p.Timing.Multiplications = spgemm.Multiplications(work)
	rows := a.Rows
	p.parts = make([]*DevicePart[V], len(devices))
	cut := func(i int) int {
		return sort.Search(rows, func(r int) bool { return work[r+1] > par.Cut(work[rows], len(devices), i) })
	}
	cuts := make([]int, len(devices)+1)
	for i := 1; i < len(devices); i++ {
		cuts[i] = max(cut(i), cuts[i-1])
	}
	cuts[len(devices)] = rows
	p.Timing.Analyze = time.Since(begin)
	begin = time.Now()
	if err := p.each(func(i int) (err error) {
		p.parts[i], err = NewDevicePart(ctx, devices[i], a, b, cuts[i], cuts[i+1])
		return err
	}); err != nil {
		return errors.Join(err, p.Close())
	}
	p.c = &sparse.CSR[V]{Rows: rows, Cols: b.Cols, RowPtr: work}
	ptr := p.c.RowPtr
	ptr[0] = 0
	for i, part := range p.parts {
		for k, n := range part.Count() {
			ptr[cuts[i]+k+1] = ptr[cuts[i]+k] + int64(n)
		}
	}
	nnz := ptr[rows]
	need := saturate.Mul(nnz, 4+mem.Size[V]())
	if have, ok := mem.Fits(need); !ok {
		return errors.Join(sparse.Inputf("product", "takes %d bytes of memory, %d are available", need, have), p.Close())
	}
	p.c.ColIdx, p.c.Val = make([]int32, nnz), make([]V, nnz)
	err := p.fill(ctx)
	p.Timing.Compute = time.Since(begin)
	if err != nil {
		err = errors.Join(err, p.Close())
	}
	return err
}

// each calls f for all devices concurrently.
func (p *Plan[V]) each(f func(i int) error) error {
	errs := make([]error, len(p.parts))
	par.Do(len(p.parts), func(i int) { errs[i] = f(i) })
	return errors.Join(errs...)
}

// fill computes columns and values on the devices of parts.
func (p *Plan[V]) fill(ctx context.Context) error {
	return p.each(func(i int) error {
		d := p.parts[i]
		ptr := p.c.RowPtr[d.lo : d.hi+1]
		return d.Fill(ctx, ptr, p.c.ColIdx[ptr[0]:ptr[len(ptr)-1]], p.c.Val[ptr[0]:ptr[len(ptr)-1]])
	})
}

// Result returns C. Update overwrites its values.
func (p *Plan[V]) Result() *sparse.CSR[V] { return p.c }

// Update computes A B again, with matrices of the same structure. After an error other than that of ctx, the parts on devices
// with their own memory are unusable.
func (p *Plan[V]) Update(ctx context.Context, a, b *sparse.CSR[V]) error {
	on := p.now(ctx)
	if p.parts == nil {
		if p.pattern == nil {
			p.pattern = spgemm.PatternOf(on, p.a, p.b, p.c)
		}
		return errors.Join(spgemm.NumericOn(on, p.pattern, a, b, p.c.Val), p.failed)
	}
	begin := time.Now()
	changed := func(now, before []V) []V {
		if len(now) == 0 || &now[0] == &before[0] {
			return nil
		}
		return now
	}
	valA, valB := changed(a.Val, p.a.Val), changed(b.Val, p.b.Val)
	p.a, p.b = a, b // even if the update ends early: the devices have these values, or are unusable
	err := p.each(func(i int) error { return p.parts[i].Update(valA, valB) })
	if err == nil {
		err = p.fill(ctx)
	}
	p.Timing.Compute = time.Since(begin)
	return err
}

// Bytes returns the memory on devices with their own memory.
func (p *Plan[V]) Bytes() (sum int64) {
	for _, d := range p.parts {
		if d != nil {
			sum += d.Bytes()
		}
	}
	return sum
}

// Close frees the memory of the devices.
func (p *Plan[V]) Close() error {
	return p.each(func(i int) error { return p.parts[i].Close() })
}

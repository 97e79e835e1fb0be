package cpu

import (
	"errors"
	"fmt"
	"time"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/form"
	"github.com/msrep-go/msrep/kernels/cpu/inspect"
	"github.com/msrep-go/msrep/sparse"
)

// defaultProducts is how many products a packed part is made for when nobody says.
const defaultProducts = 100

// trials is how many products time a form: one warms up.
const trials = 2

// trial is the bodies of all pieces in one form, with the memory they hold.
type trial[V sparse.Value] struct {
	bodies []form.Form[V]
	mem    *arena
	took   time.Duration // one product
}

// choose packs the pieces: in the form that is named, or in the fastest of those
// that the inspector suggests and that can be built and timed within the budget.
func (p *packed[V]) choose(op *kernels.Packing[V]) error {
	if err := p.each(func(q *piece[V]) error {
		return q.buildEnds(&form.Memory{Alloc: p.ends.take}, op.InPlace)
	}); err != nil {
		return err
	}
	if op.Precision.Segments != 0 || op.Form != "" && op.Form != kernels.FormAuto {
		return p.named(op)
	}
	products := op.Products
	if products == 0 {
		products = defaultProducts
	}
	best, err := p.build(inspect.CSR[V](op.InPlace))
	if err != nil {
		return err
	}
	p.take(best, kernels.FormCSR, "a few products do not repay the search for another form")
	if products < 2 || p.part.NNZ() < inspect.MinNNZ {
		return nil
	}
	return p.search(op, best, products)
}

// named packs in the form that the caller names.
func (p *packed[V]) named(op *kernels.Packing[V]) error {
	c, err := inspect.Named[V](op.Form, op.Precision, op.InPlace)
	if err != nil {
		return err
	}
	t, err := p.build(c)
	if err != nil {
		return err
	}
	p.take(t, c.Form, "asked for")
	return nil
}

// search times the candidates one after the other and keeps the fastest.
func (p *packed[V]) search(op *kernels.Packing[V], best *trial[V], products int) error {
	bodies := make([]form.Rows[V], len(p.pieces))
	for i := range p.pieces {
		bodies[i] = p.pieces[i].rows.body
	}
	v, err := p.vectors()
	defer v.mem.free()
	if errors.Is(err, kernels.ErrOutOfMemory) { // plain CSR needs no more
		return nil
	}
	if err != nil {
		return err
	}
	if best.took, err = p.time(v, best); err != nil {
		return err
	}
	csr := best.took
	start := time.Now()
	p.take(best, kernels.FormCSR, "no other form is likely to be faster")
	p.info.Tried = []kernels.PackTrial{{Form: kernels.FormCSR, Why: "the rows as they are", Product: csr, Bytes: best.mem.bytes()}}
	for _, c := range inspect.Candidates(bodies) {
		if op.Stop != nil {
			if err := op.Stop(); err != nil {
				return err
			}
		}
		p.info.Tried = append(p.info.Tried, kernels.PackTrial{Form: c.Form, Why: c.Why})
		tried := &p.info.Tried[len(p.info.Tried)-1]
		spent := float64(time.Since(start)) / float64(csr)
		cost := c.Nanos*float64(p.part.NNZ())/float64(len(p.pieces))/float64(csr) + trials
		if budget := c.Budget(products); spent+cost > budget {
			tried.Skipped = fmt.Sprintf("making it takes about %.0f products, and %.0f of %.0f are spent", cost, spent, budget)
			continue
		}
		begin := time.Now()
		t, err := p.build(c)
		tried.Build = time.Since(begin)
		switch {
		case sparse.IsInput(err), errors.Is(err, kernels.ErrOutOfMemory):
			tried.Skipped = err.Error()
			continue
		case err != nil:
			return err
		}
		if t.took, err = p.time(v, t); err != nil {
			return errors.Join(err, t.mem.free())
		}
		tried.Product, tried.Bytes = t.took, t.mem.bytes()
		if t.took >= best.took {
			if err := t.mem.free(); err != nil {
				return err
			}
			continue
		}
		if err := best.mem.free(); err != nil {
			return errors.Join(err, t.mem.free())
		}
		best = t
		p.take(best, c.Form, fmt.Sprintf("%s; %.2f times as fast as csr", c.Why, float64(csr)/float64(t.took)))
	}
	return nil
}

// take makes a trial the form of the part.
func (p *packed[V]) take(t *trial[V], f kernels.Form, why string) {
	p.mem = t.mem
	p.info.Form, p.info.Why, p.info.Padding = f, why, 0
	if name := t.bodies[0].Name(); name != string(f) { // with its parameters, and how values are stored
		p.info.Why = name + ": " + why
	}
	for i := range p.pieces {
		p.pieces[i].body = t.bodies[i]
		p.info.Padding += t.bodies[i].Padding()
	}
}

// build makes the form of all bodies, each by the worker that will multiply it.
func (p *packed[V]) build(c inspect.Candidate[V]) (*trial[V], error) {
	t := &trial[V]{bodies: make([]form.Form[V], len(p.pieces)), mem: &arena{dev: p.dev}}
	errs := make([]error, len(p.pieces))
	err := p.dev.pool.run(len(p.pieces), func(i int) {
		rows := p.pieces[i].rows.body
		rows.Mem = &form.Memory{Alloc: t.mem.take}
		t.bodies[i], errs[i] = c.Build(rows)
	})
	if err = first(append(errs, err)); err != nil {
		return nil, errors.Join(err, t.mem.free())
	}
	return t, nil
}

// each serves all pieces, each by the worker that will multiply it.
func (p *packed[V]) each(f func(q *piece[V]) error) error {
	errs := make([]error, len(p.pieces))
	err := p.dev.pool.run(len(p.pieces), func(i int) { errs[i] = f(&p.pieces[i]) })
	return first(append(errs, err))
}

// first is the first error: workers mostly fail for the same reason.
func first(errs []error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// trialVectors is x and y to time products with.
type trialVectors[V sparse.Value] struct {
	x, y []V
	mem  *arena
}

func (p *packed[V]) vectors() (trialVectors[V], error) {
	v := trialVectors[V]{mem: &arena{dev: p.dev}}
	rows := int64(p.part.OwnEnd - p.part.OwnFirst)
	b, err := v.mem.take((int64(p.minors) + rows + 64) * mem.Size[V]())
	if err != nil {
		return v, err
	}
	all, _ := mem.Slice[V](b, int64(p.minors)+rows+64)
	v.x, v.y = all[:p.minors], all[p.minors+64:]
	for i := range v.x {
		v.x[i] = 1
	}
	return v, nil
}

// time is how long a product takes, after one that warms up.
func (p *packed[V]) time(v trialVectors[V], t *trial[V]) (took time.Duration, err error) {
	for range trials {
		begin := time.Now()
		err := p.dev.pool.run(len(p.pieces), func(i int) {
			q := &p.pieces[i]
			first := q.part.OwnFirst - p.part.OwnFirst
			t.bodies[i].Multiply(1, 0, v.x, v.y[first:first+q.n])
		})
		if err != nil {
			return 0, err
		}
		took = time.Since(begin)
	}
	return max(took, 1), nil
}

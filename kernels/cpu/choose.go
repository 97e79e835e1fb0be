package cpu

import (
	"errors"
	"fmt"
	"time"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/kernels/cpu/internal/forms"
	"github.com/msrep-go/msrep/sparse"
)

// defaultProducts and defaultBudget are the number of products and the least search time for a packed part whose
// number of products is not stated. A matrix that fits the caches is multiplied in some microseconds, so that a
// hundred products repay no search; but a caller who plans for an unknown number of products does not notice
// defaultBudget either.
const defaultProducts = 100

// defaultBudget is replaced in tests.
var defaultBudget = 30 * time.Millisecond

const tooSmall = "too small to look for another form"

// choose packs the pieces in the form that is named, or in the fastest of those that the inspector suggests and that
// can be built and timed within the budget.
func (p *packed[V]) choose(op *kernels.Packing[V]) error {
	ends, err := forms.Named[V](kernels.FormCSR, op.Segments, op.InPlace)
	if err != nil {
		return err
	}
	if err := p.each(func(i int) error {
		p.ends[i].dev = p.dev
		return p.pieces[i].buildEnds(ends, &form.Memory{Alloc: p.ends[i].take})
	}); err != nil {
		return err
	}
	switch {
	case op.Segments.Count != 0 || op.Form != "" && op.Form != kernels.FormAuto:
		return p.named(op)
	case op.Products == 1:
		return p.plain(op, "one product does not repay the search for another form")
	case p.part.NNZ() < forms.MinNNZ && op.Fixed && (op.Products == 0 || op.Products >= defaultProducts):
		return p.sideBySide()
	case p.part.NNZ() < forms.MinNNZ:
		return p.plain(op, tooSmall)
	}
	s := newSearch(p, op)
	if s.brief() && op.Products < forms.FewestCached {
		return p.plain(op, fmt.Sprintf("%d products do not repay the search for another form", op.Products))
	}
	return s.run()
}

// named packs in the form that the caller named.
func (p *packed[V]) named(op *kernels.Packing[V]) error {
	old, again := op.Previous.(*packed[V])
	c, err := forms.Named[V](op.Form, op.Segments, op.InPlace)
	if err != nil {
		return err
	}
	why := "asked for"
	if again {
		why = "as before"
	}
	if again && c.Form != kernels.FormCSR && c.Form == old.built.Form {
		c = old.built // a form may be built in several ways
	}
	if err = p.make(c, why); again && sparse.IsInput(err) {
		return p.plain(op, fmt.Sprintf("%s do not suit the new values", op.Form))
	}
	return err
}

// plain leaves the rows in CSR.
func (p *packed[V]) plain(op *kernels.Packing[V], why string) error {
	return p.make(forms.CSR[V](op.InPlace), why)
}

// sideBySide packs in slices. Plain CSR adds up a row with sums of a fixed shape entry by entry, which is slower.
func (p *packed[V]) sideBySide() error {
	c, err := forms.Named[V](forms.FormSlices, kernels.Segments{}, false)
	if err != nil {
		return err
	}
	return p.make(c, tooSmall)
}

// make builds a form of all pieces and takes it.
func (p *packed[V]) make(c forms.Candidate[V], why string) error {
	t, err := p.build(c, p.bodies(), p.newArena(1))
	if err != nil {
		return err
	}
	return p.take(t, c, why)
}

// bodies returns the whole rows of every piece.
func (p *packed[V]) bodies() [][]form.Rows[V] {
	out := make([][]form.Rows[V], len(p.pieces))
	for i := range p.pieces {
		out[i] = []form.Rows[V]{p.pieces[i].rows.body}
	}
	return out
}

// take makes a trial of all rows the form of the part.
func (p *packed[V]) take(t trial[V], c forms.Candidate[V], why string) error {
	p.mem, p.built = t.mem, c
	p.info.Form, p.info.Why, p.info.Padding, p.info.Bytes = c.Form, why, 0, t.mem.bytes()+p.ends.bytes()
	if name := t.forms[0][0].Name(); name != string(c.Form) { // the name with its parameters and the storage of its values
		p.info.Why = name + ": " + why
	}
	for i := range p.pieces {
		p.pieces[i].body = t.forms[i][0]
		p.info.Padding += t.forms[i][0].Padding()
	}
	return p.mem.seal()
}

// trial is stretches of rows of all pieces in one form, and the memory that they take.
type trial[V sparse.Value] struct {
	forms [][]form.Form[V] // of each piece
	mem   arena
	took  time.Duration // time to build it, less the time spent waiting for memory or a CPU
}

// newArena returns an arena in which to build the given fraction of the rows. It has addresses for twice the memory
// of the rows, enough for most forms. A sample asks for at least half of its fraction, and so leaves kept memory of a
// whole form to a form that is built whole meanwhile.
func (p *packed[V]) newArena(fraction float64) arena {
	a := make(arena, len(p.pieces))
	for i := range p.pieces {
		r := &p.pieces[i].rows.body
		bytes := (4+mem.Size[V]())*int64(len(r.Idx)) + 8*int64(len(r.Ptr))
		need := bytes
		if fraction < 1 {
			need = int64(fraction / 2 * float64(bytes))
		}
		a[i] = newSlab(p.dev, need, 2*bytes)
	}
	return a
}

// build makes the form of stretches of rows in an empty arena. Each worker builds the stretches that it will
// multiply. If build fails, the arena is empty again.
func (p *packed[V]) build(c forms.Candidate[V], rows [][]form.Rows[V], in arena) (trial[V], error) {
	t := trial[V]{forms: make([][]form.Form[V], len(rows)), mem: in}
	w, err := p.eachTimed(func(i int) error {
		for _, r := range rows[i] {
			r.Mem = &form.Memory{Alloc: in[i].take, Mark: in[i].mark, Count: in[i].count}
			f, err := c.Build(r)
			if err != nil {
				return err
			}
			t.forms[i] = append(t.forms[i], f)
		}
		return nil
	})
	if err != nil {
		return trial[V]{}, errors.Join(err, in.free())
	}
	t.took = max(w.took-in.waited(), 0)
	return t, nil
}

// each calls f for all pieces, for each piece on the worker that will multiply it.
func (p *packed[V]) each(f func(i int) error) error {
	errs := make([]error, len(p.pieces))
	err := p.dev.pool.run(len(p.pieces), func(i int) { errs[i] = f(i) })
	return first(append(errs, err))
}

// eachTimed is each with the time that the workers took.
func (p *packed[V]) eachTimed(f func(i int) error) (work, error) {
	errs := make([]error, len(p.pieces))
	w, err := p.dev.pool.timed(len(p.pieces), func(i int) { errs[i] = f(i) })
	return w, first(append(errs, err))
}

// first returns the first error; workers mostly fail for the same reason.
func first(errs []error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

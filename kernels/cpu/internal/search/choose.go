// Package search chooses the form of the rows of a part: it builds those that package forms suggests on a sample, times
// products of them within a budget, and builds the fastest whole.
package search

import (
	"errors"
	"fmt"
	"time"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/kernels/cpu/internal/forms"
	"github.com/msrep-go/msrep/kernels/cpu/internal/memory"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// defaultProducts and DefaultBudget are the number of products and the least search time for a packed part whose
// number of products is not stated. A matrix that fits the caches is multiplied in some microseconds, so that a
// hundred products repay no search; but a caller who plans for an unknown number of products does not notice
// DefaultBudget either.
const defaultProducts = 100

// DefaultBudget is the least search time. Tests replace it.
var DefaultBudget = 30 * time.Millisecond

const tooSmall = "too small to look for another form"

// Part is the rows of a part of a matrix, cut among the workers.
type Part[V sparse.Value] struct {
	partition.Part
	Mem    *memory.Memory
	Minors int
	Fixed  bool // sums have a fixed shape
	Bodies []Body[V]
}

// Body is the rows that one worker multiplies. First is the place of the first of them in the y of the part.
type Body[V sparse.Value] struct {
	form.Rows[V]
	First int
}

// Choice is the form that was chosen. It may be nil in a part in which a search failed.
type Choice[V sparse.Value] struct {
	Info  kernels.PackInfo
	Forms []form.Form[V]     // of the bodies
	Built forms.Candidate[V] // how the forms were built
	Arena memory.Arena       // memory of the forms
}

// choosing is a choice that is being made for a part.
type choosing[V sparse.Value] struct {
	Part[V]
	Choice[V]
}

// Choose builds the rows in the form that is named, or in the fastest of those that package forms suggests and that
// can be built and timed within the budget. old is the choice for the same rows with other values, nil if there was
// none. The caller frees the memory of the choice, also if Choose fails.
func Choose[V sparse.Value](rows Part[V], op *kernels.Packing[V], old *Choice[V]) (Choice[V], error) {
	p := &choosing[V]{Part: rows}
	err := p.choose(op, old)
	return p.Choice, err
}

func (p *choosing[V]) choose(op *kernels.Packing[V], old *Choice[V]) error {
	switch {
	case op.Segments.Count != 0 || op.Form != "" && op.Form != kernels.FormAuto:
		return p.named(op, old)
	case op.Products == 1:
		return p.plain(op, "one product does not repay the search for another form")
	case p.NNZ() < forms.MinNNZ && op.Fixed && (op.Products == 0 || op.Products >= defaultProducts):
		return p.sideBySide()
	case p.NNZ() < forms.MinNNZ:
		return p.plain(op, tooSmall)
	}
	s := newSearch(p, op)
	if n := op.Products; n > 0 && n < forms.Fewest || s.brief() && n < forms.FewestCached {
		return p.plain(op, fmt.Sprintf("%d products do not repay the search for another form", n))
	}
	return s.run()
}

// named packs in the form that the caller named.
func (p *choosing[V]) named(op *kernels.Packing[V], old *Choice[V]) error {
	again := old != nil
	c, err := forms.Named[V](op.Form, op.Segments, op.InPlace)
	if err != nil {
		return err
	}
	why := "asked for"
	if again {
		why = "as before"
	}
	if again && c.Form != kernels.FormCSR && c.Form == old.Built.Form {
		c = old.Built // a form may be built in several ways
	}
	if err = p.make(c, why); again && sparse.IsInput(err) {
		return p.plain(op, fmt.Sprintf("%s do not suit the new values", op.Form))
	}
	return err
}

// plain leaves the rows in CSR.
func (p *choosing[V]) plain(op *kernels.Packing[V], why string) error {
	return p.make(forms.CSR[V](op.InPlace), why)
}

// sideBySide packs in slices. Plain CSR adds up a row with sums of a fixed shape entry by entry, which is slower.
func (p *choosing[V]) sideBySide() error {
	c, err := forms.Named[V](forms.FormSlices, kernels.Segments{}, false)
	if err != nil {
		return err
	}
	return p.make(c, tooSmall)
}

// make builds a form of all bodies and takes it.
func (p *choosing[V]) make(c forms.Candidate[V], why string) error {
	t, err := p.build(c, p.bodies(), p.newArena(1))
	if err != nil {
		return err
	}
	return p.take(t, c, why)
}

// bodies returns the rows of every worker.
func (p *choosing[V]) bodies() [][]form.Rows[V] {
	out := make([][]form.Rows[V], len(p.Bodies))
	for i := range p.Bodies {
		out[i] = []form.Rows[V]{p.Bodies[i].Rows}
	}
	return out
}

// take makes a trial of all rows the form of the part.
func (p *choosing[V]) take(t trial[V], c forms.Candidate[V], why string) error {
	p.Arena, p.Built = t.mem, c
	p.Info.Form, p.Info.Why, p.Info.Padding, p.Info.Bytes = c.Form, why, 0, t.mem.Bytes()
	if name := t.forms[0][0].Name(); name != string(c.Form) { // the name with its parameters and the storage of its values
		p.Info.Why = name + ": " + why
	}
	for _, f := range t.forms {
		p.Forms = append(p.Forms, f[0])
		p.Info.Padding += f[0].Padding()
	}
	return p.Arena.Seal()
}

// trial is stretches of rows of all pieces in one form, and the memory that they take.
type trial[V sparse.Value] struct {
	forms [][]form.Form[V] // of each piece
	mem   memory.Arena
	took  time.Duration // time to build it, less the time spent waiting for memory or a CPU
}

// newArena returns an memory.Arena in which to build the given fraction of the rows. It has addresses for twice the memory
// of the rows, enough for most forms. A sample asks for at least half of its fraction, and so leaves kept memory of a
// whole form to a form that is built whole meanwhile.
func (p *choosing[V]) newArena(fraction float64) memory.Arena {
	a := make(memory.Arena, len(p.Bodies))
	for i := range p.Bodies {
		r := &p.Bodies[i]
		bytes := (4+mem.Size[V]())*int64(len(r.Idx)) + 8*int64(len(r.Ptr))
		need := bytes
		if fraction < 1 {
			need = int64(fraction / 2 * float64(bytes))
		}
		a[i] = memory.NewSlab(p.Mem, need, 2*bytes)
	}
	return a
}

// build makes the form of stretches of rows in an empty memory.Arena. Each worker builds the stretches that it will
// multiply. If build fails, the memory.Arena is empty again.
func (p *choosing[V]) build(c forms.Candidate[V], rows [][]form.Rows[V], in memory.Arena) (trial[V], error) {
	t := trial[V]{forms: make([][]form.Form[V], len(rows)), mem: in}
	w, err := p.Mem.Pool.EachTimed(len(rows), func(i int) error {
		for _, r := range rows[i] {
			r.Mem = &form.Memory{Alloc: in[i].Take, Mark: in[i].Mark, Count: in[i].Count}
			f, err := c.Build(r)
			if err != nil {
				return err
			}
			t.forms[i] = append(t.forms[i], f)
		}
		return nil
	})
	if err != nil {
		return trial[V]{}, errors.Join(err, in.Free())
	}
	t.took = max(w.Took-in.Waited(), 0)
	return t, nil
}

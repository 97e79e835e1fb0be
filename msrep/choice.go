package msrep

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
)

// Choice is the forms that a plan has chosen for the parts of its matrix, as a line of text; "" is none.
// Plan.Choice gives it and PlanOptions.Storage.Choice takes it, so that a later plan of a matrix with the same structure, on
// devices of the same kinds, does not look for forms again. It says what it was made for:
//
//	msrep-choice rows=3 cols=4 nnz=3 values=float64 cpu/2=slices transposed cpu/2=tiles
//
// A device is its kind and its number of threads, with the form of its part, or "-" where the part is not packed. What
// follows "transposed" is for products with the transposed matrix, where the plan keeps that as well.
type Choice string

const (
	choiceHead       = "msrep-choice"
	choiceTransposed = "transposed"
	choiceUnpacked   = kernels.Form("-")
)

// Choice is the forms of the parts as they are now; "" for a plan that is closed.
func (p *Plan[V]) Choice() Choice {
	if p == nil || p.sys == nil {
		return ""
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return ""
	}
	words := append([]string{choiceHead}, p.choiceOf()...)
	words = append(words, p.deviceForms()...)
	if q := p.transposed; q != nil {
		q.mu.Lock()
		defer q.mu.Unlock()
		words = append(append(words, choiceTransposed), q.deviceForms()...)
	}
	return Choice(strings.Join(words, " "))
}

// choiceOf is the words of a choice that tell the matrix.
func (p *Plan[V]) choiceOf() []string {
	rows, cols := p.Dims()
	return strings.Fields(fmt.Sprintf("rows=%d cols=%d nnz=%d values=%s", rows, cols, p.nnz, reflect.TypeFor[V]()))
}

// deviceForms is the words of a choice that tell the forms of the parts of a plan that is locked.
func (p *Plan[V]) deviceForms() (out []string) {
	for _, s := range p.shares {
		f := choiceUnpacked
		if s.packed != nil {
			f = s.packed.Info().Form
		}
		out = append(out, s.choiceName()+"="+string(f))
	}
	return out
}

// choiceName is what a choice calls the device.
func (s *share[V]) choiceName() string {
	i := s.dev.Info()
	return fmt.Sprintf("%s/%d", i.Kind, i.Threads)
}

// chosen is the forms that the choice of the options names, by share; nil where it is "". A choice that was made
// for another matrix or other devices is an error. That of a transposed matrix begins with the word for it, and has
// no forms where none were kept.
func (p *Plan[V]) chosen() ([]kernels.Form, error) {
	words := strings.Fields(string(p.opt.Storage.Choice))
	if len(words) == 0 {
		return nil, nil
	}
	if words[0] != choiceHead {
		return nil, sparse.Inputf("choice", "%.80q is none: it must begin with %q", string(p.opt.Storage.Choice), choiceHead)
	}
	matrix := p.choiceOf()
	if len(words) < 1+len(matrix) || !slices.Equal(words[1:1+len(matrix)], matrix) {
		return nil, sparse.Inputf("choice", "is for another matrix: %.80q must have %q", string(p.opt.Storage.Choice), strings.Join(matrix, " "))
	}
	forms := words[1+len(matrix):]
	at := slices.Index(forms, choiceTransposed)
	switch {
	case p.opt.ofTransposed && at < 0:
		return nil, nil
	case p.opt.ofTransposed:
		forms = forms[at+1:]
	case at >= 0:
		forms = forms[:at]
	}
	out := make([]kernels.Form, len(p.shares))
	var want []string
	for i, s := range p.shares {
		name := s.choiceName() + "="
		want = append(want, name+"FORM")
		if i < len(forms) && strings.HasPrefix(forms[i], name) {
			out[i] = kernels.Form(strings.TrimPrefix(forms[i], name))
		}
	}
	if len(forms) != len(out) || slices.Contains(out, "") {
		return nil, sparse.Inputf("choice", "is for other devices: %.80q must have %q", strings.Join(forms, " "), strings.Join(want, " "))
	}
	return out, nil
}

// packAs packs the part in the form that a choice names, by pack.
func (s *share[V]) packAs(form kernels.Form, o PlanOptions, pack func(PlanOptions) error) error {
	o.form = form
	if form == choiceUnpacked {
		o.form = ""
	}
	err := pack(o)
	switch {
	case sparse.IsInput(err):
		return sparse.Inputf("choice", "the form %s does not suit the matrix on device %s: %v", form, s.dev.Info().ID, err)
	case err == nil && s.packed != nil && s.packed.Info().Form != form:
		return sparse.Inputf("choice", "the form %s does not suit the matrix on device %s", form, s.dev.Info().ID)
	}
	return err
}

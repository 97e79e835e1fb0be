package msrep

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/msrep/internal/layout"
	"github.com/msrep-go/msrep/sparse"
)

// Choice lists the forms that a plan has chosen for the parts of its matrix, as one line of text; "" means no choice.
// Plan.Choice returns it. With PlanOptions.Storage.Choice, a later plan of a matrix of the same structure, on devices
// of the same kinds, uses these forms and does not search. The text also names the matrix and the devices:
//
//	msrep-choice rows=3 cols=4 nnz=3 values=float64 cpu/2=slices transposed cpu/2=tiles
//
// Each device is written as kind/threads=form, with "-" as the form of a part that is not packed. If the plan also
// stores the transposed matrix, the forms of its parts follow the word "transposed".
type Choice string

const (
	choiceHead       = "msrep-choice"
	choiceTransposed = "transposed"
	choiceUnpacked   = kernels.Form("-")
)

// Choice returns the current forms of the parts; "" if the plan is closed.
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

// choiceOf returns the words of a choice that describe the matrix.
func (p *Plan[V]) choiceOf() []string {
	rows, cols := p.Dims()
	return strings.Fields(fmt.Sprintf("rows=%d cols=%d nnz=%d values=%s", rows, cols, p.nnz, reflect.TypeFor[V]()))
}

// deviceForms returns the words of a choice that describe the devices and forms. The caller holds the lock of p.
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

// choiceName returns the name of the device in a choice.
func (s *share[V]) choiceName() string {
	i := s.dev.Info()
	return fmt.Sprintf("%s/%d", i.Kind, i.Threads)
}

// choiceForms returns the form that Storage.Choice names for each share; nil if the choice is "", or if p is the plan
// of a transposed matrix and the choice has no forms for it. A choice for another matrix or other devices is an
// error.
func (p *Plan[V]) choiceForms() ([]kernels.Form, error) {
	words := strings.Fields(string(p.opt.Storage.Choice))
	if len(words) == 0 {
		return nil, nil
	}
	if words[0] != choiceHead {
		return nil, sparse.Inputf("choice", "%.80q is not a choice: it must begin with %q", string(p.opt.Storage.Choice), choiceHead)
	}
	matrix := p.choiceOf()
	if len(words) < 1+len(matrix) || !slices.Equal(words[1:1+len(matrix)], matrix) {
		return nil, sparse.Inputf("choice", "is for another matrix: %.80q must have %q", string(p.opt.Storage.Choice), strings.Join(matrix, " "))
	}
	forms := words[1+len(matrix):]
	at := slices.Index(forms, choiceTransposed)
	switch {
	case p.opt.nestedTransposed && at < 0:
		return nil, nil
	case p.opt.nestedTransposed:
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

// packAs is pack with the form that a choice names. It checks that the result has this form.
func (s *share[V]) packAs(ctx context.Context, form kernels.Form, l *layout.Matrix[V], o PlanOptions) (kernels.Packed, error) {
	o.form = form
	if form == choiceUnpacked {
		o.form = ""
	}
	packed, err := s.pack(ctx, l, o, nil)
	switch {
	case sparse.IsInput(err):
		err = sparse.Inputf("choice", "the form %s does not suit the matrix on device %s: %v", form, s.dev.Info().ID, err)
	case err == nil && packed != nil && packed.Info().Form != form:
		err = sparse.Inputf("choice", "the form %s does not suit the matrix on device %s", form, s.dev.Info().ID)
	}
	return packed, err
}

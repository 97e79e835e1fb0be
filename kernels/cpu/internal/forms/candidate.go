// Package forms lists the forms of rows. It looks at rows of a matrix and suggests the forms in which they are likely to multiply fast on a
// CPU.
//
// At samples a piece: it estimates how often the columns miss x in the caches, and what blocks, diagonals, runs and
// panels would take. Candidates returns the forms for such pieces, the most likely first; package cpu builds and
// times them. Sizes are bytes for each entry. Times are products of the rows in plain CSR, so that they mean the same
// on machines of any speed.
package forms

import (
	"fmt"
	"slices"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/cpms"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/csr"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/ell"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/ellpack"
)

// MinNNZ is the number of entries from which the search for a form pays. Below it the whole matrix lies in the cache
// of a core.
const MinNNZ = 1 << 12

// These are the forms of package form, with their constructors.
const (
	FormSlices    kernels.Form = "slices"    // NewSlices
	FormDiagonals kernels.Form = "diagonals" // NewDiagonals
	FormBlocks    kernels.Form = "blocks"    // NewBlocks
	FormTiles     kernels.Form = "tiles"     // NewTiles
)

// Choices returns the names of the forms that a device chooses from when no form is named.
func Choices() []kernels.Form {
	return []kernels.Form{kernels.FormCSR, FormSlices, FormDiagonals, FormBlocks, FormTiles}
}

// Forms returns the names of all forms.
func Forms() []kernels.Form {
	all := Choices()
	for _, f := range ellpack.Formats() { // form.NewEll builds them
		all = append(all, kernels.Form(f))
	}
	return all
}

// Candidate is a form that may suit a matrix.
type Candidate[V sparse.Value] struct {
	Form   kernels.Form
	Why    string  // the property of the matrix that suggests the form
	Bytes  float64 // bytes that a product reads for each entry; 0 if these do not decide
	Large  bool    // it saves more than others and may take twice the time
	Cached Cached  // expected cost if all of the form stays in the caches

	// SteadierThan is a form with less steady products: they take longer at other times or with several vectors than
	// when they were timed. This candidate is taken instead unless it is clearly slower.
	SteadierThan kernels.Form
	Build        func(form.Rows[V]) (form.Form[V], error)
}

// Budget returns the time, in products of plain CSR, that all building and timing up to this candidate may take: 15
// for 100 products, 30 for large forms, and in proportion for other numbers.
func (c Candidate[V]) Budget(products int) float64 {
	b := 0.15 * float64(products)
	if c.Large {
		return 2 * b
	}
	return b
}

// CSR returns the rows as they are, in place if the caller allows it.
func CSR[V sparse.Value](inPlace bool) Candidate[V] {
	return Candidate[V]{Form: kernels.FormCSR, Build: func(r form.Rows[V]) (form.Form[V], error) {
		if !inPlace {
			var err error
			if r, err = form.Copy(r); err != nil {
				return nil, err
			}
		}
		return csr.NewCSR(r), nil
	}}
}

// Named returns the form of that name. It fails with an error that wraps kernels.ErrNotSupported if there is none,
// and with a *sparse.InputError for a precision that the values do not have.
func Named[V sparse.Value](name kernels.Form, p kernels.Segments, inPlace bool) (Candidate[V], error) {
	builds := map[kernels.Form]func(form.Rows[V]) (form.Form[V], error){
		FormSlices: newSlices[V], FormDiagonals: newDiagonals[V], FormBlocks: namedBlocks[V], FormTiles: newTiles[V],
	}
	c := Candidate[V]{Form: name, Build: builds[name]}
	switch {
	case p.Count != 0:
		return segments[V](name, p)
	case name == kernels.FormCSR:
		return CSR[V](inPlace), nil
	case slices.Contains(ellpack.Formats(), sparse.Format(name)):
		c.Build = func(r form.Rows[V]) (form.Form[V], error) { return ell.NewEll(name, r) }
	case c.Build == nil:
		return c, fmt.Errorf("%w: form %q", kernels.ErrNotSupported, name)
	}
	return c, nil
}

// segments returns the form of that name with values in segments (the CPMS paper): csr or ell. An empty name means
// csr.
func segments[V sparse.Value](name kernels.Form, p kernels.Segments) (Candidate[V], error) {
	if name == "" || name == kernels.FormAuto {
		name = cpms.FormCPMSRows
	}
	c := Candidate[V]{Form: name, Build: func(r form.Rows[V]) (form.Form[V], error) {
		f, err := cpms.NewCPMS(name, any(r).(form.Rows[float64]), p, 0)
		if err != nil {
			return nil, err
		}
		return any(f).(form.Form[V]), nil
	}}
	var v V
	if _, ok := any(v).(float64); !ok {
		return c, sparse.Inputf("precision", "%d of %d segments: only float64 values have segments", p.Read, p.Count)
	}
	return c, nil
}

// Package forms lists the forms in which a CPU device stores rows, looks at rows of a matrix and suggests the forms in
// which they are likely to multiply fast.
//
// At samples a piece: it estimates how often the columns miss x in the caches, and asks each form what it finds.
// Candidates returns the forms for such pieces, the most likely first; package cpu builds and times them. Sizes are
// bytes for each entry. Times are products of the rows in plain CSR, so that they mean the same on machines of any
// speed. What concerns one form is in the package of that form.
package forms

import (
	"fmt"
	"strings"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/blocks"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/cpms"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/csr"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/diagonals"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/ell"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/slices"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/tiles"
	"github.com/msrep-go/msrep/sparse"
)

// Kinds is the list of the forms, in the order in which messages name them.
func Kinds[V sparse.Value]() []form.Kind[V] {
	return append([]form.Kind[V]{
		csr.Kind[V](),
		slices.Kind[V](),
		diagonals.Kind[V](),
		blocks.Kind[V](),
		tiles.Kind[V](),
	}, ell.Kinds[V]()...)
}

// These are the names of forms of which package cpu and its tests speak.
const (
	FormSlices    kernels.Form = slices.Name
	FormDiagonals kernels.Form = diagonals.Name
	FormBlocks    kernels.Form = blocks.Name
	FormTiles     kernels.Form = tiles.Name
)

// MinNNZ is the number of entries from which the search for a form pays. Below it the whole matrix lies in the cache
// of a core.
const MinNNZ = 1 << 12

// Fewest is the number of products below which no form is worth trying: looking at the rows and timing CSR take some three
// products, of which 15 % of all may be spent. FewestCached is that number while the rows stay in the caches, where they take
// some six products.
const (
	Fewest       = 30
	FewestCached = 60
)

// Candidate is a form that may suit a matrix.
type Candidate[V sparse.Value] = form.Candidate[V]

// Cached is the expected cost of a form in the caches.
type Cached = form.Cached

// Look is what samples show of a piece of a matrix.
type Look = form.Look

// names returns the names of the kinds that pick accepts.
func names(pick func(k *form.Kind[float64]) bool) (out []kernels.Form) {
	for _, k := range Kinds[float64]() {
		if pick(&k) {
			out = append(out, k.Name)
		}
	}
	return out
}

// Forms returns the names of all forms.
func Forms() []kernels.Form { return names(func(*form.Kind[float64]) bool { return true }) }

// Choices returns the names of the forms that a device chooses from when no form is named.
func Choices() []kernels.Form {
	return names(func(k *form.Kind[float64]) bool { return k.Suit != nil || k.Name == kernels.FormCSR })
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
	switch {
	case p.Count != 0:
		return segments[V](name, p)
	case name == kernels.FormCSR:
		return CSR[V](inPlace), nil
	}
	for _, k := range Kinds[V]() {
		if k.Name == name {
			return Candidate[V]{Form: name, Build: func(r form.Rows[V]) (form.Form[V], error) {
				if r.Fixed && !k.Fixed {
					return nil, sparse.Inputf("format", "%q sums in an order of its own: sums of a fixed shape have %s", string(name), fixedNames())
				}
				return k.Make(r)
			}}, nil
		}
	}
	return Candidate[V]{Form: name}, fmt.Errorf("%w: form %q", kernels.ErrNotSupported, name)
}

// fixedNames lists the forms that can have sums of a fixed shape.
func fixedNames() string {
	var out []string
	for _, k := range Kinds[float64]() {
		if k.Fixed {
			out = append(out, string(k.Name))
		}
	}
	last := len(out) - 1
	return strings.Join(out[:last], ", ") + " and " + out[last]
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

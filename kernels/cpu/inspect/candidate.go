// Package inspect looks at rows of a matrix and says in which forms they are likely
// to multiply fast on a CPU.
//
// At looks at samples of a piece: how often its columns miss x in the caches, and what
// blocks, diagonals, runs and panels would take. Candidates names the forms for pieces that
// look so, the likeliest first; package cpu builds and times them. Sizes are bytes for each
// entry; times are in products of the rows in plain CSR, so that they mean the same on
// machines of any speed.
package inspect

import (
	"fmt"
	"slices"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/form"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/ellpack"
)

// MinNNZ is the number of entries from which looking for a form is worth it: below
// it the whole matrix lies in the cache next to the core.
const MinNNZ = 1 << 12

// Forms of package form, by their constructors.
const (
	FormSlices    kernels.Form = "slices"    // NewSlices
	FormDiagonals kernels.Form = "diagonals" // NewDiagonals
	FormBlocks    kernels.Form = "blocks"    // NewBlocks
	FormRuns      kernels.Form = "runs"      // NewRuns
	FormTiles     kernels.Form = "tiles"     // NewTiles
	FormPanels    kernels.Form = "panels"    // NewPanels
	FormBins      kernels.Form = "bins"      // NewBins
	FormNearFar   kernels.Form = "near-far"  // NewNearFar

	// FormSymmetric is diagonals of which half are stored where the part is a symmetric
	// matrix, which the device finds out, and FormDiagonals elsewhere.
	FormSymmetric kernels.Form = "symmetric-diagonals"
	// FormSymmetricBlocks is the same of FormBlocks, where these are square.
	FormSymmetricBlocks kernels.Form = "symmetric-blocks"
)

// Whole is the form that stores all entries in place of one that stores half of those of a
// symmetric matrix, and any other form itself.
func Whole(f kernels.Form) kernels.Form {
	switch f {
	case FormSymmetric:
		return FormDiagonals
	case FormSymmetricBlocks:
		return FormBlocks
	}
	return f
}

// Choices is the names of the forms that a device chooses from by itself.
func Choices() []kernels.Form {
	return []kernels.Form{kernels.FormCSR, FormSlices, FormDiagonals, FormSymmetric, FormBlocks, FormSymmetricBlocks, FormRuns, FormPanels, FormTiles, FormBins, FormNearFar}
}

// Forms is the names of all forms.
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
	Why    string  // what of the matrix speaks for it
	Bytes  float64 // that a product reads for each entry, if nothing else will decide; otherwise 0
	Large  bool    // it may take twice the time of others: it saves more
	AllOfX bool    // each stretch of rows reads all of x once, so that a sample should be few of them
	Whole  bool    // it is timed on all rows: a sample reads much of what all of them read
	Cached Cached  // what is expected of it where all of it stays in the caches

	// Unless is a form that makes this one needless where it is the best so far.
	Unless kernels.Form
	// SteadierThan is a form whose products take longer in some moments than when they were timed, as those
	// of this one do not, or with several vectors: this one is taken instead where it is not clearly slower.
	SteadierThan kernels.Form
	Build        func(form.Rows[V]) (form.Form[V], error)
}

// Budget is how long, in products of plain CSR, all building and trying may take
// that this candidate is part of: 15 for 100 products, 30 for large ones, and in
// proportion for others.
func (c Candidate[V]) Budget(products int) float64 {
	b := 0.15 * float64(products)
	if c.Large {
		return 2 * b
	}
	return b
}

// CSR is the rows as they are, in place where the caller allows it.
func CSR[V sparse.Value](inPlace bool) Candidate[V] {
	return Candidate[V]{Form: kernels.FormCSR, Build: func(r form.Rows[V]) (form.Form[V], error) {
		if !inPlace {
			var err error
			if r, err = form.Copy(r); err != nil {
				return nil, err
			}
		}
		return form.NewCSR(r), nil
	}}
}

// Named is the form of that name. It fails with an error that wraps
// kernels.ErrNotSupported when there is none, and with a *sparse.InputError for a
// precision that the values do not have.
func Named[V sparse.Value](name kernels.Form, p kernels.Segments, inPlace bool) (Candidate[V], error) {
	name = Whole(name)
	builds := map[kernels.Form]func(form.Rows[V]) (form.Form[V], error){
		FormSlices: newSlices[V], FormDiagonals: newDiagonals[V], FormBlocks: namedBlocks[V], FormRuns: newRuns[V],
		FormTiles: newTiles[V], FormPanels: newPanels[V], FormBins: newBins[V], FormNearFar: newNearFar[V],
	}
	c := Candidate[V]{Form: name, Build: builds[name]}
	switch {
	case p.Count != 0:
		return segments[V](name, p)
	case name == kernels.FormCSR:
		return CSR[V](inPlace), nil
	case slices.Contains(ellpack.Formats(), sparse.Format(name)):
		c.Build = func(r form.Rows[V]) (form.Form[V], error) { return form.NewEll(name, r) }
	case c.Build == nil:
		return c, fmt.Errorf("%w: form %q", kernels.ErrNotSupported, name)
	}
	return c, nil
}

// segments is the form of that name with values in segments (the CPMS paper): csr
// or ell, csr when the choice is free.
func segments[V sparse.Value](name kernels.Form, p kernels.Segments) (Candidate[V], error) {
	if name == "" || name == kernels.FormAuto {
		name = form.FormCPMSRows
	}
	c := Candidate[V]{Form: name, Build: func(r form.Rows[V]) (form.Form[V], error) {
		f, err := form.NewCPMS(name, any(r).(form.Rows[float64]), p, 0)
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

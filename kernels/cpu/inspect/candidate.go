// Package inspect looks at rows of a matrix and says in which forms they are likely
// to multiply fast on a CPU.
package inspect

import (
	"errors"
	"fmt"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/form"
	"github.com/msrep-go/msrep/sparse"
)

// ErrUnsuitable says that rows do not suit a form: it would be slower, or larger
// than it is worth.
var ErrUnsuitable = errors.New("the matrix does not suit the form")

// MinNNZ is the number of entries from which looking for a form is worth it: below
// it the whole matrix lies in the cache next to the core.
const MinNNZ = 1 << 12

// Candidate is a form that may suit a matrix.
type Candidate[V sparse.Value] struct {
	Form  kernels.Form
	Why   string  // what of the matrix speaks for it
	Cost  float64 // time to build and to try it, in products of plain CSR
	Large bool    // it may take twice the time of others: it saves more
	Build func(form.Rows[V]) (form.Form[V], error)
}

// Budget is how long, in products of plain CSR, all building and trying may take
// that this candidate is part of: 15 for the default of 100 products, 30 for large
// ones, and in proportion for fewer.
func (c Candidate[V]) Budget(products int) float64 {
	b := 0.15 * float64(min(products, 1000))
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

// Named is the form of that name.
func Named[V sparse.Value](name kernels.Form, p kernels.Precision, inPlace bool) (Candidate[V], error) {
	switch name {
	case kernels.FormCSR:
		return CSR[V](inPlace), nil
	}
	return Candidate[V]{}, fmt.Errorf("%w: form %q", kernels.ErrNotSupported, name)
}

// Candidates is the forms that are likely to be faster than CSR, the most likely
// first.
func Candidates[V sparse.Value](pieces []form.Rows[V], inPlace bool) []Candidate[V] {
	return nil
}

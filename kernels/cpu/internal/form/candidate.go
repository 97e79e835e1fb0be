package form

import (
	"fmt"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
)

// Candidate is a form that may suit a matrix.
type Candidate[V sparse.Value] struct {
	Form   kernels.Form
	Why    string  // the property of the matrix that suggests the form
	Bytes  float64 // bytes that a product reads for each entry; 0 if these do not decide
	Large  bool    // it saves more than others and may take twice the time
	Turn   Turn    // when it is tried
	Cached Cached  // expected cost if all of the form stays in the caches

	// SteadierThan is a form with less steady products: they take longer at other times or with several vectors than
	// when they were timed. This candidate is taken instead unless it is clearly slower.
	SteadierThan kernels.Form
	Build        func(Rows[V]) (Form[V], error)
}

// Turn is when a candidate is tried. Candidates of the same turn are tried in the order of the list of forms.
type Turn int

// The turns in their order.
const (
	Early Turn = iota - 1
	Normal
	Late
)

// Budget returns the time, in products of plain CSR, that all building and timing up to this candidate may take: 15
// for 100 products, 30 for large forms, and in proportion for other numbers.
func (c Candidate[V]) Budget(products int) float64 {
	b := 0.15 * float64(products)
	if c.Large {
		return 2 * b
	}
	return b
}

// Cached is the expected cost of a form while the rows stay in the caches: the time of a product and of building the
// form of all rows, in products of plain CSR. The forms state costs that were measured on a Zen 5, with 145 real
// matrices of 20 thousand to 4 million entries.
type Cached struct{ Product, Build float64 }

// Trying a form takes tryProducts products beside building it. A form is tried on two conditions. Its products, if
// they are faster than expected by mayBeFaster, save mustRepay times that cost. And all costs of the search together
// are at most the fraction mayBeLost of the products.
const (
	tryProducts = 3
	mayBeFaster = .1
	mustRepay   = 1.25
	mayBeLost   = .3
)

// Repays reports whether the form is worth trying for the given number of products. best is the time of a product of
// the best form so far, and spent the cost of the search so far, both in products of plain CSR.
func (c Cached) Repays(products int, best, spent float64) bool {
	all, cost := float64(products), c.Build+tryProducts
	return all*(best-c.Product+mayBeFaster) >= mustRepay*cost && spent+cost <= mayBeLost*all
}

// An Estimate is the expected size of a form, computed from a sample of the rows.
type Estimate struct {
	EntryBytes float64 // bytes that a product reads per entry of the matrix, without x and y
	Padding    float64 // slots without an entry, per entry
}

// String returns the reason for a form with this estimate.
func (e *Estimate) String() string {
	return fmt.Sprintf("at most %.1f bytes for each entry, by a sample", e.EntryBytes)
}

// Samples is the number of ranges of rows that estimates inspect.
const Samples = 16

// NewEstimate returns the Estimate for a sample with these counts.
func NewEstimate(bytes float64, places, entries int64) Estimate {
	n := float64(max(entries, 1))
	return Estimate{EntryBytes: bytes / n, Padding: float64(places-entries) / n}
}

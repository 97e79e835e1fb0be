// Package spgemm multiplies sparse matrices by sparse matrices on CPUs, row by row (Gustavson, Two fast algorithms for
// sparse matrices, ACM TOMS 4, 1978):
//
//	row i of C = A B is the sum of A[i][k] times row k of B over the entries k of row i of A
//
// A symbolic pass finds the columns of each row, and a numeric pass computes the values in place. The symbolic pass uses the
// first of these methods that suits a row:
//
//	those of the row before     if its rows of B are the same, or each is shifted by one column (product.follows)
//	a copy of a row of B        if A's row has one entry
//	a merge                     of few rows of B (merge.go)
//	a hash table                if arrays of all columns would take too much memory (hash.go)
//	a bit for each column       (dense.go)
//
// The numeric pass adds in an array with an element for each column, or in a hash table (Nagasaka, Matsuoka, Azad, Buluc,
// High-performance sparse matrix-matrix products on Intel KNL and multicore architectures, 2018).
//
// The columns of each row of C strictly ascend. The products of an element are added in the order of A's row, then of B's
// row, and each product and each sum is rounded. So the bits depend neither on the accumulator nor on the number of
// workers. Entries whose value is 0 stay. Rows of A and B may be unsorted and have duplicates.
//
// Matrices must be valid (sparse.CSR.Validate).
package spgemm

import (
	"cmp"
	"context"
	"runtime"
	"time"

	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/sparse"
)

// Run calls f(i) for each i < n, on several workers if it has them. nil stands for par.Do.
type Run func(n int, f func(i int))

// On says where a product is computed.
type On struct {
	Context context.Context // checked between pieces of the work; nil: never ends
	Workers int             // the largest n for Run; 0: GOMAXPROCS
	Run     Run
	Timing  *Timing // set by products; may be nil
}

// Timing has the size of a product and the times of its phases.
type Timing struct {
	Multiplications int64 // see Multiplications; not set by NumericOn

	Analyze   time.Duration // counting the multiplications of each row, dividing the rows into pieces
	Structure time.Duration // symbolic pass
	Compute   time.Duration // numeric pass
}

// workers returns the number of workers for n units of work.
func (on On) workers(n int64) int {
	w := cmp.Or(on.Workers, runtime.GOMAXPROCS(0))
	return int(max(min(int64(w), n/smallWork), 1))
}

// do calls f(i) for each i < n.
func (on On) do(n int, f func(i int)) {
	if on.Run == nil || n == 1 {
		par.Do(n, f)
		return
	}
	on.Run(n, f)
}

// ended returns the error of the context.
func (on On) ended() error {
	if on.Context == nil {
		return nil
	}
	return on.Context.Err()
}

// took adds the time since *begin to *d, if Timing is set, and sets *begin.
func (on On) took(begin *time.Time, of func(t *Timing) *time.Duration) {
	now := time.Now()
	if on.Timing != nil {
		*of(on.Timing) += now.Sub(*begin)
	}
	*begin = now
}

// Multiply returns A B. It fails with a *sparse.InputError if the shapes do not match or the product does not fit into
// memory.
func Multiply[V sparse.Value](a, b *sparse.CSR[V], run Run) (*sparse.CSR[V], error) {
	return MultiplyOn(On{Run: run}, a, b)
}

// MultiplyOn is Multiply where on says. If the context ends it returns its error.
func MultiplyOn[V sparse.Value](on On, a, b *sparse.CSR[V]) (*sparse.CSR[V], error) {
	if err := fit("A", a, "B", b); err != nil {
		return nil, err
	}
	return compute(on, a, b, nil, true)
}

// Triple returns R A P = (R A) P. Each worker keeps one row of R A at a time, with its entries in the order in which their
// columns appear first; their products with P are added in this order. Its errors are those of Multiply.
func Triple[V sparse.Value](r, a, p *sparse.CSR[V], run Run) (*sparse.CSR[V], error) {
	if err := cmp.Or(fit("R", r, "A", a), fit("A", a, "P", p)); err != nil {
		return nil, err
	}
	return compute(On{Run: run}, r, a, p, true)
}

// fit returns an error if A B does not exist.
func fit[V sparse.Value](nameA string, a *sparse.CSR[V], nameB string, b *sparse.CSR[V]) error {
	switch {
	case a == nil:
		return sparse.Inputf(nameA, "is nil")
	case b == nil:
		return sparse.Inputf(nameB, "is nil")
	case a.Cols != b.Rows:
		return sparse.Inputf(nameB, "%d rows; %s has %d columns, so their product needs %[3]d", b.Rows, nameA, a.Cols)
	}
	return nil
}

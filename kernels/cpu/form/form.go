// Package form has the forms in which a CPU device keeps rows of a matrix so that
// they multiply fast. Each form is built from rows in CSR by one worker, and is
// multiplied by that worker; the device cuts its part among the workers before.
//
// All forms compute
//
//	y[r] = alpha * sum over k of val[k]*x[idx[k]] + beta*y[r]
//
// and never read y when beta is 0. An entry that is not stored takes no part in
// any sum: padding is masked out, so that NaN and infinities in x stay where they
// belong.
//
// A form NAME has its type and its product in NAME.go; NAME_find, _estimate and _plan say
// what of a matrix it would hold, _build and _fill make it, and _transposed, _many and
// _fixed are the other products. cpms, ell and symmetric are families of forms.
package form

import (
	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/sparse"
)

// Rows is rows of a CSR matrix: row r has the entries Ptr[r]-Ptr[0] <= k <
// Ptr[r+1]-Ptr[0] of Idx and Val. Its arrays belong to the caller.
type Rows[V sparse.Value] struct {
	Ptr  []int64 // rows+1
	Idx  []int32 // columns, 0 <= Idx[k] < Cols
	Val  []V
	Cols int // elements of x

	// Fixed asks for sums of the fixed shape of kernels.MajorProductFixed. A form that sums
	// in another order fails with a *sparse.InputError, and so does one whose order is
	// that of the columns where a row has its entries in another.
	Fixed bool

	// Mem is where the form takes its large arrays from, by Make: huge pages, on the
	// right NUMA node, counted and bounded. Small helpers may be on the Go heap.
	Mem *Memory
}

// at is where the entries of row i begin.
func (r *Rows[V]) at(i int) int64 { return r.Ptr[i] - r.Ptr[0] }

// entries is the columns and values of the rows from one on and below end.
func (r *Rows[V]) entries(first, end int) ([]int32, []V) {
	k, e := r.at(first), r.at(end)
	return r.Idx[k:e], r.Val[k:e]
}

// columns is the columns of row i.
func (r *Rows[V]) columns(i int) []int32 { return r.Idx[r.at(i):r.at(i+1)] }

// Form is rows of a matrix, ready to multiply.
type Form[V sparse.Value] interface {
	// Multiply computes y for all rows. x has Cols elements, y one per row; they do
	// not overlap. It is called by one goroutine at a time.
	Multiply(alpha, beta V, x, y []V)
	// MultiplyTransposed adds the products of all entries to elements of a vector y:
	//
	//	y[idx[k]] += alpha * val[k]*x[r] for every entry k of each row r
	//
	// x has one element per row. to gives a place to add to for the elements lo <= i < hi
	// of y, 0 <= lo < hi <= Cols: its first one is that for lo. The place holds until the
	// call after the next. It is called by one goroutine at a time, and not where the rows
	// were Fixed.
	MultiplyTransposed(alpha V, x []V, to func(lo, hi int) []V)
	// Bytes is the memory that the form holds beside the rows it was built from.
	Bytes() int64
	// Padding is the number of places for entries that hold none.
	Padding() int64
	// Name is "csr", "slices", ... with what matters of its parameters, in a few words.
	Name() string
}

// footprint is what a form tells of its memory.
type footprint struct{ bytes, padding int64 }

// Bytes is the memory that the form holds beside the rows it was built from.
func (f *footprint) Bytes() int64 { return f.bytes }

// Padding is the number of places for entries that hold none.
func (f *footprint) Padding() int64 { return f.padding }

// named is the name of a form with the way its values are stored, unless that is as they are.
func named(name string, values simd.Storage) string {
	if values != simd.Full {
		name += ", values " + values.String()
	}
	return name
}

// checkColumns finds indices that the kernels would follow out of x.
func checkColumns(idx []int32, cols int) error {
	if len(idx) == 0 {
		return nil
	}
	worst, most := simd.MinMax(simd.Default(), idx)
	if worst >= 0 {
		worst = most
	}
	if worst < 0 || int(worst) >= cols {
		return sparse.Inputf("matrix", "a column index %d: it must be at least 0 and below %d", worst, cols)
	}
	return nil
}

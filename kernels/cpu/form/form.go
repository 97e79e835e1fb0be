// Package form implements the forms in which a CPU device stores rows of a matrix. One worker
// builds a form from rows in CSR, and the same worker multiplies it. Before that, the device splits
// its part among the workers.
//
// All forms compute
//
//	y[r] = alpha * sum over k of val[k]*x[idx[k]] + beta*y[r]
//
// and do not read y when beta is 0. Only stored entries take part in a sum: padding is masked out,
// so that NaN and infinities in x reach only the rows that have an entry in their column.
//
// The form NAME has its type and its product in NAME.go. NAME_find, NAME_estimate and NAME_plan
// compute what the form would store of a matrix. NAME_build and NAME_fill build it.
// NAME_transposed, NAME_many and NAME_fixed are its other products. cpms, ell and symmetric are
// families of forms.
package form

import (
	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/sparse"
)

// Rows are rows of a CSR matrix: row r has the entries Ptr[r]-Ptr[0] <= k < Ptr[r+1]-Ptr[0] of Idx
// and Val. The caller owns the arrays.
type Rows[V sparse.Value] struct {
	Ptr  []int64 // rows+1
	Idx  []int32 // columns: 0 <= Idx[k] < Cols
	Val  []V
	Cols int // number of elements of x

	// Fixed requests sums of the fixed shape of kernels.MajorProductFixed. Building fails with a
	// *sparse.InputError if the form sums in another order, or if it sums in column order and the
	// entries of a row are not sorted by column.
	Fixed bool

	// Mem is the source of the form's large arrays (see Make): huge pages on the right NUMA node,
	// counted and limited. Small arrays may be on the Go heap.
	Mem *Memory
}

// at returns the index of the first entry of row i.
func (r *Rows[V]) at(i int) int64 { return r.Ptr[i] - r.Ptr[0] }

// entries returns the columns and values of the rows first <= i < end.
func (r *Rows[V]) entries(first, end int) ([]int32, []V) {
	k, e := r.at(first), r.at(end)
	return r.Idx[k:e], r.Val[k:e]
}

// columns returns the columns of row i.
func (r *Rows[V]) columns(i int) []int32 { return r.Idx[r.at(i):r.at(i+1)] }

// A Form stores rows of a matrix and multiplies them.
type Form[V sparse.Value] interface {
	// Multiply computes y for all rows. x has Cols elements and y has one element per row; they do
	// not overlap. At most one goroutine calls it at a time.
	Multiply(alpha, beta V, x, y []V)
	// MultiplyTransposed adds the products of all entries to a vector y of Cols elements:
	//
	//	y[idx[k]] += alpha * val[k]*x[r] for every entry k of each row r
	//
	// x has one element per row. to returns the slice to which the form adds the elements lo <= i <
	// hi of y, 0 <= lo < hi <= Cols; its first element is element lo. The slice is valid until to
	// has been called twice more. At most one goroutine calls MultiplyTransposed at a time. It must
	// not be called if the rows were Fixed.
	MultiplyTransposed(alpha V, x []V, to func(lo, hi int) []V)
	// Bytes returns the memory that the form holds in addition to the rows in CSR.
	Bytes() int64
	// Padding returns the number of stored slots that hold no entry.
	Padding() int64
	// Name returns "csr", "slices", ... followed by the most important parameters.
	Name() string
}

// footprint implements Bytes and Padding of a Form.
type footprint struct{ bytes, padding int64 }

// Bytes returns the memory that the form holds in addition to the rows in CSR.
func (f *footprint) Bytes() int64 { return f.bytes }

// Padding returns the number of stored slots that hold no entry.
func (f *footprint) Padding() int64 { return f.padding }

// withStorage appends the storage of the values to the name of a form, unless the storage is Full.
func withStorage(name string, values simd.Storage) string {
	if values != simd.Full {
		name += ", values " + values.String()
	}
	return name
}

// checkColumns fails if a column is outside x, because the kernels do not check columns.
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

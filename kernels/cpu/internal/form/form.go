// Package form has what the forms share in which a CPU device stores rows of a matrix: rows, values
// in fewer bytes, long rows, results, memory. Each form is a package below this one. One worker
// builds a form from rows in CSR, and the same worker multiplies it. Before that, the device splits
// its part among the workers.
//
// All forms compute
//
//	y[r] = alpha * sum over k of val[k]*x[idx[k]] + beta*y[r]
//
// and do not read y when beta is 0. Only stored entries take part in a sum: padding is masked out,
// so that NaN and infinities in x reach only the rows that have an entry in their column.
package form

import (
	"cmp"
	"sort"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/simd"
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

// At returns the index of the first entry of row i.
func (r *Rows[V]) At(i int) int64 { return r.Ptr[i] - r.Ptr[0] }

// Entries returns the columns and values of the rows first <= i < end.
func (r *Rows[V]) Entries(first, end int) ([]int32, []V) {
	k, e := r.At(first), r.At(end)
	return r.Idx[k:e], r.Val[k:e]
}

// Columns returns the columns of row i.
func (r *Rows[V]) Columns(i int) []int32 { return r.Idx[r.At(i):r.At(i+1)] }

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

// Footprint implements Bytes and Padding of a Form.
type Footprint struct{ MemoryBytes, EmptySlots int64 }

// Bytes returns the memory that the form holds in addition to the rows in CSR.
func (f *Footprint) Bytes() int64 { return f.MemoryBytes }

// Padding returns the number of stored slots that hold no entry.
func (f *Footprint) Padding() int64 { return f.EmptySlots }

// WithStorage appends the storage of the values to the name of a form, unless the storage is Full.
func WithStorage(name string, values Storage) string {
	if values != Full {
		name += ", values " + values.String()
	}
	return name
}

// CheckColumns fails if a column is outside x, because the kernels do not check columns.
func CheckColumns(idx []int32, cols int) error {
	if len(idx) == 0 {
		return nil
	}
	worst, most := MinMax(simd.Default(), idx)
	if worst >= 0 {
		worst = most
	}
	if worst < 0 || int(worst) >= cols {
		return sparse.Inputf("matrix", "a column index %d: it must be at least 0 and below %d", worst, cols)
	}
	return nil
}

// Beyond reports whether so many bytes are beyond the caches. Tests replace it.
var Beyond = ExceedsLastCache

// Starts4 returns the index of the first entry of row rows[l]+i, for each l.
func (r *Rows[V]) Starts4(rows *[4]int, i int) (at [4]int64) {
	for l, row := range rows {
		at[l] = r.At(row + i)
	}
	return at
}

// SlowTransposed is a Form whose transposed product is slower than that of its rows in CSR, if
// these are available.
type SlowTransposed interface{ SlowTransposed() }

// Copy copies rows to memory from r.Mem.
func Copy[V sparse.Value](r Rows[V]) (Rows[V], error) {
	out := r
	err := cmp.Or(
		Alloc(r.Mem, &out.Ptr, int64(len(r.Ptr))),
		Alloc(r.Mem, &out.Idx, int64(len(r.Idx))),
		Alloc(r.Mem, &out.Val, int64(len(r.Val))),
	)
	copy(out.Ptr, r.Ptr)
	copy(out.Idx, r.Idx)
	copy(out.Val, r.Val)
	return out, err
}

// CopyBytes returns the memory of a copy of r.
func CopyBytes[V sparse.Value](r *Rows[V]) int64 {
	return 8*int64(len(r.Ptr)) + 4*int64(len(r.Idx)) + mem.Size[V]()*int64(len(r.Val))
}

// RowOf returns the row that holds entry k.
func RowOf(ptr []int64, k int64) int {
	return sort.Search(len(ptr)-1, func(r int) bool { return ptr[r+1] > k })
}

// Clip returns ptr with all values limited to [lo, hi]: pointers of empty rows at the border of a part may lie
// outside. It returns ptr itself if all values are inside.
func Clip(ptr []int64, lo, hi int64) []int64 {
	if ptr[0] >= lo && ptr[len(ptr)-1] <= hi {
		return ptr
	}
	out := make([]int64, len(ptr))
	for i, p := range ptr {
		out[i] = min(max(p, lo), hi)
	}
	return out
}

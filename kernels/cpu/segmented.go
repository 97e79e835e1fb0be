package cpu

import (
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	segments "github.com/msrep-go/msrep/kernels/cpu/internal/form/cpms"
	"github.com/msrep-go/msrep/sparse/cpms"
)

type (
	// Segmented stores rows of a matrix with their values in segments (the CPMS paper), for
	// algorithms that read only as much precision as they need, such as PageRank.
	Segmented = segments.Segmented
	// SegmentScratch is the scratch memory of one goroutine that multiplies a Segmented.
	SegmentScratch = segments.SegmentScratch
	// SegmentedRows is rows in CSR from which a Segmented is built.
	SegmentedRows = form.Rows[float64]
)

// The forms of a Segmented.
const (
	SegmentedCSR = segments.FormCPMSRows   // rows as in CSR
	SegmentedELL = segments.FormCPMSSlices // slices of SliceRows rows, each as wide as its longest row
)

// SliceRows is the number of rows of a slice of a Segmented.
const SliceRows = segments.SliceRows

// NewSegmented builds a Segmented of the given form. If r.Val is nil, all values are 1. A column takes 2 bytes if the
// columns of every slice span less than 2^16 and wide is false, and 4 bytes otherwise. The rows are copied. NewSegmented
// fails with a *sparse.InputError if a column is outside x, or if the form or the layout does not exist.
func NewSegmented(f kernels.Form, r SegmentedRows, l cpms.Layout, wide bool) (*Segmented, error) {
	return segments.NewSegmented(f, r, l, wide)
}

// BorrowSegmented returns a Segmented of form SegmentedCSR in which all values are 1. It uses the arrays of r in place, so
// the caller must not change them. r.Ptr begins with 0. It fails with a *sparse.InputError if a column is outside x.
func BorrowSegmented(r SegmentedRows) (*Segmented, error) { return segments.BorrowRows(r) }

// NewSegmentScratch returns scratch memory for one goroutine.
func NewSegmentScratch() *SegmentScratch { return segments.NewSegmentScratch() }

// SegmentedBytes returns the bytes that NewSegmented keeps, and those that it needs only while it builds. values says
// whether the rows have values.
func SegmentedBytes(f kernels.Form, r SegmentedRows, l cpms.Layout, values, wide bool) (kept, temporary int64) {
	return segments.SegmentedBytes(f, r, l, values, wide)
}

// SlicePadding returns the number of empty slots of slices of SliceRows rows with these row pointers.
func SlicePadding(ptr []int64) int64 { return segments.SlicePadding(ptr) }

// Rank ends a step of PageRank for len(sum) nodes. sum[i] is the incoming rank of node first+i.
//
//	p = damping*sum[i] + add
//	next[first+i] = p / degree[i], truncated to the width of next
//	diff += |next[first+i] - cur[first+i]| * degree[i]
//
// degree is nil, which stands for ones, or has len(sum) elements.
func Rank(sum []float64, cur, next *cpms.Heads, first int, degree []int32, damping, add float64) (diff float64) {
	return segments.Rank(simd.Default(), sum, cur, next, first, degree, damping, add)
}

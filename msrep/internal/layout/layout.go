// Package layout has a matrix in any format as plain arrays.
package layout

import (
	"fmt"
	"slices"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// Matrix is a matrix as plain arrays. Its majors are the rows if ByRow is set, otherwise the columns.
type Matrix[V sparse.Value] struct {
	Format         sparse.Format // csr, csc or coo
	ByRow          bool
	Majors, Minors int
	Ptr            []int64 // Majors+1; not for COO
	Major          []int32 // nnz, only for COO
	Minor          []int32 // nnz
	Val            []V     // nnz
}

// COO reports whether the entries have the index of their major, and there are no pointers.
func (l *Matrix[V]) COO() bool { return l.Format == sparse.FormatCOO }

// Unwrap returns the matrix that a type such as *matio.Matrix embeds, or a itself.
func Unwrap[V sparse.Value](a sparse.Matrix[V]) sparse.Matrix[V] {
	switch a.Format() {
	case sparse.FormatCSC:
		return sparse.ToCSC(a)
	case sparse.FormatCOO:
		return sparse.ToCOO(a)
	}
	return sparse.ToCSR(a)
}

// New converts a to the format. It copies nothing if a is in that format. If a copy does not fit into memory, the
// error is a *sparse.InputError that wraps kernels.ErrOutOfMemory.
func New[V sparse.Value](a sparse.Matrix[V], format sparse.Format, refuseUnsorted bool) (Matrix[V], error) {
	if coo, ok := a.(*sparse.COO[V]); ok && refuseUnsorted && coo.Order() == sparse.Unsorted {
		return Matrix[V]{}, &sparse.InputError{Subject: "matrix", Err: partition.ErrUnsorted}
	}
	if err := checkConversion(a, format); err != nil {
		return Matrix[V]{}, err
	}
	switch format {
	case sparse.FormatCSR:
		if coo, ok := a.(*sparse.COO[V]); ok && coo.Order() == sparse.RowSorted { // only the pointers are missing
			return Matrix[V]{Format: format, ByRow: true, Majors: coo.Rows, Minors: coo.Cols,
				Ptr: pointers(coo.RowIdx, coo.Rows), Minor: coo.ColIdx, Val: coo.Val}, nil
		}
		m := sparse.ToCSR(a)
		return Matrix[V]{Format: format, ByRow: true, Majors: m.Rows, Minors: m.Cols, Ptr: m.RowPtr, Minor: m.ColIdx, Val: m.Val}, nil
	case sparse.FormatCSC:
		m := sparse.ToCSC(a)
		return Matrix[V]{Format: format, Majors: m.Cols, Minors: m.Rows, Ptr: m.ColPtr, Minor: m.RowIdx, Val: m.Val}, nil
	}
	m := sparse.ToCOO(a)
	order := m.Order()
	if order == sparse.Unsorted {
		m, order = m.SortByRow(), sparse.RowSorted
	}
	l := Matrix[V]{Format: format, ByRow: true, Majors: m.Rows, Minors: m.Cols, Major: m.RowIdx, Minor: m.ColIdx, Val: m.Val}
	if order == sparse.ColSorted {
		l.ByRow, l.Majors, l.Minors, l.Major, l.Minor = false, m.Cols, m.Rows, m.ColIdx, m.RowIdx
	}
	return l, nil
}

// checkConversion returns an error if the conversion to the format needs more memory than is available.
func checkConversion[V sparse.Value](a sparse.Matrix[V], format sparse.Format) error {
	need := converted(a, format, sparse.Unsorted)
	have, ok := mem.Fits(need)
	if coo, is := a.(*sparse.COO[V]); !ok && is { // Order takes time, so it is called only now
		need = converted(a, format, coo.Order())
		have, ok = mem.Fits(need)
	}
	if ok {
		return nil
	}
	return &sparse.InputError{Subject: "matrix", Err: kernels.ErrOutOfMemory,
		Msg: fmt.Sprintf("%d entries: to convert them from %s to %s takes %d bytes, %d are available", a.NNZ(), a.Format(), format, need, have)}
}

// converted returns the bytes that New allocates. order is the order of a matrix in COO.
func converted[V sparse.Value](a sparse.Matrix[V], format sparse.Format, order sparse.Order) int64 {
	rows, cols := a.Dims()
	from, pointers, each := a.Format(), 0, int64(0) // bytes of an entry
	switch {
	case from == sparse.FormatCOO && format == sparse.FormatCSR && order == sparse.RowSorted:
		pointers = rows
	case from == sparse.FormatCOO && format == sparse.FormatCOO && order == sparse.Unsorted: // by way of CSR
		pointers, each = rows, 8+mem.Size[V]()
	case from == format:
	case format == sparse.FormatCOO:
		each = 4
	default:
		if pointers = rows; format == sparse.FormatCSC {
			pointers = cols
		}
		if each = 4 + mem.Size[V](); from != sparse.FormatCOO { // the majors of the entries are allocated too
			each += 4
		}
	}
	return 8*int64(pointers) + each*a.NNZ()
}

// pointers returns the row or column pointers of entries that are sorted by major.
func pointers(major []int32, majors int) []int64 {
	ptr := make([]int64, majors+1)
	for _, r := range major {
		ptr[r+1]++
	}
	for r := range majors {
		ptr[r+1] += ptr[r]
	}
	return ptr
}

// Split cuts the matrix into parts and returns the rule that was used.
func (l *Matrix[V]) Split(parts int, rule partition.Rule) ([]partition.Part, partition.Rule, error) {
	if l.COO() {
		return partition.SplitCOO(l.Major, l.Majors, parts, rule)
	}
	return partition.Split(l.Ptr, parts, rule)
}

// Bytes returns the memory of the matrix.
func (l *Matrix[V]) Bytes() int64 {
	return mem.Size[V]()*int64(len(l.Val)) + 4*int64(len(l.Minor)+len(l.Major)) + 8*int64(len(l.Ptr))
}

// SplitPart cuts a part into smaller parts in proportion to the weights.
func (l *Matrix[V]) SplitPart(p partition.Part, weights []int, rule partition.Rule) ([]partition.Part, error) {
	if l.COO() {
		return partition.SplitWeightedCOO(l.Major, p, weights, rule)
	}
	return partition.SplitWeighted(l.Ptr, p, weights, rule)
}

// ByMajor reports whether a product with the matrix, or its transpose, is a major product, whose results are merged by row. Otherwise it is a
// minor product, and whole partial vectors are merged.
func (l *Matrix[V]) ByMajor(transposed bool) bool { return l.ByRow != transposed }

// Values returns the array of the values of a.
func Values[V sparse.Value](a sparse.Matrix[V]) []V {
	switch a := a.(type) {
	case *sparse.CSR[V]:
		return a.Val
	case *sparse.CSC[V]:
		return a.Val
	case *sparse.COO[V]:
		return a.Val
	}
	return nil
}

// WithValues returns a matrix with the structure of a and the values val.
func WithValues[V sparse.Value](a sparse.Matrix[V], val []V) sparse.Matrix[V] {
	switch a := a.(type) {
	case *sparse.CSR[V]:
		m := *a
		m.Val = val
		return &m
	case *sparse.CSC[V]:
		m := *a
		m.Val = val
		return &m
	case *sparse.COO[V]:
		m := *a
		m.Val = val
		return &m
	}
	return a
}

// LongestMajor returns the number of entries of the longest of the majors [first, end). The matrix is not in COO.
func (l *Matrix[V]) LongestMajor(first, end int) int64 {
	var most atomic.Int64
	ptr := l.Ptr[first : end+1]
	par.Range(int64(end-first), 1<<16, func(lo, hi int64) {
		m := int64(0)
		for r := lo; r < hi; r++ {
			m = max(m, ptr[r+1]-ptr[r])
		}
		for old := most.Load(); m > old && !most.CompareAndSwap(old, m); old = most.Load() {
		}
	})
	return most.Load()
}

// LongestRun returns the length of the longest run of equal numbers. It inspects every 2048th number, and may miss runs
// that are shorter than 4096.
func LongestRun(sorted []int32) (longest int64) {
	const step = 1 << 11
	for k := 0; k+step < len(sorted); {
		v := sorted[k]
		if sorted[k+step] != v {
			k += step
			continue
		}
		first := sort.Search(k, func(i int) bool { return sorted[i] >= v })
		end := k + sort.Search(len(sorted)-k, func(i int) bool { return sorted[k+i] > v })
		longest, k = max(longest, int64(end-first)), end
	}
	return longest
}

// IndexRange returns the smallest range [lo, hi) that contains all indices.
func IndexRange(idx []int32) (lo, hi int) {
	var mu sync.Mutex
	first := true
	par.Range(int64(len(idx)), 1<<16, func(a, b int64) {
		if a == b {
			return
		}
		least, most := slices.Min(idx[a:b]), slices.Max(idx[a:b])
		mu.Lock()
		defer mu.Unlock()
		if first {
			lo, hi, first = int(least), int(most)+1, false
		}
		lo, hi = min(lo, int(least)), max(hi, int(most)+1)
	})
	return lo, hi
}

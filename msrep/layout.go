package msrep

import (
	"fmt"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// layout is a matrix in any format as plain arrays. Its majors are the rows if byRow is set, otherwise the columns.
type layout[V sparse.Value] struct {
	format         sparse.Format
	byRow          bool
	majors, minors int
	ptr            []int64 // majors+1; nil for COO
	major          []int32 // nnz, only for COO
	minor          []int32 // nnz
	val            []V     // nnz
}

// unwrap returns the matrix that a type such as *matio.Matrix embeds, or a itself.
func unwrap[V sparse.Value](a sparse.Matrix[V]) sparse.Matrix[V] {
	switch a.Format() {
	case sparse.FormatCSC:
		return sparse.ToCSC(a)
	case sparse.FormatCOO:
		return sparse.ToCOO(a)
	}
	return sparse.ToCSR(a)
}

// newLayout converts a to the format. It copies nothing if a is in that format. If a copy does not fit into memory, the
// error is a *sparse.InputError that wraps kernels.ErrOutOfMemory.
func newLayout[V sparse.Value](a sparse.Matrix[V], format sparse.Format, refuseUnsorted bool) (layout[V], error) {
	if coo, ok := a.(*sparse.COO[V]); ok && refuseUnsorted && coo.Order() == sparse.Unsorted {
		return layout[V]{}, &sparse.InputError{Subject: "matrix", Err: partition.ErrUnsorted}
	}
	if err := checkConversion(a, format); err != nil {
		return layout[V]{}, err
	}
	switch format {
	case sparse.FormatCSR:
		if coo, ok := a.(*sparse.COO[V]); ok && coo.Order() == sparse.RowSorted { // only the pointers are missing
			return layout[V]{format: format, byRow: true, majors: coo.Rows, minors: coo.Cols,
				ptr: pointers(coo.RowIdx, coo.Rows), minor: coo.ColIdx, val: coo.Val}, nil
		}
		m := sparse.ToCSR(a)
		return layout[V]{format: format, byRow: true, majors: m.Rows, minors: m.Cols, ptr: m.RowPtr, minor: m.ColIdx, val: m.Val}, nil
	case sparse.FormatCSC:
		m := sparse.ToCSC(a)
		return layout[V]{format: format, majors: m.Cols, minors: m.Rows, ptr: m.ColPtr, minor: m.RowIdx, val: m.Val}, nil
	}
	m := sparse.ToCOO(a)
	order := m.Order()
	if order == sparse.Unsorted {
		m, order = m.SortByRow(), sparse.RowSorted
	}
	l := layout[V]{format: format, byRow: true, majors: m.Rows, minors: m.Cols, major: m.RowIdx, minor: m.ColIdx, val: m.Val}
	if order == sparse.ColSorted {
		l.byRow, l.majors, l.minors, l.major, l.minor = false, m.Cols, m.Rows, m.ColIdx, m.RowIdx
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

// converted returns the bytes that newLayout allocates. order is the order of a matrix in COO.
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

// split cuts the matrix into parts and returns the rule that was used.
func (l layout[V]) split(parts int, rule partition.Rule) ([]partition.Part, partition.Rule, error) {
	if l.ptr == nil {
		return partition.SplitCOO(l.major, l.majors, parts, rule)
	}
	return partition.Split(l.ptr, parts, rule)
}

// bytes returns the memory of the matrix.
func (l layout[V]) bytes() int64 {
	return mem.Size[V]()*int64(len(l.val)) + 4*int64(len(l.minor)+len(l.major)) + 8*int64(len(l.ptr))
}

// splitPart cuts a part into smaller parts in proportion to the weights.
func (l layout[V]) splitPart(p partition.Part, weights []int, rule partition.Rule) ([]partition.Part, error) {
	if l.ptr == nil {
		return partition.SplitWeightedCOO(l.major, p, weights, rule)
	}
	return partition.SplitWeighted(l.ptr, p, weights, rule)
}

// byMajor reports whether a product with op is a major product, whose results are merged by row. Otherwise it is a
// minor product, and whole partial vectors are merged.
func (l layout[V]) byMajor(op Transpose) bool { return l.byRow == (op == NoTrans) }

// values returns the array of the values of a.
func values[V sparse.Value](a sparse.Matrix[V]) []V {
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

// withValues returns a matrix with the structure of a and the values val.
func withValues[V sparse.Value](a sparse.Matrix[V], val []V) sparse.Matrix[V] {
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

package msrep

import (
	"fmt"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// layout is a matrix of any format as arrays. Majors are what is compressed or
// sorted by: rows if byRow, else columns.
type layout[V sparse.Value] struct {
	format         sparse.Format
	byRow          bool
	majors, minors int
	ptr            []int64 // majors+1; nil for COO
	major          []int32 // nnz, for COO only
	minor          []int32 // nnz
	val            []V     // nnz
}

// plain gives the matrix that a of another type embeds, as *matio.Matrix does, and otherwise a.
func plain[V sparse.Value](a sparse.Matrix[V]) sparse.Matrix[V] {
	switch a.Format() {
	case sparse.FormatCSC:
		return sparse.ToCSC(a)
	case sparse.FormatCOO:
		return sparse.ToCOO(a)
	}
	return sparse.ToCSR(a)
}

// newLayout brings a into the format, without copying where it is in it already. It fails with
// a *sparse.InputError that wraps kernels.ErrOutOfMemory where a copy does not fit into memory.
func newLayout[V sparse.Value](a sparse.Matrix[V], format sparse.Format, refuseUnsorted bool) (layout[V], error) {
	if coo, ok := a.(*sparse.COO[V]); ok && refuseUnsorted && coo.Order() == sparse.Unsorted {
		return layout[V]{}, &sparse.InputError{Subject: "matrix", Err: partition.ErrUnsorted}
	}
	if err := checkConversion(a, format); err != nil {
		return layout[V]{}, err
	}
	switch format {
	case sparse.FormatCSR:
		if coo, ok := a.(*sparse.COO[V]); ok && coo.Order() == sparse.RowSorted { // it lacks the pointers only
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

// checkConversion refuses a conversion to the format that there is no memory for.
func checkConversion[V sparse.Value](a sparse.Matrix[V], format sparse.Format) error {
	need := converted(a, format, sparse.Unsorted)
	have, ok := mem.Fits(need)
	if coo, is := a.(*sparse.COO[V]); !ok && is { // which may be sorted: to look takes a while
		need = converted(a, format, coo.Order())
		have, ok = mem.Fits(need)
	}
	if ok {
		return nil
	}
	return &sparse.InputError{Subject: "matrix", Err: kernels.ErrOutOfMemory,
		Msg: fmt.Sprintf("%d entries: to bring them from %s into %s takes %d bytes, %d are available", a.NNZ(), a.Format(), format, need, have)}
}

// converted is the bytes that newLayout takes beside those of a; order is that of COO.
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
		if each = 4 + mem.Size[V](); from != sparse.FormatCOO { // it lacks the majors of the entries
			each += 4
		}
	}
	return 8*int64(pointers) + each*a.NNZ()
}

// pointers gives where the entries of each major begin, from sorted majors.
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

// split cuts the matrix into parts and says by which rule.
func (l layout[V]) split(parts int, rule partition.Rule) ([]partition.Part, partition.Rule, error) {
	if l.ptr == nil {
		return partition.SplitCOO(l.major, l.majors, parts, rule)
	}
	return partition.Split(l.ptr, parts, rule)
}

// bytes is the memory of the matrix.
func (l layout[V]) bytes() int64 {
	return mem.Size[V]()*int64(len(l.val)) + 4*int64(len(l.minor)+len(l.major)) + 8*int64(len(l.ptr))
}

// splitPart cuts a part among takers in proportion to their weights.
func (l layout[V]) splitPart(p partition.Part, weights []int, rule partition.Rule) ([]partition.Part, error) {
	if l.ptr == nil {
		return partition.SplitWeightedCOO(l.major, p, weights, rule)
	}
	return partition.SplitWeighted(l.ptr, p, weights, rule)
}

// byMajor reports whether a product sums within majors, so that results are
// merged by rows; otherwise it adds to minors, and whole vectors are merged.
func (l layout[V]) byMajor(op Transpose) bool { return l.byRow == (op == NoTrans) }

// values is the values of a.
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

// withValues gives a with other values in the same places.
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

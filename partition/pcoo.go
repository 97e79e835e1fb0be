package partition

import "github.com/msrep-go/msrep/sparse"

// Unsorted selects what NewPCOO does with entries that are sorted neither by row nor by
// column.
type Unsorted int

// The choices for unsorted entries.
const (
	SortFirst Unsorted = iota // sort a copy by row
	Refuse                    // fail with ErrUnsorted
)

// PCOO is a part of a sorted COO matrix. Its majors are rows or columns, depending on
// Order. It shares the arrays of A.
type PCOO[V sparse.Value] struct {
	Part
	A     *sparse.COO[V]
	Order sparse.Order // RowSorted or ColSorted
}

// NewPCOO splits a into parts by its sorted index: the row index if both are sorted. If
// neither is, unsorted selects whether NewPCOO fails with ErrUnsorted or sorts a copy by
// row, splits that, and stores it as A in every part.
//
// It reads the indices once to find their order. It fails with a *sparse.InputError if
// the lengths of the arrays differ, the rule is unknown, or an index that it has to sort
// by is outside the matrix, and where SplitCOO fails.
func NewPCOO[V sparse.Value](a *sparse.COO[V], parts int, rule Rule, unsorted Unsorted) ([]PCOO[V], error) {
	if a == nil {
		return nil, errNil
	}
	if len(a.RowIdx) != len(a.Val) || len(a.ColIdx) != len(a.Val) {
		return nil, sparse.Inputf("matrix", "%d row indices, %d column indices and %d values: these must be equal", len(a.RowIdx), len(a.ColIdx), len(a.Val))
	}
	order := a.Order()
	if order == sparse.Unsorted {
		if unsorted == Refuse {
			return nil, errUnsorted
		}
		if err := a.Validate(); err != nil {
			return nil, err
		}
		a, order = a.SortByRow(), sparse.RowSorted
	}
	idx, majors := a.RowIdx, a.Rows
	if order == sparse.ColSorted {
		idx, majors = a.ColIdx, a.Cols
	}
	ps, _, err := SplitCOO(idx, majors, parts, rule)
	if err != nil {
		return nil, err
	}
	out := make([]PCOO[V], len(ps))
	for i, p := range ps {
		out[i] = PCOO[V]{p, a, order}
	}
	return out, nil
}

// Val returns the values of the part, shared with A.
func (p PCOO[V]) Val() []V { return run(p.A.Val, p.Part) }

// RowIdx returns the row indices of the part, shared with A and counted from the first
// row of A.
func (p PCOO[V]) RowIdx() []int32 { return run(p.A.RowIdx, p.Part) }

// ColIdx returns the column indices of the part, shared with A and counted from the first
// column of A.
func (p PCOO[V]) ColIdx() []int32 { return run(p.A.ColIdx, p.Part) }

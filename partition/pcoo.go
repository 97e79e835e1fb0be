package partition

import "github.com/msrep-go/msrep/sparse"

// Unsorted says what NewPCOO does with entries that are sorted neither by row
// nor by column.
type Unsorted int

// What to do with unsorted entries.
const (
	SortFirst Unsorted = iota // sort a copy by row
	Refuse                    // fail with ErrUnsorted
)

// PCOO is a part of a sorted COO matrix; majors are rows or columns, as Order
// says. It shares the arrays of A.
type PCOO[V sparse.Value] struct {
	Part
	A     *sparse.COO[V]
	Order sparse.Order // RowSorted or ColSorted
}

// NewPCOO splits a into parts by the index that rises: the row index if both do.
// If neither does, a sorted copy is split, which the parts then share as their A,
// or the error wraps ErrUnsorted.
//
// It reads the indices once to find their order, and fails with a
// *sparse.InputError when the lengths do not fit, for an unknown rule, when an
// index that it has to sort by is outside the matrix, and as SplitCOO does.
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

// Val is the values of the part, shared with A.
func (p PCOO[V]) Val() []V { return run(p.A.Val, p.Part) }

// RowIdx is the row indices of the part, shared with A; they count from the first
// row of A.
func (p PCOO[V]) RowIdx() []int32 { return run(p.A.RowIdx, p.Part) }

// ColIdx is the column indices of the part, shared with A; they count from the
// first column of A.
func (p PCOO[V]) ColIdx() []int32 { return run(p.A.ColIdx, p.Part) }

package partition

import "github.com/msrep-go/msrep/sparse"

// PCSC is a part of a CSC matrix. Its majors are columns. It shares the arrays of A.
type PCSC[V sparse.Value] struct {
	Part
	A *sparse.CSC[V]
}

// NewPCSC splits a by columns into parts, with the checks and errors of NewPCSR.
func NewPCSC[V sparse.Value](a *sparse.CSC[V], parts int, rule Rule) ([]PCSC[V], error) {
	if a == nil {
		return nil, errNil
	}
	ps, err := splitArrays(a.ColPtr, a.Cols, len(a.RowIdx), len(a.Val), parts, rule)
	if err != nil {
		return nil, err
	}
	out := make([]PCSC[V], len(ps))
	for i, p := range ps {
		out[i] = PCSC[V]{p, a}
	}
	return out, nil
}

// Val returns the values of the part, shared with A.
func (p PCSC[V]) Val() []V { return run(p.A.Val, p.Part) }

// RowIdx returns the row indices of the part, shared with A.
func (p PCSC[V]) RowIdx() []int32 { return run(p.A.RowIdx, p.Part) }

// GlobalColPtr returns A.ColPtr[First : End+1], shared with A; see PCSR.GlobalRowPtr.
func (p PCSC[V]) GlobalColPtr() []int64 { return p.A.ColPtr[p.First() : p.End()+1] }

// ColPtr returns the local column pointers of the part; see LocalPtr.
func (p PCSC[V]) ColPtr() ([]int64, error) {
	dst := make([]int64, p.Majors()+1)
	return dst, LocalPtr(dst, p.A.ColPtr, p.Part)
}

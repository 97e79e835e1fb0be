package partition

import "github.com/msrep-go/msrep/sparse"

// PCSR is a part of a CSR matrix. Its majors are rows. It shares the arrays of A.
type PCSR[V sparse.Value] struct {
	Part
	A *sparse.CSR[V]
}

// NewPCSR splits a by rows into parts. It checks the lengths of the arrays and the
// pointers near the borders; a.Validate checks the rest. It fails with a
// *sparse.InputError if the lengths do not match or the rule is unknown, and where Split
// fails.
func NewPCSR[V sparse.Value](a *sparse.CSR[V], parts int, rule Rule) ([]PCSR[V], error) {
	if a == nil {
		return nil, errNil
	}
	ps, err := splitArrays(a.RowPtr, a.Rows, len(a.ColIdx), len(a.Val), parts, rule)
	if err != nil {
		return nil, err
	}
	out := make([]PCSR[V], len(ps))
	for i, p := range ps {
		out[i] = PCSR[V]{p, a}
	}
	return out, nil
}

// Val returns the values of the part, shared with A.
func (p PCSR[V]) Val() []V { return run(p.A.Val, p.Part) }

// ColIdx returns the column indices of the part, shared with A.
func (p PCSR[V]) ColIdx() []int32 { return run(p.A.ColIdx, p.Part) }

// GlobalRowPtr returns ptr = A.RowPtr[First : End+1], shared with A. The local entries of
// row First+j are those from ptr[j]-StartIdx to ptr[j+1]-StartIdx-1 that lie in [0, NNZ).
// A device that reads the whole matrix needs no other pointers.
func (p PCSR[V]) GlobalRowPtr() []int64 { return p.A.RowPtr[p.First() : p.End()+1] }

// RowPtr returns the local row pointers of the part; see LocalPtr.
func (p PCSR[V]) RowPtr() ([]int64, error) {
	dst := make([]int64, p.Majors()+1)
	return dst, LocalPtr(dst, p.A.RowPtr, p.Part)
}

// splitArrays checks the lengths of compressed arrays and splits them. The check keeps
// every view of a part within the arrays.
func splitArrays(ptr []int64, majors, nidx, nval, parts int, rule Rule) ([]Part, error) {
	if err := checkPtr(ptr); err != nil {
		return nil, err
	}
	if m := len(ptr) - 1; m != majors || ptr[m] != int64(nidx) || nidx != nval {
		return nil, sparse.Inputf("matrix", "%d pointers up to %d for %d rows or columns, %d indices and %d values: the lengths must fit", len(ptr), ptr[m], majors, nidx, nval)
	}
	out, _, err := Split(ptr, parts, rule)
	return out, err
}

// run returns the part's range of an array that has one element per entry.
func run[T any](all []T, p Part) []T { return all[p.StartIdx : p.EndIdx+1 : p.EndIdx+1] }

var errNil = sparse.Inputf("matrix", "is nil")

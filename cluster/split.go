package cluster

import (
	"slices"

	"github.com/msrep-go/msrep/sparse"
)

// split holds a rank's rows as two matrices.
type split[V sparse.Value] struct {
	local  *sparse.CSR[V] // columns numbered within this rank
	remote *sparse.CSR[V] // columns are indices in the halo; only rows with such columns
	rows   []int32        // the rank's row of each row of remote
	halo   []int32        // columns of the whole matrix, ascending
}

// newSplit splits the columns of m. The larger of the two matrices takes over the arrays of m.
func newSplit[V sparse.Value](m *Matrix[V]) split[V] {
	a, first, end := m.Part, m.FirstCol(), m.ColCut[m.rank+1]
	set := remoteColumns(a.ColIdx, m.Cols, first, end)
	s := split[V]{halo: set.members()}
	own := uint32(end - first)
	isLocal := func(j int32) bool { return uint32(j-int32(first)) < own }

	remotes, remoteRows := 0, 0
	for i := range a.Rows {
		before := remotes
		for _, j := range a.ColIdx[a.RowPtr[i]:a.RowPtr[i+1]] {
			if !isLocal(j) {
				remotes++
			}
		}
		if remotes > before {
			remoteRows++
		}
	}
	s.rows = make([]int32, 0, remoteRows)
	s.local = &sparse.CSR[V]{Rows: a.Rows, Cols: int(own), RowPtr: make([]int64, 1, a.Rows+1)}
	s.remote = &sparse.CSR[V]{Rows: remoteRows, Cols: len(s.halo), RowPtr: make([]int64, 1, remoteRows+1)}
	large, small, n := s.local, s.remote, remotes
	if locals := len(a.ColIdx) - remotes; locals < remotes {
		large, small, n = s.remote, s.local, locals
	}
	large.ColIdx, large.Val = a.ColIdx[:0], a.Val[:0] // written no further than already read
	small.ColIdx, small.Val = make([]int32, 0, n), make([]V, 0, n)
	for i := range a.Rows {
		for k := a.RowPtr[i]; k < a.RowPtr[i+1]; k++ {
			if j, v := a.ColIdx[k], a.Val[k]; isLocal(j) {
				s.local.ColIdx, s.local.Val = append(s.local.ColIdx, j-int32(first)), append(s.local.Val, v)
			} else {
				s.remote.ColIdx, s.remote.Val = append(s.remote.ColIdx, set.number(j)), append(s.remote.Val, v)
			}
		}
		s.local.RowPtr = append(s.local.RowPtr, s.local.NNZ())
		if n := s.remote.NNZ(); n > s.remote.RowPtr[len(s.rows)] {
			s.rows = append(s.rows, int32(i))
			s.remote.RowPtr = append(s.remote.RowPtr, n)
		}
	}
	large.ColIdx, large.Val = trimmed(large.ColIdx), trimmed(large.Val)
	return s
}

// trimmed copies s if much of its capacity is unused.
func trimmed[T any](s []T) []T {
	if cap(s)-len(s) > len(s)/4 {
		return slices.Clone(s)
	}
	return s[:len(s):len(s)]
}

// joined returns a rank's rows as one matrix: first the columns of this rank, then the halo. The entries of a row
// keep their order. It takes over the arrays of m.
func joined[V sparse.Value](m *Matrix[V]) (a *sparse.CSR[V], halo []int32) {
	first, end := m.FirstCol(), m.ColCut[m.rank+1]
	set := remoteColumns(m.Part.ColIdx, m.Cols, first, end)
	own := int32(end - first)
	a = &sparse.CSR[V]{Rows: m.Part.Rows, Cols: int(own) + set.size, RowPtr: m.Part.RowPtr, ColIdx: m.Part.ColIdx, Val: m.Part.Val}
	for k, j := range m.Part.ColIdx {
		if uint32(j-int32(first)) < uint32(own) {
			a.ColIdx[k] = j - int32(first)
		} else {
			a.ColIdx[k] = own + set.number(j)
		}
	}
	return a, set.members()
}

package sparse

import "github.com/msrep-go/msrep/internal/par"

// Permute returns the matrix B with B(i, j) = A(rows[i], cols[j]): row i of B is row
// rows[i] of A. A nil permutation leaves its dimension as it is. The columns of each row
// of B are sorted, also if both permutations are nil. Entries at the same position remain
// separate and keep their order. B shares no array with a.
//
// Each row is sorted by insertion if it is short or nearly sorted, else by radix, on
// several goroutines: the time grows linearly with the number of entries.
//
// An argument that is not a permutation of the rows or columns is a *InputError.
func Permute[V Value](a *CSR[V], rows, cols []int32) (*CSR[V], error) {
	if err := a.Validate(); err != nil {
		return nil, err
	}
	if rows != nil {
		if _, err := Inverse("rows", rows, a.Rows); err != nil {
			return nil, err
		}
	}
	var to []int32 // column of B that holds a column of A; nil: the same
	if cols != nil {
		var err error
		if to, err = Inverse("cols", cols, a.Cols); err != nil {
			return nil, err
		}
	}
	b := &CSR[V]{Rows: a.Rows, Cols: a.Cols, RowPtr: a.permutedRows(rows)}
	b.ColIdx, b.Val = make([]int32, len(a.ColIdx)), make([]V, len(a.Val))
	eachRow(b.RowPtr, func(lo, hi int) {
		var s rowSorter[V]
		for i := lo; i < hi; i++ {
			from := i
			if rows != nil {
				from = int(rows[i])
			}
			start, end := a.RowPtr[from], a.RowPtr[from+1]
			col, val := b.ColIdx[b.RowPtr[i]:b.RowPtr[i+1]], b.Val[b.RowPtr[i]:b.RowPtr[i+1]]
			copy(val, a.Val[start:end])
			if to == nil {
				copy(col, a.ColIdx[start:end])
			} else {
				for k, j := range a.ColIdx[start:end] {
					col[k] = to[j]
				}
			}
			s.sort(col, val)
		}
	})
	return b, nil
}

// permutedRows returns the row pointers after row i has become row rows[i] of m.
func (m *CSR[V]) permutedRows(rows []int32) []int64 {
	ptr := make([]int64, m.Rows+1)
	if rows == nil {
		copy(ptr, m.RowPtr)
		return ptr
	}
	for i, from := range rows {
		ptr[i+1] = ptr[i] + m.RowPtr[from+1] - m.RowPtr[from]
	}
	return ptr
}

// Inverse returns the inverse q of the permutation p of 0 to n-1: q[p[i]] = i. If p is not
// such a permutation, the error is a *InputError about name.
func Inverse(name string, p []int32, n int) ([]int32, error) {
	if len(p) != n {
		return nil, Inputf(name, "a permutation of %d elements has %d", n, len(p))
	}
	q := make([]int32, n)
	for i := range q {
		q[i] = -1
	}
	for i, k := range p {
		if uint32(k) >= uint32(n) {
			return nil, Inputf(name, "element %d of the permutation is %d: it must be in [0, %d)", i, k, n)
		}
		if q[k] >= 0 {
			return nil, Inputf(name, "elements %d and %d of the permutation are both %d", q[k], i, k)
		}
		q[k] = int32(i)
	}
	return q, nil
}

// eachRow divides the rows into ranges with about equal numbers of entries and calls f for
// each range, on several goroutines.
func eachRow(ptr []int64, f func(lo, hi int)) {
	rows := len(ptr) - 1
	workers := min(par.Workers(ptr[rows]+int64(rows), 1<<15), max(rows, 1))
	first := make([]int, workers+1)
	for w := 1; w < workers; w++ {
		first[w] = min(lowerBound(ptr, par.Cut(ptr[rows], workers, w)), rows)
	}
	first[workers] = rows
	par.Do(workers, func(w int) { f(first[w], first[w+1]) })
}

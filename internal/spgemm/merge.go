package spgemm

import "github.com/msrep-go/msrep/sparse"

// mergeRows is the largest number of rows that are merged.
const mergeRows = 8

// merger finds the union of few rows with ascending columns: it merges pairs of rows, then pairs of results, and so on. For
// short rows whose columns are far apart this takes less time than bits for all columns.
type merger struct{ lists []int32 }

// columns stores the union of the n rows b in cols and returns its length. products is the sum of their lengths. cols has
// room for as many elements, or for all columns.
func (m *merger) columns(b [mergeRows][]int32, n int, products int64, cols []int32) int {
	if n > 2 && int64(len(m.lists)) < 2*products {
		m.lists = make([]int32, 4*products)
	}
	for half := m.lists; n > 2; half = m.other(half, products) {
		free := half
		pairs := 0
		for k := 0; k < n; k += 2 {
			if k+1 < n {
				b[pairs] = free[:merge(free, b[k], b[k+1])]
			} else {
				b[pairs] = free[:copy(free, b[k])]
			}
			free = free[len(b[pairs]):]
			pairs++
		}
		n = pairs
	}
	return merge(cols, b[0], b[1])
}

// other returns the half of lists that is not the given one.
func (m *merger) other(half []int32, products int64) []int32 {
	if &half[0] == &m.lists[0] {
		return m.lists[products:]
	}
	return m.lists
}

// rowsOf returns the columns of at most mergeRows rows of b.
func rowsOf[V sparse.Value](b *sparse.CSR[V], row []int32) (lists [mergeRows][]int32) {
	for i, k := range row {
		lists[i] = b.ColIdx[b.RowPtr[k]:b.RowPtr[k+1]]
	}
	return lists
}

// merge stores the union of two ascending lists in out and returns its length. No branch depends on the columns.
func merge(out, x, y []int32) int {
	i, j, n := 0, 0, 0
	for i < len(x) && j < len(y) {
		a, b := x[i], y[j]
		out[n] = min(a, b)
		n++
		var left, right int
		if a <= b {
			left = 1
		}
		if b <= a {
			right = 1
		}
		i += left
		j += right
	}
	n += copy(out[n:], x[i:])
	return n + copy(out[n:], y[j:])
}

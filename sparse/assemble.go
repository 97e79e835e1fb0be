package sparse

import (
	"slices"
	"sync/atomic"

	"github.com/msrep-go/msrep/internal/par"
)

// Triples is a sequence of entries in the order of a file. If Val is nil, every value is
// 1. Indices are 0-based and already checked.
type Triples[V Value] struct {
	Row, Col []int32
	Val      []V
}

// maxScanners limits the goroutines that each read every index of the input: with more,
// the shared reads cost more than they gain.
const maxScanners = 16

// Assemble builds a CSR matrix from triples in any order. Their indices must be valid
// (FromTriples checks them). Assemble expands the stored triangle of a symmetric matrix,
// sorts the columns within each row, and adds duplicates in the order of the input. The
// result does not depend on the number of goroutines.
//
// Assemble needs hardly any memory besides the triples and the result. It groups the
// triples by row within their own arrays. If there are few triples, or if consecutive
// triples of a symmetric matrix are mostly close to each other, it leaves them in place:
// each goroutine owns a range of rows and scans all triples for them. chunks is cleared on
// return.
func Assemble[V Value](rows, cols int, sym Symmetry, chunks []Triples[V]) *CSR[V] {
	m, duplicates := arrange(rows, cols, sym, chunks)
	if duplicates {
		m.sumDuplicates()
	}
	return m
}

// arrange is Assemble except that it does not add duplicates, which stay in the order of the input; it reports whether
// there are any. It does not compute with values of a general matrix.
func arrange[V Value](rows, cols int, sym Symmetry, chunks []Triples[V]) (m *CSR[V], duplicates bool) {
	var stored int64
	for _, b := range chunks {
		stored += int64(len(b.Row))
	}
	if stored >= groupFrom && (sym == General || !(sym == SkewSymmetric && hasPattern(chunks)) && scattered(chunks, int64(rows), stored)) {
		m, duplicates = assembleGroups(rows, cols, sym, chunks, stored)
		clear(chunks)
		return m, duplicates
	}
	m = &CSR[V]{Rows: rows, Cols: cols, RowPtr: make([]int64, rows+1)}
	next := m.RowPtr[1:] // next[i] counts row i, then holds the index of its next entry
	workers := min(par.Workers(stored, 1<<15), maxScanners, max(rows, 1))
	par.Do(workers, func(w int) {
		lo := par.Cut(int64(rows), workers, w)
		hi := par.Cut(int64(rows), workers, w+1)
		countRows(next, chunks, sym != General, int32(lo), uint32(hi-lo))
	})
	first, nnz := startsAndRanges(next, workers)
	m.ColIdx = make([]int32, nnz)
	m.Val = make([]V, nnz)
	par.Do(workers, func(w int) {
		lo, hi := first[w], first[w+1]
		m.fillRows(next, chunks, sym, int32(lo), uint32(hi-lo))
	})
	clear(chunks)
	return m, m.sortRows()
}

// hasPattern reports whether a chunk has no values, and so no place for the sign of an
// entry.
func hasPattern[V Value](chunks []Triples[V]) bool {
	return slices.ContainsFunc(chunks, func(b Triples[V]) bool { return b.Val == nil })
}

// scattered reports whether more than an eighth of the triples are far, in rows or
// columns, from the triple before. A triple is far if the entries of the result between
// the two exceed the second-level cache. scattered samples the start of each chunk.
func scattered[V Value](chunks []Triples[V], rows, stored int64) bool {
	near := int32(min(rows*nearEntries/max(stored, 1), MaxDim))
	seen, far := 0, 0
	for _, b := range chunks {
		n := min(len(b.Row), 1<<10)
		row, col := b.Row[:n], b.Col[:n]
		for k := 1; k < n; k++ {
			if max(row[k]-row[k-1], row[k-1]-row[k], col[k]-col[k-1], col[k-1]-col[k]) > near {
				far++
			}
		}
		seen += n
	}
	return far > seen/8
}

// countRows adds the entries of rows [lo, lo+n) to count.
func countRows[V Value](count []int64, chunks []Triples[V], mirror bool, lo int32, n uint32) {
	for _, b := range chunks {
		for _, i := range b.Row {
			if uint32(i-lo) < n {
				count[i]++
			}
		}
		if !mirror {
			continue
		}
		col := b.Col[:len(b.Row)]
		for k, i := range b.Row {
			if j := col[k]; j != i && uint32(j-lo) < n {
				count[j]++
			}
		}
	}
}

// fillRows writes the entries of rows [lo, lo+n) to their places. On return next[i] is
// the end of row i.
func (m *CSR[V]) fillRows(next []int64, chunks []Triples[V], sym Symmetry, lo int32, n uint32) {
	sign := V(1)
	if sym == SkewSymmetric {
		sign = -1
	}
	for _, b := range chunks {
		row, col := b.Row, b.Col[:len(b.Row)]
		for k, i := range row {
			j := col[k]
			own, mirrored := uint32(i-lo) < n, sym != General && j != i && uint32(j-lo) < n
			if !own && !mirrored {
				continue
			}
			v := V(1)
			if b.Val != nil {
				v = b.Val[k]
			}
			if own {
				m.ColIdx[next[i]], m.Val[next[i]] = j, v
				next[i]++
			}
			if mirrored {
				m.ColIdx[next[j]], m.Val[next[j]] = i, sign*v
				next[j]++
			}
		}
	}
}

// sortRows sorts the columns of every row, stably, and reports whether a column occurs more than once in a row.
func (m *CSR[V]) sortRows() bool {
	var duplicates atomic.Bool
	m.eachRowRange(func(lo, hi int) {
		var s rowSorter[V]
		for i := lo; i < hi; i++ {
			k0, k1 := m.RowPtr[i], m.RowPtr[i+1]
			if s.sort(m.ColIdx[k0:k1], m.Val[k0:k1]) {
				duplicates.Store(true)
			}
		}
	})
	return duplicates.Load()
}

// sumDuplicates adds equal columns of sorted rows and closes the gaps. It works in place,
// because a second copy of the matrix would dominate the memory use.
func (m *CSR[V]) sumDuplicates() {
	to, k := int64(-1), int64(0)
	for i := range m.Rows {
		last := int32(-1)
		for end := m.RowPtr[i+1]; k < end; k++ {
			if j := m.ColIdx[k]; j != last {
				to, last = to+1, j
				m.ColIdx[to], m.Val[to] = j, m.Val[k]
			} else {
				m.Val[to] += m.Val[k]
			}
		}
		m.RowPtr[i+1] = to + 1
	}
	m.ColIdx, m.Val = m.ColIdx[:to+1:to+1], m.Val[:to+1:to+1]
}

// eachRowRange calls f concurrently for ranges of rows with about equal sums of entries
// and rows.
func (m *CSR[V]) eachRowRange(f func(lo, hi int)) {
	work := m.NNZ() + int64(m.Rows)
	w := par.Workers(work, 1<<15)
	at := func(i int) int {
		if i == w {
			return m.Rows
		}
		// The first row i with rowPtr[i] + i >= cut: both terms increase.
		cut := par.Cut(work, w, i)
		lo, hi := 0, m.Rows
		for lo < hi {
			if mid := int(uint(lo+hi) >> 1); m.RowPtr[mid]+int64(mid) < cut {
				lo = mid + 1
			} else {
				hi = mid
			}
		}
		return lo
	}
	par.Do(w, func(i int) { f(at(i), at(i+1)) })
}

// lowerBound returns the first i with a[i] >= x in an ascending slice, or len(a) if there
// is none.
func lowerBound(a []int64, x int64) int {
	i, _ := slices.BinarySearch(a, x)
	return i
}

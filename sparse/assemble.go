package sparse

import (
	"slices"
	"sync/atomic"

	"github.com/msrep-go/msrep/internal/par"
)

// Triples is a run of entries in the order of a file. Val may be nil: then
// every value is 1. Indices are 0-based and already checked.
type Triples[V Value] struct {
	Row, Col []int32
	Val      []V
}

// scanners bounds the goroutines that each look at every index of the input:
// beyond that the shared reads cost more than the split gains.
const scanners = 16

// Assemble makes a CSR matrix of triples in any order, whose indices must be right
// (FromTriples checks them): symmetric halves are expanded, columns sorted within each
// row, and duplicates added up in the order in which they stand. The result does not
// depend on the number of goroutines.
//
// Beside the triples and the result hardly any memory is needed: many triples are moved
// about in their arrays (assembler). Of few ones, and of many near the diagonal of a symmetric
// matrix in its order, each goroutine owns a range of rows and scans all triples for them.
// blocks is cleared on return.
func Assemble[V Value](rows, cols int, sym Symmetry, blocks []Triples[V]) *CSR[V] {
	var stored int64
	for _, b := range blocks {
		stored += int64(len(b.Row))
	}
	if stored >= groupFrom && (sym == General || !(sym == SkewSymmetric && hasPattern(blocks)) && scattered(blocks, int64(rows), stored)) {
		m, double := assembleGroups(rows, cols, sym, blocks, stored)
		clear(blocks)
		if double {
			m.sumDuplicates()
		}
		return m
	}
	m := &CSR[V]{Rows: rows, Cols: cols, RowPtr: make([]int64, rows+1)}
	next := m.RowPtr[1:] // next[i] counts row i, then is where its next entry goes
	workers := min(par.Workers(stored, 1<<15), scanners, max(rows, 1))
	par.Do(workers, func(w int) {
		lo := par.Cut(int64(rows), workers, w)
		hi := par.Cut(int64(rows), workers, w+1)
		countRows(next, blocks, sym != General, int32(lo), uint32(hi-lo))
	})
	first, nnz := spread(next, workers)
	m.ColIdx = make([]int32, nnz)
	m.Val = make([]V, nnz)
	par.Do(workers, func(w int) {
		lo, hi := first[w], first[w+1]
		m.fillRows(next, blocks, sym, int32(lo), uint32(hi-lo))
	})
	clear(blocks)
	m.sortRows()
	return m
}

// hasPattern reports whether any block is without values, which have no room for a sign.
func hasPattern[V Value](blocks []Triples[V]) bool {
	return slices.ContainsFunc(blocks, func(b Triples[V]) bool { return b.Val == nil })
}

// scattered reports whether many triples are far from the ones before, in rows or columns: so
// far that the entries of the result between them do not stay in the second cache. It looks at
// some of each block.
func scattered[V Value](blocks []Triples[V], rows, stored int64) bool {
	near := int32(min(rows*nearEntries/max(stored, 1), MaxDim))
	seen, far := 0, 0
	for _, b := range blocks {
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
func countRows[V Value](count []int64, blocks []Triples[V], mirror bool, lo int32, n uint32) {
	for _, b := range blocks {
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

// fillRows writes the entries of rows [lo, lo+n) to their places and leaves
// next[i] at the end of row i.
func (m *CSR[V]) fillRows(next []int64, blocks []Triples[V], sym Symmetry, lo int32, n uint32) {
	sign := V(1)
	if sym == SkewSymmetric {
		sign = -1
	}
	for _, b := range blocks {
		row, col := b.Row, b.Col[:len(b.Row)]
		for k, i := range row {
			j := col[k]
			own, twin := uint32(i-lo) < n, sym != General && j != i && uint32(j-lo) < n
			if !own && !twin {
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
			if twin {
				m.ColIdx[next[j]], m.Val[next[j]] = i, sign*v
				next[j]++
			}
		}
	}
}

// sortRows sorts the columns of every row, stably, and adds up duplicates.
func (m *CSR[V]) sortRows() {
	var twins atomic.Bool
	m.eachRowRange(func(lo, hi int) {
		var s rowSorter[V]
		for i := lo; i < hi; i++ {
			k0, k1 := m.RowPtr[i], m.RowPtr[i+1]
			if s.sort(m.ColIdx[k0:k1], m.Val[k0:k1]) {
				twins.Store(true)
			}
		}
	})
	if twins.Load() {
		m.sumDuplicates()
	}
}

// sumDuplicates adds up equal columns of sorted rows and closes the gaps, in
// place: a second copy of the matrix would be its largest cost.
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

// eachRowRange calls f for ranges of rows with about equal numbers of entries
// and rows, in parallel.
func (m *CSR[V]) eachRowRange(f func(lo, hi int)) {
	work := m.NNZ() + int64(m.Rows)
	w := par.Workers(work, 1<<15)
	at := func(i int) int {
		if i == w {
			return m.Rows
		}
		// The first row i with rowPtr[i] + i >= cut: both terms rise.
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

// lowerBound is the first i with a[i] >= x in a rising slice, len(a) if none.
func lowerBound(a []int64, x int64) int {
	i, _ := slices.BinarySearch(a, x)
	return i
}

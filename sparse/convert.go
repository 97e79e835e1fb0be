package sparse

import (
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/par"
)

// ToCSR returns a as CSR: a itself if it is CSR, else a conversion that shares no array
// with a. Entries keep their order within a row. Duplicates of a COO matrix remain
// separate entries, so nnz and the sum of each row do not change. a must be valid
// (Matrix.Validate); otherwise this and the other conversions may panic.
func ToCSR[V Value](a Matrix[V]) *CSR[V] {
	switch a := a.plain().(type) {
	case *CSR[V]:
		return a
	case *CSC[V]:
		m := &CSR[V]{Rows: a.Rows, Cols: a.Cols}
		m.RowPtr, m.ColIdx, m.Val = turn(a.Rows, a.ColPtr, a.RowIdx, a.Val)
		return m
	case *COO[V]:
		m := &CSR[V]{Rows: a.Rows, Cols: a.Cols}
		m.RowPtr, m.ColIdx, m.Val = compress(a.Rows, a.RowIdx, a.ColIdx, a.Val)
		return m
	}
	panic("sparse: matrix of an unknown type")
}

// ToCSC returns a as CSC: a itself if it is CSC, else a conversion; see ToCSR.
func ToCSC[V Value](a Matrix[V]) *CSC[V] {
	switch a := a.plain().(type) {
	case *CSC[V]:
		return a
	case *CSR[V]:
		return ToCSR[V](a.Transpose()).Transpose()
	case *COO[V]:
		return ToCSR[V](a.Transpose()).Transpose()
	}
	panic("sparse: matrix of an unknown type")
}

// ToCOO returns a as COO: a itself if it is COO. The result is sorted by row if a is CSR,
// by column if a is CSC, and shares the values and one index array with a.
func ToCOO[V Value](a Matrix[V]) *COO[V] {
	switch a := a.plain().(type) {
	case *COO[V]:
		return a
	case *CSR[V]:
		return &COO[V]{Rows: a.Rows, Cols: a.Cols, RowIdx: expand(a.RowPtr), ColIdx: a.ColIdx, Val: a.Val}
	case *CSC[V]:
		return &COO[V]{Rows: a.Rows, Cols: a.Cols, RowIdx: a.RowIdx, ColIdx: expand(a.ColPtr), Val: a.Val}
	}
	panic("sparse: matrix of an unknown type")
}

// SortByRow returns a copy sorted by row. Entries of one row keep their order.
func (m *COO[V]) SortByRow() *COO[V] { return ToCOO[V](ToCSR[V](m)) }

// Convert returns m with its values converted to W, rounded to nearest. Values beyond the
// range of W become infinite. The result shares the pointers and indices of m.
func Convert[W, V Value](m *CSR[V]) *CSR[W] {
	val := mem.Make[W](len(m.Val))
	par.Range(int64(len(val)), 1<<15, func(lo, hi int64) {
		for k := lo; k < hi; k++ {
			val[k] = W(m.Val[k])
		}
	})
	return &CSR[W]{Rows: m.Rows, Cols: m.Cols, RowPtr: m.RowPtr, ColIdx: m.ColIdx, Val: val}
}

// compress sorts entries stably by major: entries ptr[r] to ptr[r+1]-1 are those of major
// r. Each goroutine owns a range of majors and scans all indices for it, so compress
// allocates only its result.
func compress[V Value](majors int, major, minor []int32, val []V) (ptr []int64, idx []int32, out []V) {
	ptr = mem.Make[int64](majors + 1)
	next := ptr[1:] // counts, then the index of the next entry of each major
	workers := min(par.Workers(int64(len(val)), 1<<15), maxScanners, max(majors, 1))
	par.Do(workers, func(w int) {
		lo, hi := par.Cut(int64(majors), workers, w), par.Cut(int64(majors), workers, w+1)
		for _, r := range major {
			if uint32(r-int32(lo)) < uint32(hi-lo) {
				next[r]++
			}
		}
	})
	first, _ := startsAndRanges(next, workers)
	idx, out = mem.Make[int32](len(val)), mem.Make[V](len(val))
	par.Do(workers, func(w int) {
		lo, n := int32(first[w]), uint32(first[w+1]-first[w])
		for k, r := range major {
			if uint32(r-lo) < n {
				idx[next[r]], out[next[r]] = minor[k], val[k]
				next[r]++
			}
		}
	})
	return ptr, idx, out
}

// turn stores entries that are grouped by major by their minor instead: entries turned[j] to turned[j+1]-1 of idx and out are
// those of minor j, in the order of their majors. Each goroutine takes the entries of a range of majors: it counts its
// entries of each minor, and then knows their places. If there are few entries for a minor, compress needs less memory.
func turn[V Value](minors int, ptr []int64, minor []int32, val []V) (turned []int64, idx []int32, out []V) {
	nnz := int64(len(val))
	if nnz < 2*int64(minors) { // the counts would take more memory than the result
		return compress(minors, minor, expand(ptr), val)
	}
	workers := max(min(par.Workers(nnz, 1<<15), maxScanners, int(nnz/int64(max(minors, 1)))), 1)
	first := make([]int, workers+1) // the first major of each goroutine
	for w := range workers {
		first[w] = lowerBound(ptr, par.Cut(nnz, workers, w))
	}
	first[workers] = len(ptr) - 1
	next := make([][]int64, workers) // of each goroutine: counts, then the place of its next entry of each minor
	par.Do(workers, func(w int) {
		n := mem.Make[int64](minors)
		for _, j := range minor[ptr[first[w]]:ptr[first[w+1]]] {
			n[j]++
		}
		next[w] = n
	})
	turned = mem.Make[int64](minors + 1)
	sums := make([]int64, workers+1) // of the counts of ranges of minors
	span := func(w int) (lo, hi int64) {
		return par.Cut(int64(minors), workers, w), par.Cut(int64(minors), workers, w+1)
	}
	par.Do(workers, func(w int) {
		sum := int64(0)
		lo, hi := span(w)
		for _, n := range next {
			for _, count := range n[lo:hi] {
				sum += count
			}
		}
		sums[w+1] = sum
	})
	for w := range workers {
		sums[w+1] += sums[w]
	}
	par.Do(workers, func(w int) {
		at := sums[w]
		lo, hi := span(w)
		for j := lo; j < hi; j++ {
			for _, n := range next {
				n[j], at = at, at+n[j]
			}
			turned[j+1] = at
		}
	})
	idx, out = mem.Uncleared[int32](len(val)), mem.Uncleared[V](len(val))
	par.Do(workers, func(w int) {
		n := next[w]
		for r := first[w]; r < first[w+1]; r++ {
			row := val[ptr[r]:ptr[r+1]]
			for k, j := range minor[ptr[r]:ptr[r+1]][:len(row)] {
				at := n[j]
				idx[at], out[at] = int32(r), row[k]
				n[j] = at + 1
			}
		}
	})
	return turned, idx, out
}

// startsAndRanges replaces counts by their exclusive prefix sums and divides the majors
// into ranges with about equal numbers of entries: worker w gets [first[w], first[w+1]).
// nnz is the sum of the counts.
func startsAndRanges(counts []int64, workers int) (first []int, nnz int64) {
	for i, n := range counts {
		counts[i] = nnz
		nnz += n
	}
	first = make([]int, workers+1)
	for w := range workers {
		first[w] = lowerBound(counts, par.Cut(nnz, workers, w))
	}
	first[workers] = len(counts)
	return first, nnz
}

// expand returns the major of every entry.
func expand(ptr []int64) []int32 {
	m := len(ptr) - 1
	out := mem.Make[int32](int(ptr[m]))
	par.Range(int64(m), 1<<12, func(lo, hi int64) {
		for r := lo; r < hi; r++ {
			run := out[ptr[r]:ptr[r+1]]
			for k := range run {
				run[k] = int32(r)
			}
		}
	})
	return out
}

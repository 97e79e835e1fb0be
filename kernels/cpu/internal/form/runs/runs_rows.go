package runs

import (
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/csr"
	"github.com/msrep-go/msrep/sparse"
)

// The sizes of the CSR rows that eachRows passes at a time: they stay in the first-level cache.
const (
	expandedRows    = 256
	expandedEntries = 1 << 12
)

// expandedRuns is rows of runs, expanded to CSR.
type expandedRuns[V sparse.Value] struct {
	first int // first row
	ptr   []int64
	idx   []int32
	val   []V
}

func (e *expandedRuns[V]) clear(first int) {
	e.first, e.ptr, e.idx, e.val = first, append(e.ptr[:0], 0), e.idx[:0], e.val[:0]
}

// add appends the entries of a group in the pieces lo <= i < hi.
func (e *expandedRuns[V]) add(r *Runs[V], at RunPosition, lo, hi int) RunPosition {
	rows, _, _ := ParseRunGroup(r.Groups[at.Group])
	var next [form.RunRows]int // the position of the next entry of each row
	r.Each(at, lo, hi, func(row, _ int, val []V) { next[row] += len(val) })
	end := len(e.idx)
	for i, n := range next[:rows] {
		next[i] = end
		end += n
		e.ptr = append(e.ptr, int64(end))
	}
	e.idx, e.val = e.idx[:end], e.val[:end]
	return r.Each(at, lo, hi, func(row, column int, val []V) {
		copy(e.val[next[row]:], val)
		for j := range val {
			e.idx[next[row]+j] = int32(column + j)
		}
		next[row] += len(val)
	})
}

// eachRows calls do with a few rows at a time, in order. Rows with many pieces are divided: more is
// true if the previous call had their first entries.
func (f *runsForm[V]) eachRows(do func(e *expandedRuns[V], more bool)) {
	e := &expandedRuns[V]{ptr: make([]int64, 0, expandedRows+1), idx: make([]int32, 0, expandedEntries), val: make([]V, 0, expandedEntries)}
	e.clear(0)
	var at RunPosition
	for row := 0; at.Group < len(f.runs.Groups); {
		rows, _, pieces := ParseRunGroup(f.runs.Groups[at.Group])
		step := expandedEntries / (rows * form.RunRows)
		if len(e.idx)+pieces*rows*form.RunRows > expandedEntries || len(e.ptr)+rows > expandedRows {
			do(e, false)
			e.clear(row)
		}
		if pieces <= step {
			at = e.add(&f.runs, at, 0, pieces)
			row += rows
			continue
		}
		for lo := 0; lo < pieces; lo += step {
			e.clear(row)
			at = e.add(&f.runs, at, lo, min(lo+step, pieces))
			do(e, lo > 0)
		}
		row += rows
		e.clear(row)
	}
	do(e, false)
}

func (f *runsForm[V]) MultiplyMany(alpha, beta V, x, y form.MultiVector[V]) {
	x = x.First(f.cols)
	f.eachRows(func(e *expandedRuns[V], more bool) {
		b := beta
		if more {
			b = 1
		}
		csr.RowsMany(f.level, alpha, b, e.ptr, e.idx, e.val, x, y.From(e.first))
	})
}

// RowsFrom is 1: MultiplyMany expands the runs to CSR rows.
func (f *runsForm[V]) RowsFrom() int { return 1 }

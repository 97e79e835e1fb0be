package hb

import (
	"sort"
	"sync"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/internal/source"
	"github.com/msrep-go/msrep/sparse"
)

// stored is the content of a file before expansion. Row indices and values are stored in
// slices of the same lengths as the chunks of text that they came from. So memory is
// allocated only for numbers that were read, and never copied.
type stored struct {
	ptr []int64 // 1-based
	row runs[int32]
	val runs[float64] // empty for a pattern

	rowLine int64 // number of the line before the first row index

	mu      sync.Mutex
	inexact source.Inexact // of the values
}

// note records that the file has another value than the result. Any goroutine may call it.
func (c *stored) note(x source.Inexact) {
	c.mu.Lock()
	c.inexact.Merge(x)
	c.mu.Unlock()
}

// runs is an array in several slices.
type runs[T any] [][]T

// place appends a slice of n elements and returns it.
func (r *runs[T]) place(n int64) ([]T, error) {
	run := make([]T, n)
	*r = append(*r, run)
	return run, nil
}

// placePointers returns a function that returns memory for the next part of n pointers.
func (c *stored) placePointers(n int64) func(part int64) ([]int64, error) {
	return func(part int64) (to []int64, err error) {
		have := int64(len(c.ptr))
		if c.ptr, err = mem.Grow(c.ptr, have+part, n); err != nil {
			return nil, err
		}
		return c.ptr[have:], nil
	}
}

// entryRange is a range of entries whose row indices and values are each in one slice.
type entryRange struct {
	first        int64 // position of its first entry in the file
	entries      *sparse.Triples[float64]
	below, above int64 // position of its first entry below and above the diagonal, or -1
	fault        error
}

// triples returns all entries with their columns. It checks that a symmetric matrix
// stores only one triangle.
func (c *stored) triples(h *header, name string) ([]sparse.Triples[float64], error) {
	out := c.pair()
	ranges := make([]entryRange, len(out))
	var first int64
	for i := range out {
		ranges[i] = entryRange{first: first, entries: &out[i], below: -1, above: -1}
		first += int64(len(out[i].Row))
	}
	par.Range(int64(len(ranges)), 1, func(lo, hi int64) {
		for i := lo; i < hi; i++ {
			c.setColumns(&ranges[i])
			if h.symmetry != sparse.General {
				c.checkTriangles(&ranges[i], h, name)
			}
		}
	})
	below, above := int64(-1), int64(-1)
	for i := range ranges {
		b := &ranges[i]
		if b.fault != nil {
			return nil, b.fault
		}
		if below < 0 {
			below = b.below
		}
		if above < 0 {
			above = b.above
		}
		if k := max(below, above) - b.first; below >= 0 && above >= 0 {
			return nil, sparse.InputLinef(name, c.lineOf(h, k+b.first), "entry (%d, %d) is in the other triangle than those before it: a %s file must store one triangle only",
				b.entries.Row[k]+1, b.entries.Col[k]+1, h.symmetry)
		}
	}
	return out, nil
}

// pair divides the slices of rows and values wherever either ends.
func (c *stored) pair() (out []sparse.Triples[float64]) {
	val := c.val
	for _, row := range c.row {
		for len(row) > 0 {
			n := len(row)
			var v []float64
			if len(val) > 0 {
				n = min(n, len(val[0]))
				v = val[0][:n]
				if val[0] = val[0][n:]; len(val[0]) == 0 {
					val = val[1:]
				}
			}
			out = append(out, sparse.Triples[float64]{Row: row[:n], Val: v})
			row = row[n:]
		}
	}
	return out
}

// setColumns computes the column of every entry of b.
func (c *stored) setColumns(b *entryRange) {
	k := b.first + 1 // pointers are 1-based
	col := make([]int32, len(b.entries.Row))
	// The column of the first entry is the last one that begins at or before that entry.
	j := sort.Search(len(c.ptr), func(j int) bool { return c.ptr[j] > k }) - 1
	for i := range col {
		for c.ptr[j+1] <= k {
			j++
		}
		col[i] = int32(j)
		k++
	}
	b.entries.Col = col
}

// checkTriangles records the triangles in which b has entries. It refuses entries other
// than zero on the diagonal of a skew-symmetric matrix.
func (c *stored) checkTriangles(b *entryRange, h *header, name string) {
	e := b.entries
	for k, i := range e.Row {
		j, at := e.Col[k], b.first+int64(k)
		switch {
		case i > j && b.below < 0:
			b.below = at
		case i < j && b.above < 0:
			b.above = at
		case i == j && h.symmetry == sparse.SkewSymmetric && (e.Val == nil || e.Val[k] != 0):
			b.fault = sparse.InputLinef(name, c.lineOf(h, at), "entry (%d, %d) on the diagonal of a skew-symmetric matrix is not zero", i+1, j+1)
			return
		}
	}
}

// lineOf returns the line of the row index of entry k.
func (c *stored) lineOf(h *header, k int64) int64 {
	return c.rowLine + h.indices.lines(k+1)
}

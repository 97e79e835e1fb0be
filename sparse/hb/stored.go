package hb

import (
	"sort"
	"sync"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/internal/source"
	"github.com/msrep-go/msrep/sparse"
)

// stored is a matrix as the file has it. Row indices and values lie in runs as
// long as the blocks of text that they came in, so that memory is taken only for
// what has been read, and never copied.
type stored struct {
	ptr []int64 // 1-based
	row runs[int32]
	val runs[float64] // none for a pattern

	rowLine int64 // number of the line before the first row index

	mu      sync.Mutex
	inexact source.Inexact // of the values
}

// note notes where a value is not what the file has; on any goroutine.
func (c *stored) note(x source.Inexact) {
	c.mu.Lock()
	c.inexact.Merge(x)
	c.mu.Unlock()
}

// runs is an array in pieces.
type runs[T any] [][]T

// place appends a run of n items.
func (r *runs[T]) place(n int64) ([]T, error) {
	run := make([]T, n)
	*r = append(*r, run)
	return run, nil
}

// placePointers gives room for n pointers, a part at a time.
func (c *stored) placePointers(n int64) func(part int64) ([]int64, error) {
	return func(part int64) (to []int64, err error) {
		have := int64(len(c.ptr))
		if c.ptr, err = mem.Grow(c.ptr, have+part, n); err != nil {
			return nil, err
		}
		return c.ptr[have:], nil
	}
}

// block is a run of entries whose row indices and values both lie in one piece.
type block struct {
	first        int64 // position of its first entry in the file
	entries      *sparse.Triples[float64]
	below, above int64 // its first entry below and above the diagonal, -1 if none
	fault        error
}

// triples gives all entries with their columns, and checks that a symmetric
// matrix stores one triangle only.
func (c *stored) triples(h *header, name string) ([]sparse.Triples[float64], error) {
	out := c.pair()
	blocks := make([]block, len(out))
	var first int64
	for i := range out {
		blocks[i] = block{first: first, entries: &out[i], below: -1, above: -1}
		first += int64(len(out[i].Row))
	}
	par.Range(int64(len(blocks)), 1, func(lo, hi int64) {
		for i := lo; i < hi; i++ {
			c.setColumns(&blocks[i])
			if h.symmetry != sparse.General {
				c.checkTriangles(&blocks[i], h, name)
			}
		}
	})
	below, above := int64(-1), int64(-1)
	for i := range blocks {
		b := &blocks[i]
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

// pair cuts the runs of rows and values where either ends.
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

// setColumns finds the column of every entry of b.
func (c *stored) setColumns(b *block) {
	k := b.first + 1 // as pointers count
	col := make([]int32, len(b.entries.Row))
	// The column of the first entry is the last one that begins at or before it.
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

// checkTriangles notes which triangles b has entries in, and refuses a diagonal
// that a skew-symmetric matrix does not have.
func (c *stored) checkTriangles(b *block, h *header, name string) {
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

// lineOf is the line of the row index of entry k.
func (c *stored) lineOf(h *header, k int64) int64 {
	return c.rowLine + h.indices.lines(k+1)
}

package stats

import (
	"cmp"
	"math/bits"
	"slices"
	"sync"

	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/sparse"
)

// Diagonals describes how the entries of a matrix are distributed over its diagonals.
type Diagonals struct {
	Occupied  int64      // diagonals with at least one entry
	Strongest []Diagonal // those with the most entries, in ascending order of the offset
	// Below and Above count entries by distance: element 0 is the main diagonal (in Above only), element k holds
	// distances from 2^(k-1) to 2^k - 1.
	Below, Above []int64
}

// Diagonal is a diagonal j - i = Offset.
type Diagonal struct {
	Offset int64
	Count  int64 // entries
	Length int64 // positions
}

// denseDiagonals is the number of diagonals for each entry up to which every diagonal has a counter. In a matrix with
// more, the offsets of the entries are sorted.
const denseDiagonals = 16

// DiagonalsOf counts the entries of m on its diagonals and returns the most strongest ones. It allocates 8 bytes for
// each row and column, or 8 bytes for each entry if that is less than about a sixteenth of it.
func DiagonalsOf[V sparse.Value](m *sparse.CSR[V], most int) Diagonals {
	c := &diagonalCounter{rows: int64(m.Rows), cols: int64(m.Cols), most: most}
	if n := c.rows + c.cols; m.NNZ() > 0 && n <= denseDiagonals*m.NNZ()+1<<20 {
		countDiagonals(c, m, n-1)
	} else {
		offsets := make([]int64, 0, m.NNZ())
		for i := range m.Rows {
			for _, j := range m.ColIdx[m.RowPtr[i]:m.RowPtr[i+1]] {
				offsets = append(offsets, int64(j)-int64(i))
			}
		}
		slices.Sort(offsets)
		for k := 0; k < len(offsets); {
			end := k + 1
			for end < len(offsets) && offsets[end] == offsets[k] {
				end++
			}
			c.add(offsets[k], int64(end-k))
			k = end
		}
	}
	slices.SortFunc(c.out.Strongest, func(a, b Diagonal) int { return cmp.Compare(a.Offset, b.Offset) })
	return c.out
}

// countDiagonals counts with one counter for each of n diagonals. Each goroutine owns a range of diagonals and scans
// all entries for them.
func countDiagonals[V sparse.Value](c *diagonalCounter, m *sparse.CSR[V], n int64) {
	count := make([]int64, n)
	workers := min(par.Workers(m.NNZ()+n, 1<<15), maxScanners)
	var mu sync.Mutex
	part := make([]*diagonalCounter, workers)
	par.Do(workers, func(w int) {
		lo, hi := par.Cut(n, workers, w), par.Cut(n, workers, w+1)
		own := count[lo:hi]
		for i := range m.Rows {
			shift := c.rows - 1 - int64(i) - lo // of diagonal 1 - rows to 0
			for _, j := range m.ColIdx[m.RowPtr[i]:m.RowPtr[i+1]] {
				if at := int64(j) + shift; uint64(at) < uint64(len(own)) {
					own[at]++
				}
			}
		}
		p := &diagonalCounter{rows: c.rows, cols: c.cols, most: c.most}
		for k, times := range own {
			if times > 0 {
				p.add(lo+int64(k)-(c.rows-1), times)
			}
		}
		mu.Lock()
		defer mu.Unlock()
		part[w] = p
	})
	for _, p := range part {
		c.merge(p)
	}
}

// diagonalCounter collects counted diagonals.
type diagonalCounter struct {
	rows, cols int64
	most       int
	out        Diagonals
}

// add adds a diagonal that was counted.
func (c *diagonalCounter) add(offset, times int64) {
	c.out.Occupied++
	side, distance := &c.out.Above, offset
	if offset < 0 {
		side, distance = &c.out.Below, -offset
	}
	k := bits.Len64(uint64(distance))
	for len(*side) <= k {
		*side = append(*side, 0)
	}
	(*side)[k] += times
	length := min(c.rows, c.cols-offset)
	if offset < 0 {
		length = min(c.rows+offset, c.cols)
	}
	c.keep(Diagonal{offset, times, length})
}

// keep adds a diagonal to the strongest.
func (c *diagonalCounter) keep(d Diagonal) {
	s := c.out.Strongest
	if len(s) == c.most && (len(s) == 0 || s[len(s)-1].Count >= d.Count) {
		return
	}
	at, _ := slices.BinarySearchFunc(s, d, func(a, b Diagonal) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Offset, b.Offset))
	})
	if s = slices.Insert(s, at, d); len(s) > c.most {
		s = s[:c.most]
	}
	c.out.Strongest = s
}

// merge adds what another counter has of other diagonals.
func (c *diagonalCounter) merge(o *diagonalCounter) {
	c.out.Occupied += o.out.Occupied
	for _, p := range []struct {
		to   *[]int64
		from []int64
	}{{&c.out.Below, o.out.Below}, {&c.out.Above, o.out.Above}} {
		for len(*p.to) < len(p.from) {
			*p.to = append(*p.to, 0)
		}
		for k, n := range p.from {
			(*p.to)[k] += n
		}
	}
	for _, d := range o.out.Strongest {
		c.keep(d)
	}
}

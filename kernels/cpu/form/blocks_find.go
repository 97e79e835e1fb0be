package form

import (
	"slices"

	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/sparse"
)

// BlockShape is how rows fall into dense blocks.
type BlockShape struct {
	Height, Width int
	First         int // the row with which the first whole row of blocks begins
}

// The sample of FindBlocks: stretches of rows.
const (
	blockStretches  = 16
	blockStretchLen = 64
)

// FindBlocks looks at a sample of the rows for dense blocks of 2 to 8 rows and 1 to
// 8 columns that hold all entries, and gives the largest that may be there; ok is
// false where there are none. NewBlocks looks at all rows.
func FindBlocks[V sparse.Value](r Rows[V]) (shape BlockShape, ok bool) {
	rows := len(r.Ptr) - 1
	height, width, first := 0, 0, -1
	for s := range blockStretches {
		from := s * max(0, rows-blockStretchLen) / blockStretches
		to := min(from+blockStretchLen, rows)
		for i := from + 1; i < to; i++ {
			idx := r.columns(i)
			if slices.Equal(idx, r.columns(i-1)) {
				continue
			}
			// Row i begins a row of blocks.
			if first < 0 {
				first = i
			}
			if height, width = gcd(height, i-first), runs(width, idx); height == 1 {
				return shape, false
			}
		}
	}
	shape.Height, shape.Width = divisor(height), divisor(width)
	if first < 0 || shape.Height < 2 || shape.Width < 1 {
		return BlockShape{}, false
	}
	shape.First = first % shape.Height
	return shape, true
}

// runs is the greatest divisor of g and the lengths of the runs of successive
// columns.
func runs(g int, idx []int32) int {
	from := 0
	for k := 1; k <= len(idx); k++ {
		if k == len(idx) || idx[k] != idx[k-1]+1 {
			g, from = gcd(g, k-from), k
		}
	}
	return g
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// divisor is the greatest divisor of n that a block may have, 0 for none.
func divisor(n int) int {
	for d := min(n, simd.BlockMax); d > 0; d-- {
		if n%d == 0 {
			return d
		}
	}
	return 0
}

// countBlocks is the number of blocks that the rows from first on make; ok is false
// when they are not made of full blocks only.
func (r *Rows[V]) countBlocks(first int, s BlockShape) (n int32, ok bool) {
	idx := r.columns(first)
	if len(idx)%s.Width != 0 {
		return 0, false
	}
	for k := 0; k < len(idx); k += s.Width {
		for j, c := range idx[k : k+s.Width] {
			if c != idx[k]+int32(j) {
				return 0, false
			}
		}
	}
	for i := first + 1; i < first+s.Height; i++ {
		if !sameBits(idx, r.columns(i)) {
			return 0, false
		}
	}
	return int32(len(idx) / s.Width), true
}

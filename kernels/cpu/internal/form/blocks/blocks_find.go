package blocks

import (
	"slices"

	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

// BlockShape describes how rows are divided into dense blocks.
type BlockShape struct {
	Height, Width int
	First         int // the first row of the first block row
}

// FindBlocks looks at blockStretches ranges of blockStretchLen rows each.
const (
	blockStretches  = 16
	blockStretchLen = 64
)

// FindBlocks returns the largest shape of dense blocks, of 2 to 8 rows and 1 to 8 columns, that
// contain all entries of a sample of the rows. ok is false if there is none. NewBlocks checks all
// rows.
func FindBlocks[V sparse.Value](r form.Rows[V]) (shape BlockShape, ok bool) {
	rows := len(r.Ptr) - 1
	height, width, first := 0, 0, -1
	for s := range blockStretches {
		from := s * max(0, rows-blockStretchLen) / blockStretches
		to := min(from+blockStretchLen, rows)
		for i := from + 1; i < to; i++ {
			idx := r.Columns(i)
			if slices.Equal(idx, r.Columns(i-1)) {
				continue
			}
			// A block row begins with row i.
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

// runs returns the greatest common divisor of g and the lengths of the runs of successive columns.
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

// divisor returns the greatest divisor of n that is at most simd.BlockMax, or 0 if n is 0.
func divisor(n int) int {
	for d := min(n, BlockMax); d > 0; d-- {
		if n%d == 0 {
			return d
		}
	}
	return 0
}

// countBlocks returns the number of blocks of the block row that begins with row first. ok is false
// if it does not consist of full blocks.
func countBlocks[V sparse.Value](r *form.Rows[V], first int, s BlockShape) (n int32, ok bool) {
	idx := r.Columns(first)
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
		if !form.SameBits(idx, r.Columns(i)) {
			return 0, false
		}
	}
	return int32(len(idx) / s.Width), true
}

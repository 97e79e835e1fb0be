package form

import (
	"fmt"

	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/sparse"
)

// SymmetricBlocks is rows of a symmetric matrix of dense blocks, of which only the blocks
// on the main diagonal and before it are stored; rows of blocks lie side by side, one per
// lane of a register.
type SymmetricBlocks[V sparse.Value] struct {
	footprint
	level    simd.Level
	first    int // row of the matrix
	rows     int
	blocks   simd.SymmetricBlocks[V]
	windows  []symmetricBlocksWindow
	low, top int // that Multiply adds to beside its rows
}

// symmetricBlocksWindow is blockWindow successive rows of blocks.
type symmetricBlocksWindow struct {
	slices, columns int32
	low             int32 // the least column
}

// Multiply computes y for all rows, and adds what the blocks before the diagonal are for
// other rows; see simd.MultiplySymmetricBlocks. y has one element per row. to gives a place
// for the elements lo <= i < hi of a vector like x, which may be that of y where lo is one
// of the rows; where it is not, they are in Reach.
func (s *SymmetricBlocks[V]) Multiply(alpha, beta V, x, y []V, to func(lo, hi int) []V) {
	slice, column, row, end := 0, 0, s.first, s.first+s.rows
	for _, w := range s.windows {
		own := y[row-s.first:][:min(blockWindow*s.blocks.Size, end-row)]
		switch beta {
		case 0:
			clear(own)
		case 1:
		default:
			for i := range own {
				own[i] *= beta
			}
		}
		row += len(own)
		low := int(w.low)
		simd.MultiplySymmetricBlocks(s.level, &s.blocks, slice, column, int(w.slices), alpha, x, to(low, row), low)
		slice, column = slice+int(w.slices), column+int(w.columns)
	}
}

// Reach is the elements lo <= i < hi that Multiply asks for together with some before its
// rows; lo = hi where there are none.
func (s *SymmetricBlocks[V]) Reach() (lo, hi int) { return s.low, s.top }

// Name is the name of the form, with what matters of its parameters.
func (s *SymmetricBlocks[V]) Name() string {
	return fmt.Sprintf("symmetric blocks of %d x %d", s.blocks.Size, s.blocks.Size)
}

// SuitsSymmetricBlocks is the size of the blocks of which half can be saved where f is made
// of blocks and the matrix is symmetric: values take their full size, or nearly that.
func SuitsSymmetricBlocks[V sparse.Value](f Form[V]) (size int, ok bool) {
	b, is := f.(*blockForm[V])
	if !is || !simd.FastSymmetric(b.level) {
		return 0, false
	}
	if v := b.blocks.Values.Storage; v != simd.Full && v != simd.Bits57 {
		return 0, false
	}
	return SymmetricBlockSize(BlockShape{Height: b.blocks.Height, Width: b.blocks.Width})
}

// SymmetricBlockSize is the size of the largest square blocks into which blocks of this shape
// fall; ok is false where they are too small.
func SymmetricBlockSize(s BlockShape) (size int, ok bool) {
	for size = simd.SymmetricBlockMax; size > 1; size-- {
		if s.Height > 0 && s.Height%size == 0 && s.Width%size == 0 && s.First%size == 0 {
			return size, true
		}
	}
	return 0, false
}

// The layout of symmetric blocks of 2 x 2, with 4 lanes (float64), one window:
//
//	     0 1 2 3 4 5 6 7     Only the blocks on and before the diagonal are stored.
//	  0  a b d e . . . .     block rows by decreasing number of blocks: 1 3 0 2
//	  1  b c f g . . . .
//	  2  d f h i . . n o     slice 0    lane 0   lane 1   lane 2   lane 3
//	  3  e g i j . . p q
//	  4  . . . . k l . .     block 0     h i      r s      a b      k l     on the diagonal
//	  5  . . . . l m . .                 i j      s t      b c      l m
//	  6  . . n p . . r s
//	  7  . . o q . . s t     block 1     d f      n p       -        -      before it
//	                                     e g      o q       -        -
//
//	Widths  2                     blocks of each lane of each slice, the one on the diagonal first
//	Masks   1111 0011             one bit per lane, lane 0 last
//	Idx     2 6 0 4  0 2 0 4      first column of each block; for padding the lane's own first row
//	Values  h r a k  i s b l  i s b l  j t c m     block 0, column by column of the block
//	        d n - -  e o - -  f p - -  g q - -     block 1; - is padding

package blocks

import (
	"fmt"

	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/diagonals"
	"github.com/msrep-go/msrep/sparse"
)

// SymmetricBlocks stores rows of a symmetric matrix of dense blocks. It stores only the blocks on
// the main diagonal and before it. Block rows are stored side by side, one per lane of a register.
type Symmetric[V sparse.Value] struct {
	form.Footprint
	level    simd.Level
	first    int // row of the matrix
	rows     int
	blocks   SymmetricBlocks[V]
	windows  []symmetricBlocksWindow
	low, top int // range of y to which Multiply adds if it adds before its rows
}

// symmetricBlocksWindow is up to blockWindow successive block rows.
type symmetricBlocksWindow struct {
	slices, columns int32
	low             int32 // least column
}

// Multiply computes y for all rows, and adds the products of the transposed blocks before the
// diagonal; see simd.MultiplySymmetricBlocks. y has one element per row. to returns a slice for the
// elements lo <= i < hi of a vector of the length of x. If lo is one of the rows, the slice may be
// part of y; otherwise lo and hi are within Reach.
func (s *Symmetric[V]) Multiply(alpha, beta V, x, y []V, to func(lo, hi int) []V) {
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
		MultiplySymmetricBlocks(s.level, &s.blocks, slice, column, int(w.slices), alpha, x, to(low, row), low)
		slice, column = slice+int(w.slices), column+int(w.columns)
	}
}

// Reach returns the range lo <= i < hi of elements that Multiply requests together with elements
// before its rows; lo = hi if there are none.
func (s *Symmetric[V]) Reach() (lo, hi int) { return s.low, s.top }

// Name returns the name of the form followed by its most important parameters.
func (s *Symmetric[V]) Name() string {
	return fmt.Sprintf("symmetric blocks of %d x %d", s.blocks.Size, s.blocks.Size)
}

// SuitsSymmetricBlocks returns the size of the square blocks of SymmetricBlocks for a symmetric
// matrix in form f. ok is false if SymmetricBlocks would not halve the memory: f is not made of
// blocks, its blocks cannot be divided into square ones, its values are stored in fewer than 57
// bits, or its level has no kernel.
func SuitsSymmetricBlocks[V sparse.Value](f form.Form[V]) (size int, ok bool) {
	b, is := f.(*blockForm[V])
	if !is || !diagonals.FastSymmetric(b.level) {
		return 0, false
	}
	if v := b.blocks.Values.Storage; v != form.Full && v != form.Bits57 {
		return 0, false
	}
	return SymmetricBlockSize(BlockShape{Height: b.blocks.Height, Width: b.blocks.Width})
}

// SymmetricBlockSize returns the size of the largest square blocks into which blocks of this shape
// can be divided. ok is false if these would have fewer than 2 rows.
func SymmetricBlockSize(s BlockShape) (size int, ok bool) {
	for size = SymmetricBlockMax; size > 1; size-- {
		if s.Height > 0 && s.Height%size == 0 && s.Width%size == 0 && s.First%size == 0 {
			return size, true
		}
	}
	return 0, false
}

// MultiplyMany computes Multiply for the columns of x and y. Their number must be one that
// simd.SymmetricColumns returns. to returns the rows lo <= i < hi.
func (s *Symmetric[V]) MultiplyMany(alpha, beta V, x, y form.MultiVector[V], to func(lo, hi int) form.MultiVector[V]) {
	slice, column, row := 0, 0, 0
	for _, w := range s.windows {
		n := min(blockWindow*s.blocks.Size, s.rows-row)
		form.ScaleRows(beta, y.From(row), n)
		row += n
		low := int(w.low)
		MultiplySymmetricBlocksMany(s.level, &s.blocks, slice, column, int(w.slices), alpha, x, to(low, s.first+row), low)
		slice, column = slice+int(w.slices), column+int(w.columns)
	}
}

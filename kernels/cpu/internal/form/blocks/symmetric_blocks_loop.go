package blocks

import (
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/diagonals"
	"github.com/msrep-go/msrep/sparse"
)

// SymmetricBlockMax is the greatest number of rows of a block of SymmetricBlocks.
const SymmetricBlockMax = 6

// SymmetricBlockLanes returns the number of lanes of slices of SymmetricBlocks. With AVX-512 it is
// that of AVX2 too: kernels of AVX-512 took up to twice as long on matrices larger than the caches.
func SymmetricBlockLanes[V sparse.Value](l simd.Level) int { return simd.Lanes[V](min(l, simd.AVX2)) }

// SymmetricBlocks stores rows of a symmetric matrix of dense blocks of Size x Size entries, one
// block row per lane, in slices of Values.Lanes block rows. It stores only the blocks on the
// diagonal and before it. The blocks c*Lanes ... c*Lanes+Lanes-1 are interleaved, column by column
// of the block.
type SymmetricBlocks[V sparse.Value] struct {
	Size   int      // 2 to SymmetricBlockMax
	Widths []uint32 // blocks of a lane of each slice, at least 1: the one on the diagonal comes first
	Masks  []uint16 // one mask per column of blocks: bit i is set if lane i has a block
	// Idx has the first column of each block. For a block on the diagonal, and for one that a lane
	// does not have, it is the first row of the lane.
	Idx    []int32
	Values form.Values[V] // stored as Full
}

// MultiplySymmetricBlocks multiplies n slices and their transposes. slice is the first one; it
// begins with column column.
//
//	y[r-first] += alpha * (sum over the entries of row r of value*x[column])
//	y[column-first] += alpha * value*x[r]  for the entries of blocks before the diagonal
//
// alpha must be finite: with another alpha, the two sums of a row may be infinities of opposite
// signs. The slices must have the SymmetricBlockLanes of the level, unless it is Generic. Indices
// are not checked.
func MultiplySymmetricBlocks[V sparse.Value](l simd.Level, b *SymmetricBlocks[V], slice, column, n int, alpha V, x, y []V, first int) {
	if n == 0 {
		return
	}
	if diagonals.FastSymmetric(l) {
		k := column * b.Values.Lanes
		kernel := simd.ForType[*symmetricBlockTable[V]](symmetricBlockTables)[b.Size-2]
		kernel(n, &b.Widths[slice], &b.Masks[column], &b.Values.Full[k*b.Size*b.Size], &b.Idx[k],
			&x[0], &y[0], first, alpha)
		return
	}
	for _, width := range b.Widths[slice : slice+n] {
		b.slice(column, int(width), alpha, x, y, first)
		column += int(width)
	}
}

// symmetricBlockTable has kernels by Size-2.
type symmetricBlockTable[V sparse.Value] [SymmetricBlockMax - 1]func(n int, widths *uint32, masks *uint16, val *V, idx *int32, x, y *V, first int, alpha V)

// slice multiplies one slice, which begins with column column.
func (b *SymmetricBlocks[V]) slice(column, width int, alpha V, x, y []V, first int) {
	for lane := range b.Values.Lanes {
		row := int(b.Idx[column*b.Values.Lanes+lane])
		own := x[row : row+b.Size]
		var acc [SymmetricBlockMax]V
		for c := column; c < column+width; c++ {
			if b.Masks[c]>>lane&1 == 0 {
				continue
			}
			to := int(b.Idx[c*b.Values.Lanes+lane])
			for j := range b.Size {
				var sum V
				for i, xi := range own {
					v := b.Values.At(((c*b.Size+j)*b.Size+i)*b.Values.Lanes + lane)
					acc[i] += v * x[to+j]
					sum += v * xi
				}
				if c > column {
					y[to+j-first] += alpha * sum
				}
			}
		}
		for i := range own {
			y[row+i-first] += alpha * acc[i]
		}
	}
}

// symmetricBlockTables has no kernels on processors without assembly.
var symmetricBlockTables simd.Kernels

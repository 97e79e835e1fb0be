package simd

import "github.com/msrep-go/msrep/sparse"

// SymmetricBlockMax is the most rows of a block of SymmetricBlocks.
const SymmetricBlockMax = 6

// SymmetricBlockLanes is the lanes of slices of SymmetricBlocks: those of AVX2 with AVX-512 too, whose kernels
// took up to twice as long beyond the caches.
func SymmetricBlockLanes[V sparse.Value](l Level) int { return Lanes[V](min(l, AVX2)) }

// SymmetricBlocks is rows of dense blocks of Size*Size entries of a symmetric matrix, of
// which only the blocks on the diagonal and before it are stored, in groups of
// Values.Lanes, one row of blocks per lane. The values of blocks c*Lanes ...
// c*Lanes+Lanes-1, which lie side by side, follow each other column by column of the block.
type SymmetricBlocks[V sparse.Value] struct {
	Size   int      // 2 to SymmetricBlockMax
	Widths []uint32 // blocks of a lane of each slice: first the one on the diagonal, so 1 at least
	Masks  []uint16 // for each of these, bit i says that lane i has it
	// Idx is the first column of each block: for one on the diagonal, and one that a lane
	// does not have, that of the lane's own rows.
	Idx    []int32
	Values Values[V] // as they are
}

// MultiplySymmetricBlocks multiplies n slices from one on, which begins with a column,
// and their transposes:
//
//	y[r-first] += alpha * (sum over the entries of row r of value*x[column])
//	y[column-first] += alpha * value*x[r]  for the entries of blocks before the diagonal
//
// alpha is finite: the two sums for a row may be infinities of either sign with another.
// The slices must have SymmetricBlockLanes of the level, or it is Generic. Indices are
// not checked.
func MultiplySymmetricBlocks[V sparse.Value](l Level, b *SymmetricBlocks[V], slice, column, n int, alpha V, x, y []V, first int) {
	if n == 0 {
		return
	}
	if FastSymmetric(l) {
		k := column * b.Values.Lanes
		kernel := of[*symmetricBlockTable[V]](symmetricBlockTables)[b.Size-2]
		kernel(n, &b.Widths[slice], &b.Masks[column], &b.Values.Full[k*b.Size*b.Size], &b.Idx[k],
			&x[0], &y[0], first, alpha)
		return
	}
	for _, width := range b.Widths[slice : slice+n] {
		b.slice(column, int(width), alpha, x, y, first)
		column += int(width)
	}
}

// symmetricBlockTable is kernels by Size-2.
type symmetricBlockTable[V sparse.Value] [SymmetricBlockMax - 1]func(n int, widths *uint32, masks *uint16, val *V, idx *int32, x, y *V, first int, alpha V)

// slice multiplies one slice, which begins with a column.
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

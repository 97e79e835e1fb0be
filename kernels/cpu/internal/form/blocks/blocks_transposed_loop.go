package blocks

import (
	"math"
	"math/bits"
	"unsafe"

	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

// AddBlocksTransposed adds the products of n slices from position at on to y:
//
//	y[idx[k]+j-first] += after * (val[k][i][j] * factors[(s*Height + i)*Lanes + lane])
//
// for every block k of lane of slice s. y begins with column first. sums is scratch of
// BlockMax*Lanes elements. The slices must have the Lanes of the level, unless it is Generic.
// Indices are not checked. There is assembly only for after = 1; see Factors.
func AddBlocksTransposed[V sparse.Value](l simd.Level, b *Blocks[V], at form.Position, n int, after V, factors, y []V, first int, sums []V) {
	if n == 0 {
		return
	}
	factors, sums = factors[:n*b.Height*b.Values.Lanes], sums[:b.Width*b.Values.Lanes]
	if l < simd.AVX2 || after != 1 {
		b.addTransposed(at, n, after, factors, y, first)
		return
	}
	column := at.Column * b.Width * b.Height
	kernel := simd.ForType[*blockTransposedTable[V]](blockTransposedTables)[l-simd.AVX2][b.Values.Storage]
	kernel(transposedBlockArgs[V]{
		n: n, widths: &b.Widths[2*at.Slice : 2*(at.Slice+n)][0], masks: unsafe.SliceData(b.Masks[at.Mask:]),
		val: b.Values.From(column), idx: unsafe.SliceData(b.Idx[at.Column*b.Values.Lanes:]), height: b.Height,
		table: b.Values.TableAt(column), factors: &factors[0], y: &y[0], first: first, sums: &sums[0], end: len(sums),
	})
}

// blockTransposedTable has kernels by Level-AVX2 and Storage.
type blockTransposedTable[V sparse.Value] [2][form.Storages]func(a transposedBlockArgs[V])

func (b *Blocks[V]) addTransposed(at form.Position, n int, after V, factors, y []V, first int) {
	lanes := b.Values.Lanes
	for s := range n {
		f := factors[s*b.Height*lanes:]
		full, masked := b.Widths[2*(at.Slice+s)], b.Widths[2*(at.Slice+s)+1]
		for range full {
			b.addColumn(at.Column, ^uint16(0), after, f, y, first)
			at.Column++
		}
		for range masked {
			b.addColumn(at.Column, b.Masks[at.Mask], after, f, y, first)
			at.Mask++
			at.Column++
		}
	}
}

// addColumn adds the products of column c of blocks, one block for each lane of the mask.
func (b *Blocks[V]) addColumn(c int, mask uint16, after V, f, y []V, first int) {
	var room form.Expanded[V]
	lanes := b.Values.Lanes
	n := b.Height * lanes // number of values of a column of a block
	for j := range b.Width {
		val := b.Values.ValuesFrom((c*b.Width+j)*n, n, &room)
		for m := mask & (1<<lanes - 1); m != 0; m &= m - 1 {
			lane := bits.TrailingZeros16(m)
			to := &y[int(b.Idx[c*lanes+lane])-first+j]
			sum := *to
			for i := lane; i < n; i += lanes {
				sum += after * (val[i] * f[i])
			}
			*to = sum
		}
	}
}

// Span returns the range lo <= column < hi of the entries of n slices from position at on, or 0, 0
// if there are none.
func (b *Blocks[V]) Span(l simd.Level, at form.Position, n int) (lo, hi int) {
	lanes := b.Values.Lanes
	least, greatest := int32(math.MaxInt32), int32(-1)
	for s := range n {
		full, masked := int(b.Widths[2*(at.Slice+s)]), int(b.Widths[2*(at.Slice+s)+1])
		if full > 0 {
			from, to := form.MinMax(l, b.Idx[at.Column*lanes:(at.Column+full)*lanes])
			least, greatest = min(least, from), max(greatest, to)
		}
		at.Column += full
		for range masked {
			for lane, first := range b.Idx[at.Column*lanes : (at.Column+1)*lanes] {
				if b.Masks[at.Mask]>>lane&1 != 0 {
					least, greatest = min(least, first), max(greatest, first)
				}
			}
			at.Mask++
			at.Column++
		}
	}
	if greatest < 0 {
		return 0, 0
	}
	return int(least), int(greatest) + b.Width
}

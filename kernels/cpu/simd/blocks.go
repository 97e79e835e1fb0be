package simd

import (
	"unsafe"

	"github.com/msrep-go/msrep/sparse"
)

// BlockMax is the most rows and columns of a block.
const BlockMax = 8

// Blocks is rows of dense blocks of Height*Width entries in groups of Values.Lanes,
// one row of blocks per lane: Slices with a block in place of an entry. The values
// of blocks c*Lanes ... c*Lanes+Lanes-1, which lie side by side, follow each other
// column by column of the block.
type Blocks[V sparse.Value] struct {
	Height, Width int      // 2 to BlockMax, 1 to BlockMax
	Widths        []uint32 // as in Slices
	Masks         []uint16
	Idx           []int32 // first column of x for each block
	Values        Values[V]
	// Fused says to round a product and its sum once in plain Go too, as assembly does.
	Fused bool
}

// MultiplyBlocks multiplies n slices from a position on by x:
//
//	sums[(s*Height + i)*Lanes + lane] = sum over the blocks k of lane of slice s, and j, of val[k][i][j]*x[idx[k]+j]
//
// Each is added up block by block, and in a block by rising j, beginning with 0.
// The level must be the one whose Lanes the slices have, or Generic. Indices are
// not checked.
func MultiplyBlocks[V sparse.Value](l Level, b *Blocks[V], at Position, n int, x, sums []V) {
	if n == 0 {
		return
	}
	sums = sums[:n*b.Height*b.Values.Lanes]
	if l == Generic {
		b.multiply(at, n, x, sums)
		return
	}
	column := at.Column * b.Width * b.Height
	kernels := &of[*blockTable[V]](blockTables)[l-AVX2][b.Values.Storage]
	kernel := kernels[b.Height-2]
	if kernel == nil {
		kernel = kernels[0]
	}
	kernel(n, &b.Widths[2*at.Slice : 2*(at.Slice+n)][0], unsafe.SliceData(b.Masks[at.Mask:]), b.Values.from(column),
		unsafe.SliceData(b.Idx[at.Column*b.Values.Lanes:]), b.Width, unsafe.SliceData(x), b.Values.table(column), unsafe.SliceData(sums),
		b.Height, b.Height*b.Values.columnBytes(), past(asksAhead))
}

// blockTable is kernels by Level-AVX2, Storage, and Height-2; where there is only the first, it is for all heights.
type blockTable[V sparse.Value] [2][storages][BlockMax - 1]func(n int, widths *uint32, masks *uint16, val *byte, idx *int32, columns int, x, table, sums *V, height, bytes, ahead int)

func (b *Blocks[V]) multiply(at Position, n int, x, sums []V) {
	lanes := b.Values.Lanes
	clear(sums)
	c := at.Column
	for s := range n {
		acc := sums[s*b.Height*lanes : (s+1)*b.Height*lanes]
		full, masked := b.Widths[2*(at.Slice+s)], b.Widths[2*(at.Slice+s)+1]
		for range full {
			b.add(c, ^uint16(0), x, acc)
			c++
		}
		for range masked {
			b.add(c, b.Masks[at.Mask], x, acc)
			at.Mask++
			c++
		}
	}
}

// add adds the products of column c, a block for each lane of the mask.
func (b *Blocks[V]) add(c int, mask uint16, x, acc []V) {
	lanes := b.Values.Lanes
	for lane := range lanes {
		if mask>>lane&1 == 0 {
			continue
		}
		first := b.Idx[c*lanes+lane]
		for j := range b.Width {
			xj := x[int(first)+j]
			for i := range b.Height {
				at := &acc[i*lanes+lane]
				*at = mulAdd(b.Fused, b.Values.At(((c*b.Width+j)*b.Height+i)*lanes+lane), xj, *at)
			}
		}
	}
}

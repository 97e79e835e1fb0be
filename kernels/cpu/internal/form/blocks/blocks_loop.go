package blocks

import (
	"math/bits"
	"unsafe"

	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

// BlockMax is the greatest number of rows and of columns of a block.
const BlockMax = 8

// Blocks stores rows of dense blocks of Height x Width entries, one block row per lane: it is
// Slices with a block in place of an entry. Values.Lanes blocks c*Lanes ... c*Lanes+Lanes-1 are
// interleaved, column by column of the block: value ((c*Width+j)*Height+i)*Lanes+lane is entry (i,
// j) of block c*Lanes+lane.
type Blocks[V sparse.Value] struct {
	Height, Width int      // 2 to BlockMax, 1 to BlockMax
	Widths        []uint32 // as in Slices
	Masks         []uint16
	Idx           []int32 // first column of each block
	Values        form.Values[V]
	// Fused makes plain Go round a product and its sum once, as assembly does.
	Fused bool
}

// MultiplyBlocks multiplies n slices from position at on by x:
//
//	sums[(s*Height + i)*Lanes + lane] = sum over j and the blocks k of lane of slice s of val[k][i][j]*x[idx[k]+j]
//
// A sum starts with 0 and adds block by block, and in a block by ascending j. The slices must have
// the Lanes of the level, unless it is Generic. Indices are not checked.
func MultiplyBlocks[V sparse.Value](l simd.Level, b *Blocks[V], at form.Position, n int, x, sums []V) {
	if n == 0 {
		return
	}
	sums = sums[:n*b.Height*b.Values.Lanes]
	if l < simd.AVX2 {
		b.multiply(at, n, x, sums)
		return
	}
	column := at.Column * b.Width * b.Height
	kernels := &simd.ForType[*blockTable[V]](blockTables)[l-simd.AVX2][b.Values.Storage]
	kernel := kernels[b.Height-2]
	if kernel == nil {
		kernel = kernels[0]
	}
	kernel(blockArgs[V]{
		n: n, widths: &b.Widths[2*at.Slice : 2*(at.Slice+n)][0], masks: unsafe.SliceData(b.Masks[at.Mask:]),
		val: b.Values.From(column), idx: unsafe.SliceData(b.Idx[at.Column*b.Values.Lanes:]), columns: b.Width,
		x: unsafe.SliceData(x), table: b.Values.TableAt(column), sums: unsafe.SliceData(sums),
		height: b.Height, bytes: b.Height * b.Values.ColumnBytes(), ahead: form.AsInt(form.PrefetchesBlocks),
	})
}

// blockTable has kernels by Level-AVX2, Storage, and Height-2; if only the first one is set, it is
// for all heights.
type blockTable[V sparse.Value] [2][form.Storages][BlockMax - 1]func(a blockArgs[V])

func (b *Blocks[V]) multiply(at form.Position, n int, x, sums []V) {
	var room form.Expanded[V]
	lanes := b.Values.Lanes
	column := b.Height * lanes // number of values of a column of a block
	clear(sums)
	c := at.Column
	for s := range n {
		acc := sums[s*column : (s+1)*column]
		full, masked := int(b.Widths[2*(at.Slice+s)]), int(b.Widths[2*(at.Slice+s)+1])
		for k := range full + masked {
			mask := uint16(1<<lanes - 1)
			if k >= full {
				mask = b.Masks[at.Mask]
				at.Mask++
			}
			for j := range b.Width {
				val := b.Values.ValuesFrom((c*b.Width+j)*column, column, &room)
				b.add(val, b.Idx[c*lanes:(c+1)*lanes], mask, x[j:], acc)
			}
			c++
		}
	}
}

// add adds the products of a column of blocks, one for each lane of the mask:
//
//	acc[i*lanes+lane] += val[i*lanes+lane] * x[idx[lane]]
func (b *Blocks[V]) add(val []V, idx []int32, mask uint16, x, acc []V) {
	lanes := len(idx)
	if mask == 1<<lanes-1 && !b.Fused && lanes%form.Unrolled == 0 {
		for i := 0; i < lanes; i += form.Unrolled {
			addBlocks(val[i:], (*[form.Unrolled]int32)(idx[i:]), lanes, b.Height, x, acc[i:])
		}
		return
	}
	for m := mask; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros16(m)
		xj := x[idx[lane]]
		for k := lane; k < len(val); k += lanes {
			acc[k] = form.MulAdd(b.Fused, val[k], xj, acc[k])
		}
	}
}

// These have no kernels on processors without assembly.
var (
	blockTables, blockTransposedTables simd.Kernels
)

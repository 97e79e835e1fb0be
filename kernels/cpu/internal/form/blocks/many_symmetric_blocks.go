package blocks

import (
	"unsafe"

	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

// MultiplySymmetricBlocksMany is MultiplySymmetricBlocks for the columns of x and y. Their number
// must be one that SymmetricColumns returns.
func MultiplySymmetricBlocksMany[V sparse.Value](l simd.Level, b *SymmetricBlocks[V], slice, column, n int, alpha V, x, y form.MultiVector[V], first int) {
	if n == 0 {
		return
	}
	if !form.FastSymmetricMany(l) {
		b.genericMany(slice, column, n, alpha, x, y, first)
		return
	}
	for c, w := 0, 0; c < x.Cols; c += w {
		w = form.SymmetricPanel(l, x, c)
		b.assemblyMany(slice, column, n, alpha, x.Columns(c, w), y.Columns(c, w), first)
	}
}

// genericMany is MultiplySymmetricBlocksMany in plain Go.
func (b *SymmetricBlocks[V]) genericMany(slice, column, n int, alpha V, x, y form.MultiVector[V], first int) {
	in, out := make([]V, x.Rows()), make([]V, y.Rows())
	for j := range x.Cols {
		for i := range in {
			in[i] = x.Val[i*x.Stride+j]
		}
		clear(out)
		MultiplySymmetricBlocks(simd.Generic, b, slice, column, n, alpha, in, out, first)
		for i, v := range out {
			y.Val[i*y.Stride+j] += v
		}
	}
}

// manySymmetricBlockTable has kernels by the same and by Size-2.
type manySymmetricBlockTable[V sparse.Value] [2][SymmetricBlockMax - 1]func(lanes, n int, widths *uint32, masks *uint16, val *V, idx *int32, x *V, ldx int, y *V, ldy, first int, alpha V)

// assemblyMany is MultiplySymmetricBlocksMany for symmetricPanel columns.
func (b *SymmetricBlocks[V]) assemblyMany(slice, column, n int, alpha V, x, y form.MultiVector[V], first int) {
	k := column * b.Values.Lanes
	kernel := simd.ForType[*manySymmetricBlockTable[V]](manySymmetricBlockTables)[form.Filled[V](x.Cols)][b.Size-2]
	kernel(b.Values.Lanes, n, &b.Widths[slice], &b.Masks[column], &b.Values.Full[k*b.Size*b.Size], &b.Idx[k],
		unsafe.SliceData(x.Val), x.RowBytes(), unsafe.SliceData(y.Val), y.RowBytes(), first, alpha)
}

// manySymmetricBlockTables has no kernels on processors without assembly.
var manySymmetricBlockTables simd.Kernels

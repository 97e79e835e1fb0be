//go:build amd64

package simd

import (
	"unsafe"

	"github.com/msrep-go/msrep/sparse"
)

type diagonalTransposedKernel[V sparse.Value] func(n int, offsets *int64, width int, masks *uint16, val *byte, y *V, row int, table, x *V, alpha V, carries *V)

// The kernels by Level-AVX2 and Storage.
var (
	diagonalTransposedKernels64 = [2][storages]diagonalTransposedKernel[float64]{
		{diagonalsTransposedFullF64AVX2, diagonalsTransposedShortF64AVX2, diagonalsTransposedTableF64AVX2, diagonalsTransposedPerDiagonalF64AVX2, diagonalsTransposedHigh32F64AVX2, diagonalsTransposedHigh16F64AVX2},
		{diagonalsTransposedFullF64AVX512, diagonalsTransposedShortF64AVX512, diagonalsTransposedTableF64AVX512, diagonalsTransposedPerDiagonalF64AVX512, diagonalsTransposedHigh32F64AVX512, diagonalsTransposedHigh16F64AVX512},
	}
	diagonalTransposedKernels32 = [2][storages]diagonalTransposedKernel[float32]{
		{Full: diagonalsTransposedFullF32AVX2, Table: diagonalsTransposedTableF32AVX2, Same: diagonalsTransposedPerDiagonalF32AVX2, High16: diagonalsTransposedHigh16F32AVX2},
		{Full: diagonalsTransposedFullF32AVX512, Table: diagonalsTransposedTableF32AVX512, Same: diagonalsTransposedPerDiagonalF32AVX512, High16: diagonalsTransposedHigh16F32AVX512},
	}
)

func diagonalsTransposedAssembly[V sparse.Value](l Level, d *Diagonals[V], run DiagonalRun, alpha V, x []V, row, column, mask int, y, carries []V) {
	switch d := any(d).(type) {
	case *Diagonals[float64]:
		callDiagonalsTransposed(diagonalTransposedKernels64[l-AVX2][d.Values.Storage], d, run, float64(alpha), any(x).([]float64), row, column, mask, any(y).([]float64), any(carries).([]float64))
	case *Diagonals[float32]:
		callDiagonalsTransposed(diagonalTransposedKernels32[l-AVX2][d.Values.Storage], d, run, float32(alpha), any(x).([]float32), row, column, mask, any(y).([]float32), any(carries).([]float32))
	}
}

func callDiagonalsTransposed[V sparse.Value](kernel diagonalTransposedKernel[V], d *Diagonals[V], run DiagonalRun, alpha V, x []V, row, column, mask int, y, carries []V) {
	var masks *uint16
	if run.Masked {
		masks = &d.Masks[mask]
	}
	table := d.Values.table(column)
	if d.Values.Storage == Same {
		table = &d.Values.Table[run.Pattern]
	}
	kernel(run.Slices, &d.Offsets[run.Pattern], run.Width, masks, d.Values.from(column), unsafe.SliceData(y), row, table, &x[0], alpha, unsafe.SliceData(carries))
}

type blockTransposedKernel[V sparse.Value] func(n int, widths *uint32, masks *uint16, val *byte, idx *int32, height int, table, factors, y *V, first int, sums *V, end int)

// The kernels by Level-AVX2 and Storage.
var (
	blockTransposedKernels64 = [2][storages]blockTransposedKernel[float64]{
		{Full: blocksTransposedFullF64AVX2, Short: blocksTransposedShortF64AVX2, High32: blocksTransposedHigh32F64AVX2},
		{Full: blocksTransposedFullF64AVX512, Short: blocksTransposedShortF64AVX512, High32: blocksTransposedHigh32F64AVX512, Bits57: blocksTransposedBits57F64AVX512},
	}
	blockTransposedKernels32 = [2]blockTransposedKernel[float32]{blocksTransposedFullF32AVX2, blocksTransposedFullF32AVX512}
)

func blocksTransposedAssembly[V sparse.Value](l Level, b *Blocks[V], at Position, n int, factors, y []V, first int, sums []V) {
	switch b := any(b).(type) {
	case *Blocks[float64]:
		callBlocksTransposed(blockTransposedKernels64[l-AVX2][b.Values.Storage], b, at, n, any(factors).([]float64), any(y).([]float64), first, any(sums).([]float64))
	case *Blocks[float32]:
		callBlocksTransposed(blockTransposedKernels32[l-AVX2], b, at, n, any(factors).([]float32), any(y).([]float32), first, any(sums).([]float32))
	}
}

func callBlocksTransposed[V sparse.Value](kernel blockTransposedKernel[V], b *Blocks[V], at Position, n int, factors, y []V, first int, sums []V) {
	column := at.Column * b.Width * b.Height
	widths := b.Widths[2*at.Slice : 2*(at.Slice+n)]
	kernel(n, &widths[0], unsafe.SliceData(b.Masks[at.Mask:]), b.Values.from(column), unsafe.SliceData(b.Idx[at.Column*b.Values.Lanes:]), b.Height,
		b.Values.table(column), &factors[0], &y[0], first, &sums[0], len(sums))
}

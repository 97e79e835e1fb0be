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

type sliceTransposedKernel[V sparse.Value] func(n int, widths *uint32, masks *uint16, val, idx *byte, table, factors, y *V, first, asks int, products *V)

// The kernels by Level-AVX2, Storage, and whether indices are wide.
var (
	sliceTransposedKernels64 = [2][storages][2]sliceTransposedKernel[float64]{
		{
			{slicesTransposedFull16F64AVX2, slicesTransposedFull32F64AVX2},
			{slicesTransposedShort16F64AVX2, slicesTransposedShort32F64AVX2},
			{slicesTransposedTable16F64AVX2, slicesTransposedTable32F64AVX2},
			{slicesTransposedSame16F64AVX2, slicesTransposedSame32F64AVX2},
			{slicesTransposedHigh3216F64AVX2, slicesTransposedHigh3232F64AVX2},
			{slicesTransposedHigh1616F64AVX2, slicesTransposedHigh1632F64AVX2},
		}, {
			{slicesTransposedFull16F64AVX512, slicesTransposedFull32F64AVX512},
			{slicesTransposedShort16F64AVX512, slicesTransposedShort32F64AVX512},
			{slicesTransposedTable16F64AVX512, slicesTransposedTable32F64AVX512},
			{slicesTransposedSame16F64AVX512, slicesTransposedSame32F64AVX512},
			{slicesTransposedHigh3216F64AVX512, slicesTransposedHigh3232F64AVX512},
			{slicesTransposedHigh1616F64AVX512, slicesTransposedHigh1632F64AVX512},
		},
	}
	sliceTransposedKernels32 = [2][storages][2]sliceTransposedKernel[float32]{
		{
			{slicesTransposedFull16F32AVX2, slicesTransposedFull32F32AVX2},
			Table:  {slicesTransposedTable16F32AVX2, slicesTransposedTable32F32AVX2},
			Same:   {slicesTransposedSame16F32AVX2, slicesTransposedSame32F32AVX2},
			High16: {slicesTransposedHigh1616F32AVX2, slicesTransposedHigh1632F32AVX2},
		}, {
			{slicesTransposedFull16F32AVX512, slicesTransposedFull32F32AVX512},
			Table:  {slicesTransposedTable16F32AVX512, slicesTransposedTable32F32AVX512},
			Same:   {slicesTransposedSame16F32AVX512, slicesTransposedSame32F32AVX512},
			High16: {slicesTransposedHigh1616F32AVX512, slicesTransposedHigh1632F32AVX512},
		},
	}
)

func slicesTransposedAssembly[V sparse.Value](l Level, s *Slices[V], at Position, n int, factors, y []V, first int, products []V) {
	switch s := any(s).(type) {
	case *Slices[float64]:
		callSlicesTransposed(&sliceTransposedKernels64[l-AVX2][s.Values.Storage], s, at, n, any(factors).([]float64), any(y).([]float64), first, any(products).([]float64))
	case *Slices[float32]:
		callSlicesTransposed(&sliceTransposedKernels32[l-AVX2][s.Values.Storage], s, at, n, any(factors).([]float32), any(y).([]float32), first, any(products).([]float32))
	}
}

// askedAhead is how many entries ahead the kernels ask for elements of y.
const askedAhead = 128

func callSlicesTransposed[V sparse.Value](kernels *[2]sliceTransposedKernel[V], s *Slices[V], at Position, n int, factors, y []V, first int, products []V) {
	widths := s.Widths[2*at.Slice : 2*(at.Slice+n)]
	kernel, idx, asks := kernels[0], (*byte)(nil), 0
	k := at.Column * s.Values.Lanes
	if s.Narrow != nil {
		idx = bytesFrom(s.Narrow, k)
	} else {
		kernel, idx = kernels[1], bytesFrom(s.Wide, k)
		asks = (len(s.Wide)-askedAhead)/s.Values.Lanes - at.Column
	}
	kernel(n, unsafe.SliceData(widths), unsafe.SliceData(s.Masks[at.Mask:]), s.Values.from(at.Column), idx,
		unsafe.SliceData(s.Values.Table), &factors[0], &y[0], first, asks, &products[0])
}

func lostAssembly[V sparse.Value](l Level, n int, x []V, least, greatest V) bool {
	switch x := any(x).(type) {
	case []float64:
		if l == AVX512 {
			return lostF64AVX512(n, &x[0], float64(least), float64(greatest)) != 0
		}
		return lostF64AVX2(n, &x[0], float64(least), float64(greatest)) != 0
	case []float32:
		if l == AVX512 {
			return lostF32AVX512(n, &x[0], float32(least), float32(greatest)) != 0
		}
		return lostF32AVX2(n, &x[0], float32(least), float32(greatest)) != 0
	}
	return true
}

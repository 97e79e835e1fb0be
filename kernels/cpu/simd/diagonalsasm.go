//go:build amd64

package simd

import (
	"unsafe"

	"github.com/msrep-go/msrep/sparse"
)

type diagonalKernel[V sparse.Value] func(n int, offsets *int64, width int, masks *uint16, val *byte, x *V, row int, table, y *V, alpha, beta V, stream int)

// The kernels by Level-AVX2 and Storage.
var (
	diagonalKernels64 = [2][storages]diagonalKernel[float64]{
		{diagonalsFullF64AVX2, diagonalsShortF64AVX2, diagonalsTableF64AVX2, diagonalsPerDiagonalF64AVX2, diagonalsHigh32F64AVX2, diagonalsHigh16F64AVX2},
		{diagonalsFullF64AVX512, diagonalsShortF64AVX512, diagonalsTableF64AVX512, diagonalsPerDiagonalF64AVX512, diagonalsHigh32F64AVX512, diagonalsHigh16F64AVX512},
	}
	diagonalKernels32 = [2][storages]diagonalKernel[float32]{
		{Full: diagonalsFullF32AVX2, Table: diagonalsTableF32AVX2, Same: diagonalsPerDiagonalF32AVX2, High16: diagonalsHigh16F32AVX2},
		{Full: diagonalsFullF32AVX512, Table: diagonalsTableF32AVX512, Same: diagonalsPerDiagonalF32AVX512, High16: diagonalsHigh16F32AVX512},
	}
)

func diagonalsAssembly[V sparse.Value](l Level, d *Diagonals[V], run DiagonalRun, alpha, beta V, x []V, row, column, mask int, y []V) {
	switch d := any(d).(type) {
	case *Diagonals[float64]:
		callDiagonals(l, diagonalKernels64[l-AVX2][d.Values.Storage], d, run, float64(alpha), float64(beta), any(x).([]float64), row, column, mask, any(y).([]float64))
	case *Diagonals[float32]:
		callDiagonals(l, diagonalKernels32[l-AVX2][d.Values.Storage], d, run, float32(alpha), float32(beta), any(x).([]float32), row, column, mask, any(y).([]float32))
	}
}

func callDiagonals[V sparse.Value](l Level, kernel diagonalKernel[V], d *Diagonals[V], run DiagonalRun, alpha, beta V, x []V, row, column, mask int, y []V) {
	var masks *uint16
	if run.Masked {
		masks = &d.Masks[mask]
	}
	table := d.Values.table(column)
	if d.Values.Storage == Same {
		table = &d.Values.Table[run.Pattern]
	}
	stream := 0
	if d.Stream && toRegister(l, y) == 0 {
		stream = 1
	}
	kernel(run.Slices, &d.Offsets[run.Pattern], run.Width, masks, d.Values.from(column),
		unsafe.SliceData(x), row, table, &y[0], alpha, beta, stream)
}

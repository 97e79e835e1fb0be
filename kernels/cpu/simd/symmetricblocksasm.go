//go:build amd64

package simd

import "github.com/msrep-go/msrep/sparse"

type symmetricBlocksKernel[V sparse.Value] func(n int, widths *uint32, masks *uint16, val *V, idx *int32, x, y *V, first int, alpha V)

// The kernels by level, from AVX2 on, and Size-2.
var (
	symmetricBlocksKernels64 = [2][SymmetricBlockMax - 1]symmetricBlocksKernel[float64]{
		{symmetricBlocks2F64AVX2, symmetricBlocks3F64AVX2, symmetricBlocks4F64AVX2, symmetricBlocks5F64AVX2, symmetricBlocks6F64AVX2},
		{symmetricBlocks2F64AVX512, symmetricBlocks3F64AVX512, symmetricBlocks4F64AVX512, symmetricBlocks5F64AVX512, symmetricBlocks6F64AVX512},
	}
	symmetricBlocksKernels32 = [2][SymmetricBlockMax - 1]symmetricBlocksKernel[float32]{
		{symmetricBlocks2F32AVX2, symmetricBlocks3F32AVX2, symmetricBlocks4F32AVX2, symmetricBlocks5F32AVX2, symmetricBlocks6F32AVX2},
		{symmetricBlocks2F32AVX512, symmetricBlocks3F32AVX512, symmetricBlocks4F32AVX512, symmetricBlocks5F32AVX512, symmetricBlocks6F32AVX512},
	}
)

// symmetricBlocksAssembly is MultiplySymmetricBlocks from AVX2 on.
func symmetricBlocksAssembly[V sparse.Value](l Level, b *SymmetricBlocks[V], slice, column, n int, alpha V, x, y []V, first int) {
	switch b := any(b).(type) {
	case *SymmetricBlocks[float64]:
		callSymmetricBlocks(symmetricBlocksKernels64[l-AVX2][b.Size-2], b, slice, column, n, float64(alpha), any(x).([]float64), any(y).([]float64), first)
	case *SymmetricBlocks[float32]:
		callSymmetricBlocks(symmetricBlocksKernels32[l-AVX2][b.Size-2], b, slice, column, n, float32(alpha), any(x).([]float32), any(y).([]float32), first)
	}
}

func callSymmetricBlocks[V sparse.Value](kernel symmetricBlocksKernel[V], b *SymmetricBlocks[V], slice, column, n int, alpha V, x, y []V, first int) {
	k := column * b.Values.Lanes
	kernel(n, &b.Widths[slice], &b.Masks[column], &b.Values.Full[k*b.Size*b.Size], &b.Idx[k], &x[0], &y[0], first, alpha)
}

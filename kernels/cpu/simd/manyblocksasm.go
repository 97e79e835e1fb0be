//go:build amd64

package simd

import (
	"unsafe"

	"github.com/msrep-go/msrep/sparse"
)

// manyBlockKernel multiplies the lanes of n slices from lane first on, as many as
// are summed at once: the arguments are those of manyBlocks, with val, idx and order
// at lane first. rows counts the rows of blocks of order from there. ldx and ldy are
// bytes; last is the columns of y. step bytes from next on are brought to the second
// cache for each column of a block.
type manyBlockKernel[V sparse.Value] func(n int, widths *uint32, masks *uint16, first int, val *V, idx *int32, columns int, x *V, ldx int, y *V, ldy int, order *uint16, rows int, alpha, beta V, last int, reads, stream bool, next uintptr, step int)

// The kernels by Level-AVX2 and Height-2.
var (
	manyBlockKernels64 = [2][BlockMax - 1]manyBlockKernel[float64]{
		{manyBlocks2F64AVX2, manyBlocks3F64AVX2, manyBlocks4F64AVX2, manyBlocks5F64AVX2, manyBlocks6F64AVX2, manyBlocks7F64AVX2, manyBlocks8F64AVX2},
		{manyBlocks2F64AVX512, manyBlocks3F64AVX512, manyBlocks4F64AVX512, manyBlocks5F64AVX512, manyBlocks6F64AVX512, manyBlocks7F64AVX512, manyBlocks8F64AVX512},
	}
	manyBlockKernels32 = [2][BlockMax - 1]manyBlockKernel[float32]{
		{manyBlocks2F32AVX2, manyBlocks3F32AVX2, manyBlocks4F32AVX2, manyBlocks5F32AVX2, manyBlocks6F32AVX2, manyBlocks7F32AVX2, manyBlocks8F32AVX2},
		{manyBlocks2F32AVX512, manyBlocks3F32AVX512, manyBlocks4F32AVX512, manyBlocks5F32AVX512, manyBlocks6F32AVX512, manyBlocks7F32AVX512, manyBlocks8F32AVX512},
	}
)

// manyBlocksTogether is how many lanes of a slice a kernel serves: as many as the
// generator found registers for.
func manyBlocksTogether(l Level, height int) int {
	registers := 10
	if l >= AVX512 {
		registers = 24
	}
	n := 4
	for n*height > registers {
		n /= 2
	}
	return n
}

func (s *manyBlocks[V]) assembly(l Level, alpha, beta V, x, y Block[V], stream bool) {
	switch s := any(s).(type) {
	case *manyBlocks[float64]:
		callManyBlocks(manyBlockKernels64[l-AVX2][s.height-2], s, l, float64(alpha), float64(beta), any(x).(Block[float64]), any(y).(Block[float64]), stream)
	case *manyBlocks[float32]:
		callManyBlocks(manyBlockKernels32[l-AVX2][s.height-2], s, l, float32(alpha), float32(beta), any(x).(Block[float32]), any(y).(Block[float32]), stream)
	}
}

func callManyBlocks[V sparse.Value](kernel manyBlockKernel[V], s *manyBlocks[V], l Level, alpha, beta V, x, y Block[V], stream bool) {
	size, together := int(unsafe.Sizeof(alpha)), manyBlocksTogether(l, s.height)
	most := registerBytes(l) / size
	calls := (y.Cols + most - 1) / most * (s.lanes / together)
	next, step := s.next, s.height*s.asks/calls
	for c := 0; c < y.Cols; c += most {
		n := min(most, y.Cols-c)
		x, y := x.Columns(c, n), y.Columns(c, n)
		for first := 0; first < min(s.lanes, len(s.order)); first += together {
			kernel(s.n, unsafe.SliceData(s.widths), unsafe.SliceData(s.masks), first, unsafe.SliceData(s.val[min(first, len(s.val)):]),
				unsafe.SliceData(s.idx[min(first, len(s.idx)):]), s.width, unsafe.SliceData(x.Val), x.Stride*size,
				unsafe.SliceData(y.Val), y.Stride*size, unsafe.SliceData(s.order[first:]), len(s.order)-first,
				alpha, beta, n, beta != 0, stream, next, step)
			next += uintptr(step * s.width * len(s.idx) / s.lanes)
		}
	}
}

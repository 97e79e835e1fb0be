//go:build amd64

package simd

import (
	"unsafe"

	"github.com/msrep-go/msrep/sparse"
)

type tileKernel[V sparse.Value] func(acc, x *V, entries *uint32, values *byte, n int, ahead *V, lines, perRound int)

// The kernels of tiles and of transposed ones, by Storage.
var (
	tileKernels64 = [2][4]tileKernel[float64]{
		{Full: tileF64FullAVX2, Short: tileF64ShortAVX2, Same: tileF64SameAVX2},
		{Full: tileTransposedF64FullAVX2, Short: tileTransposedF64ShortAVX2, Same: tileTransposedF64SameAVX2},
	}
	tileKernels32 = [2][4]tileKernel[float32]{
		{Full: tileF32FullAVX2, Same: tileF32SameAVX2},
		{Full: tileTransposedF32FullAVX2, Same: tileTransposedF32SameAVX2},
	}
)

// tileAssembly is AddTile or AddTileTransposed for lo < hi.
func tileAssembly[V sparse.Value](t *Tiles[V], transposed bool, lo, hi int, x, acc, ahead []V) {
	const line = 64
	n := hi - lo
	lines := len(ahead) * int(unsafe.Sizeof(*new(V))) / line
	perRound := lines/(n/8+1) + 1 // evenly, so that they do not hold up the tile's own loads
	entries := unsafe.SliceData(t.Entries[lo:hi])
	values := unsafe.Pointer(unsafe.SliceData(t.Values.Table))
	switch t.Values.Storage {
	case Full:
		values = unsafe.Pointer(unsafe.SliceData(t.Values.Full[lo:hi]))
	case Short:
		values = unsafe.Pointer(unsafe.SliceData(t.Values.Short[lo:hi]))
	}
	which := 0
	if transposed {
		which = 1
	}
	switch x := any(x).(type) {
	case []float64:
		tileKernels64[which][t.Values.Storage](unsafe.SliceData(any(acc).([]float64)), unsafe.SliceData(x), entries, (*byte)(values), n,
			unsafe.SliceData(any(ahead).([]float64)), lines, perRound)
	case []float32:
		tileKernels32[which][t.Values.Storage](unsafe.SliceData(any(acc).([]float32)), unsafe.SliceData(x), entries, (*byte)(values), n,
			unsafe.SliceData(any(ahead).([]float32)), lines, perRound)
	}
}

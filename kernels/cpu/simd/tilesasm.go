//go:build amd64

package simd

import (
	"unsafe"

	"github.com/msrep-go/msrep/sparse"
)

// tileAssembly is AddTile for lo < hi.
func tileAssembly[V sparse.Value](t *Tiles[V], lo, hi int, x, acc, ahead []V) {
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
	switch x := any(x).(type) {
	case []float64:
		kernel := tileF64FullAVX2
		switch t.Values.Storage {
		case Short:
			kernel = tileF64ShortAVX2
		case Same:
			kernel = tileF64SameAVX2
		}
		next := any(ahead).([]float64)
		kernel(unsafe.SliceData(any(acc).([]float64)), unsafe.SliceData(x), entries, (*byte)(values), n, unsafe.SliceData(next), lines, perRound)
	case []float32:
		kernel := tileF32FullAVX2
		if t.Values.Storage == Same {
			kernel = tileF32SameAVX2
		}
		next := any(ahead).([]float32)
		kernel(unsafe.SliceData(any(acc).([]float32)), unsafe.SliceData(x), entries, (*byte)(values), n, unsafe.SliceData(next), lines, perRound)
	}
}

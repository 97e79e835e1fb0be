package simd

import (
	"github.com/klauspost/cpuid/v2"

	"github.com/msrep-go/msrep/sparse"
)

// Beyond reports whether so many bytes are more than the last cache holds, so that
// nothing written before they are read is still there after.
func Beyond(bytes int64) bool {
	last := int64(cpuid.CPU.Cache.L3)
	if last <= 0 {
		last = 32 << 20
	}
	return bytes > last
}

// StreamScaled is y = alpha*v with stores that go past the caches, for as many
// elements as it gives back, from the first on. Fence must follow before another
// goroutine may look at y.
func StreamScaled[V sparse.Value](l Level, alpha V, v, y []V) (done int) {
	lanes := Lanes[V](l)
	n := len(y) / lanes
	if l == Generic || n == 0 || !streamable(l, y) {
		return 0
	}
	streamAssembly(l, n, alpha, v[:n*lanes], y)
	return n * lanes
}

// LoadAhead asks for the elements of x in [from, to), which are used soon.
func LoadAhead[V sparse.Value](l Level, x []V, from, to int) {
	if l != Generic && from < to {
		loadAheadAssembly(x[from:to])
	}
}

// Fence makes what StreamScaled and MultiplyDiagonals wrote visible to all.
func Fence(l Level) {
	if l != Generic {
		fenceAssembly()
	}
}

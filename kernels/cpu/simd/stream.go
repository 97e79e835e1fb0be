package simd

import (
	"unsafe"

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

// StreamScaled is y = alpha*v with stores that go past the caches, but for the
// elements before and behind whole registers. Fence must follow before another
// goroutine may look at y.
func StreamScaled[V sparse.Value](l Level, alpha V, v, y []V) {
	v = v[:len(y)]
	lanes := Lanes[V](l)
	head := min(toRegister(l, y), len(y))
	n := (len(y) - head) / lanes
	if l == Generic || n == 0 {
		head, n = len(y), 0
	}
	for i, e := range v[:head] {
		y[i] = alpha * e
	}
	if n > 0 {
		streamAssembly(l, n, alpha, v[head:], y[head:])
	}
	for i := head + n*lanes; i < len(y); i++ {
		y[i] = alpha * v[i]
	}
}

// toRegister is the number of elements of y before the first at a multiple of the
// size of a register, where stores may go past the caches.
func toRegister[V sparse.Value](l Level, y []V) int {
	lanes := Lanes[V](l)
	if len(y) == 0 {
		return 0
	}
	at := int(uintptr(unsafe.Pointer(unsafe.SliceData(y))) / unsafe.Sizeof(y[0]) % uintptr(lanes))
	return (lanes - at) % lanes
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

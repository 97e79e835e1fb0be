package mem

import (
	"strings"
	"unsafe"
)

// minUncleared is the least size in bytes for which Uncleared pays.
const minUncleared = 64 << 10

// Uncleared returns n elements in the Go heap like Make, but many elements may have any values: the caller must set all of
// them. It saves the time to clear memory that was in use before.
func Uncleared[T Elem](n int) []T {
	size := int64(n) * Size[T]()
	if size < minUncleared {
		return make([]T, n)
	}
	var b strings.Builder // its memory is not cleared, and holds no pointers
	b.Grow(int(size))
	b.WriteByte(0)
	p := unsafe.Pointer(unsafe.StringData(b.String()))
	if uintptr(p)%unsafe.Alignof(*new(T)) != 0 {
		return make([]T, n)
	}
	s := unsafe.Slice((*T)(p), n)
	requestHuge(Bytes(s))
	return s
}

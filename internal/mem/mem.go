// Package mem provides memory for arrays on devices: regions with one owner, outside the
// Go heap if they are large, and conversions of memory between bytes and typed slices. Make
// allocates slices of the Go heap.
package mem

import (
	"errors"
	"unsafe"
)

var errNegative = errors.New("a negative number of bytes")

// Elem is the element types of arrays on devices, which hold no pointers.
type Elem interface {
	uint8 | int8 | uint16 | int16 | uint32 | int32 | uint64 | int64 | float32 | float64
}

// Size returns the size of an element in bytes.
func Size[T Elem]() int64 {
	var t T
	return int64(unsafe.Sizeof(t))
}

// Bytes returns the memory of s as bytes.
func Bytes[T Elem](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), int64(len(s))*Size[T]())
}

// Slice returns the first n elements in b. It returns nil and false if b is too short or
// not aligned to the element size.
func Slice[T Elem](b []byte, n int64) ([]T, bool) {
	p := unsafe.SliceData(b)
	if n < 0 || n > int64(len(b))/Size[T]() || uintptr(unsafe.Pointer(p))%uintptr(Size[T]()) != 0 {
		return nil, false
	}
	return unsafe.Slice((*T)(unsafe.Pointer(p)), n), true
}

// align is a cache line, the alignment of an array that kernels rely on.
const align = 64

// Aligned returns n zero bytes that begin at a multiple of 64.
func Aligned(n int64) []byte {
	b := make([]byte, n+align)
	off := -uintptr(unsafe.Pointer(unsafe.SliceData(b))) % align
	return b[off : int64(off)+n : int64(off)+n]
}

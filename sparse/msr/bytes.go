package msr

import (
	"encoding/binary"
	"errors"
	"fmt"
	"unsafe"

	"github.com/msrep-go/msrep/sparse"
)

// This file holds every unsafe cast of the package.

// element is a type of array in the payload: fixed size, no pointers, and every
// bit pattern is a value.
type element interface {
	int32 | int64 | float32 | float64
}

// bytesOf is the memory of s. It shares s.
func bytesOf[T element](s []T) []byte {
	if len(s) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(s[0])))
}

// arrayOf is b as an array of T. It shares b. The length of b must be a
// multiple of the size of T and its start aligned for T; the layout and the
// mapping see to both, so a failure here is an error of this package.
func arrayOf[T element](b []byte) ([]T, error) {
	var zero T
	size := int(unsafe.Sizeof(zero))
	if len(b)%size != 0 {
		return nil, fmt.Errorf("msr: %d bytes are no array of %T", len(b), zero)
	}
	if len(b) == 0 {
		return []T{}, nil
	}
	p := unsafe.Pointer(unsafe.SliceData(b))
	if uintptr(p)%uintptr(size) != 0 {
		return nil, fmt.Errorf("msr: an array of %T lies at %#x: it must be aligned to %d bytes", zero, p, size)
	}
	return unsafe.Slice((*T)(p), len(b)/size), nil
}

// alignedBytes makes n zero bytes that start at a multiple of align.
func alignedBytes(n int64) []byte {
	b := make([]byte, n+align-1)
	skip := -uintptr(unsafe.Pointer(unsafe.SliceData(b))) & (align - 1)
	return b[skip : int64(skip)+n : int64(skip)+n]
}

// valueType names V.
func valueType[V sparse.Value]() ValueType {
	var v V
	if unsafe.Sizeof(v) == 4 {
		return Float32
	}
	return Float64
}

// checkByteOrder refuses machines on which the arrays of a file cannot be used
// in place. The error is errors.ErrUnsupported.
func checkByteOrder(name string) error {
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		return fmt.Errorf("%s: .msr files hold little-endian arrays and this machine is big-endian: %w", name, errors.ErrUnsupported)
	}
	return nil
}

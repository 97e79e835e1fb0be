//go:build cgo

package main

// #include "shim.h"
import "C"

import (
	"math"
	"unsafe"

	"github.com/msrep-go/msrep/sparse"
)

// readStruct returns a struct of the caller, whose first field is its size in bytes. Fields beyond that size are 0. A
// larger struct, of a program with a newer header, must have zeros beyond what the library knows. A nil p is a struct
// of zeros.
func readStruct[T any](name string, p *T) (v T, err error) {
	if p == nil {
		return v, nil
	}
	size, err := structSize(name, p)
	if err != nil {
		return v, err
	}
	known := int(unsafe.Sizeof(v))
	given := unsafe.Slice((*byte)(unsafe.Pointer(p)), size)
	copy(unsafe.Slice((*byte)(unsafe.Pointer(&v)), known), given)
	for k := known; k < size; k++ {
		if given[k] != 0 {
			return v, sparse.Inputf(name, "byte %d is not 0: it belongs to a field that this version of the library does not know", k)
		}
	}
	return v, nil
}

// structSize returns the field size of *p. Sizes that no version of the struct has are an error.
func structSize[T any](name string, p *T) (int, error) {
	size := *(*C.size_t)(unsafe.Pointer(p))
	if size < C.size_t(unsafe.Sizeof(size)) || size > most {
		return 0, sparse.Inputf(name, "its size is %d: set size to sizeof the struct, %d", uint64(size), unsafe.Sizeof(*p))
	}
	return int(size), nil
}

// most is a size in bytes that no struct will have.
const most = 1 << 16

// writeStruct stores v in *p, up to the size that *p states.
func writeStruct[T any](name string, p *T, v T) error {
	if p == nil {
		return nil
	}
	size, err := structSize(name, p)
	if err != nil {
		return err
	}
	*(*C.size_t)(unsafe.Pointer(&v)) = C.size_t(size)
	n := min(size, int(unsafe.Sizeof(v)))
	copy(unsafe.Slice((*byte)(unsafe.Pointer(p)), n), unsafe.Slice((*byte)(unsafe.Pointer(&v)), n))
	return nil
}

// count returns a number of the caller as an int; 0 means a default.
func count(name string, n C.int64_t) (int, error) {
	if n < 0 || n > math.MaxInt32 {
		return 0, sparse.Inputf(name, "%d: use 0 to %d", int64(n), math.MaxInt32)
	}
	return int(n), nil
}

// writeText copies s with a final 0 to a buffer of the caller, and stores the capacity that it needs in *length.
func writeText(s string, buffer *C.char, capacity C.size_t, length *C.size_t) error {
	need := len(s) + 1
	if length != nil {
		*length = C.size_t(need)
	}
	switch {
	case buffer == nil && capacity == 0:
		return nil
	case buffer == nil:
		return isNull("text")
	case capacity < C.size_t(need):
		return sparse.Inputf("capacity", "%d: the text and its final 0 have %d bytes", uint64(capacity), need)
	}
	out := unsafe.Slice((*byte)(unsafe.Pointer(buffer)), need)
	copy(out, s)
	out[need-1] = 0
	return nil
}

// fill copies s with a final 0 to an array of a struct, as far as it fits.
func fill(dst *[32]C.char, s string) {
	n := min(len(s), len(dst)-1)
	for i := range n {
		dst[i] = C.char(s[i])
	}
	dst[n] = 0
}

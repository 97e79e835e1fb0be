package kernels

import (
	"fmt"
	"math"

	"github.com/msrep-go/msrep/internal/mem"
)

// Array is a range of consecutive elements in a buffer. The zero value is an empty array.
type Array[T mem.Elem] struct {
	Buf Buffer
	Off int64 // bytes from the start of Buf
	Len int64 // elements
}

// NewArray allocates n zero elements on a device. For a negative or too large n it returns a *DeviceError that
// wraps ErrArgument.
func NewArray[T mem.Elem](d Device, n int64) (Array[T], error) {
	if n < 0 || n > math.MaxInt64/mem.Size[T]() {
		return Array[T]{}, &DeviceError{d.Info().ID, "alloc", 0, fmt.Errorf("%w: %d elements", ErrArgument, n)}
	}
	buf, err := d.Alloc(n * mem.Size[T]())
	if err != nil {
		return Array[T]{}, err
	}
	return Array[T]{Buf: buf, Len: n}, nil
}

// AdoptArray returns an array that uses the memory of s. The caller keeps s alive.
func AdoptArray[T mem.Elem](d HostMapper, s []T) Array[T] {
	return Array[T]{Buf: d.Adopt(mem.Bytes(s)), Len: int64(len(s))}
}

// Sub returns the elements [lo, hi) of the array, in the same memory. It does not check the range.
func (a Array[T]) Sub(lo, hi int64) Array[T] {
	return Array[T]{Buf: a.Buf, Off: a.Off + lo*mem.Size[T](), Len: hi - lo}
}

// Free frees the buffer of the array, if it has one.
func (a Array[T]) Free() error {
	if a.Buf == nil {
		return nil
	}
	return a.Buf.Free()
}

// Write copies src to the first elements of the array. See Stream.Write.
func (a Array[T]) Write(s Stream, src []T) error { return s.Write(a.Buf, a.Off, mem.Bytes(src)) }

// Read copies the first len(dst) elements of the array to dst. See Stream.Read.
func (a Array[T]) Read(s Stream, dst []T) error { return s.Read(mem.Bytes(dst), a.Buf, a.Off) }

// View returns the memory of the array as a slice. An array that exceeds its buffer is an error that wraps
// ErrArgument.
func View[T mem.Elem](d HostMapper, a Array[T]) ([]T, error) {
	if a.Buf == nil && a.Len == 0 {
		return nil, nil
	}
	b, err := d.View(a.Buf)
	if err != nil {
		return nil, err
	}
	if a.Off < 0 || a.Off > int64(len(b)) {
		return nil, fmt.Errorf("%w: offset %d in a buffer of %d bytes", ErrArgument, a.Off, len(b))
	}
	s, ok := mem.Slice[T](b[a.Off:], a.Len)
	if !ok {
		return nil, fmt.Errorf("%w: %d elements at offset %d in a buffer of %d bytes", ErrArgument, a.Len, a.Off, len(b))
	}
	return s, nil
}

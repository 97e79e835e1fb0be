//go:build cgo

package main

import "C"

import (
	"unsafe"

	"github.com/msrep-go/msrep/sparse"
)

// element is the types of elements in the caller's arrays.
type element interface {
	int32 | int64 | float32 | float64
}

func isNull(name string) error { return sparse.Inputf(name, "is a null pointer") }

// text returns a string of the caller; null is "".
func text(s *C.char) string {
	if s == nil {
		return ""
	}
	return C.GoString(s)
}

// view returns n elements of the caller's memory as a slice.
func view[T element](name string, p unsafe.Pointer, n int64) ([]T, error) {
	switch {
	case n < 0 || n > 1<<48:
		return nil, sparse.Inputf(name, "%d elements: that is no length", n)
	case n == 0:
		return nil, nil
	case p == nil:
		return nil, isNull(name)
	case uintptr(p)%unsafe.Sizeof(T(0)) != 0:
		return nil, sparse.Inputf(name, "begins at an address that is no multiple of %d", unsafe.Sizeof(T(0)))
	}
	return unsafe.Slice((*T)(p), n), nil
}

// readable is view, and checks that the memory can be read.
func readable[T element](name string, p unsafe.Pointer, n int64) ([]T, error) {
	v, err := view[T](name, p, n)
	if err == nil {
		err = touch(name, v, false)
	}
	if err != nil {
		return nil, err
	}
	return v, nil
}

// touch reads one byte of each page of v, and writes it back if write is set. A page that the caller has not mapped
// causes an error here instead of a fault in a worker, which would make the plan unusable. The caller runs touch under
// guard, which converts faults to panics.
func touch[T element](name string, v []T, write bool) (err error) {
	const page = 4096
	bytes := int64(len(v)) * int64(unsafe.Sizeof(T(0)))
	b := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), bytes)
	at, can := int64(0), "read"
	defer func() {
		if recover() != nil {
			err = sparse.Inputf(name, "byte %d of its %d is not in memory that can be %s", at, bytes, can)
		}
	}()
	for ; at < bytes; at = min(at+page, max(bytes-1, at+1)) {
		c := load(&b[at])
		if write {
			can = "written"
			store(&b[at], c)
		}
	}
	return nil
}

// load and store are not inlined, because the compiler would drop the accesses.
//
//go:noinline
func load(p *byte) byte { return *p }

//go:noinline
func store(p *byte, c byte) { *p = c }

package msr

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/sparse"
)

// valueType returns the ValueType of V.
func valueType[V sparse.Value]() ValueType {
	if mem.Size[V]() == 4 {
		return Float32
	}
	return Float64
}

// checkByteOrder refuses big-endian machines, which cannot use the arrays of a file in
// place. The error wraps errors.ErrUnsupported.
func checkByteOrder(name string) error {
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		return fmt.Errorf("%s: .msr files hold little-endian arrays and this machine is big-endian: %w", name, errors.ErrUnsupported)
	}
	return nil
}

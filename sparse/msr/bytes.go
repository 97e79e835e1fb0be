package msr

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/sparse"
)

// valueType names V.
func valueType[V sparse.Value]() ValueType {
	if mem.Size[V]() == 4 {
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

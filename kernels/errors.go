package kernels

import (
	"errors"
	"fmt"
)

// These are the errors that a DeviceError may wrap.
var (
	ErrOutOfMemory  = errors.New("out of memory")
	ErrNotSupported = errors.New("not supported")
	ErrClosed       = errors.New("already closed")
	ErrArgument     = errors.New("invalid argument")
	ErrBadAccess    = errors.New("a kernel accessed memory that it must not")
)

// LostError is the loss of a device: it refuses all further work. Errors of the device wrap it, and those of
// devices that wait for it.
type LostError struct {
	Device string // as in Info.ID
	Err    error
}

func (e *LostError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *LostError) Unwrap() error { return e.Err }

// DeviceError is a failed call on a device.
type DeviceError struct {
	Device string // as in Info.ID
	Call   string // "alloc", "write", or the name of an operation
	Bytes  int64  // size of the request, 0 where it has none
	Err    error
}

func (e *DeviceError) Error() string {
	if e.Bytes > 0 {
		return fmt.Sprintf("device %s: %s of %d bytes: %v", e.Device, e.Call, e.Bytes, e.Err)
	}
	return fmt.Sprintf("device %s: %s: %v", e.Device, e.Call, e.Err)
}

// Unwrap returns the cause.
func (e *DeviceError) Unwrap() error { return e.Err }

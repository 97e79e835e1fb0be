package kernels

import "time"

// Device is a place where parts of a matrix live and kernels run. Its methods may
// be called from any goroutine; Close is for the owner, after everything else.
type Device interface {
	// Info describes the device.
	Info() Info
	// Alloc gives zeroed memory that begins at a multiple of 64 bytes, or an error
	// that wraps ErrOutOfMemory.
	Alloc(bytes int64) (Buffer, error)
	// InUse is the number of bytes that were allocated and not freed.
	InUse() int64
	// NewStream makes a stream, which works beside the others of the device.
	NewStream() (Stream, error)
	// NewEvent makes an event for streams of this device to record.
	NewEvent() (Event, error)
	// Close releases the device. Buffers must have been freed: it reports those
	// that were not. It may be called again.
	Close() error
}

// HostMapper is a device that works on host memory in place, which the caller owns and
// keeps alive; it counts as 0 bytes in use.
type HostMapper interface {
	// Adopt makes a buffer of p.
	Adopt(p []byte) Buffer
	// View is the memory of a buffer of this device.
	View(b Buffer) ([]byte, error)
}

// Info describes a device.
type Info struct {
	ID       string // as in --devices: "cpu:0"
	Kind     string // "cpu", "cuda" or "sim"
	Name     string // of the processor
	NUMANode int    // -1 where it has none in particular
	Memory   int64  // bytes in all, 0 when unknown
	Threads  int    // workers of a CPU device, 0 for others
}

// Buffer is memory of one device. Free releases it, once; more calls do nothing.
type Buffer interface {
	Device() Device
	Bytes() int64
	Free() error
}

// Stream runs what is put on it in order. Offsets and sizes are bytes. Host
// memory handed to Write and Read must stay as it is until Sync. A stream is used by one
// goroutine at a time.
type Stream interface {
	// Write copies src from host memory to dst, from off on.
	Write(dst Buffer, off int64, src []byte) error
	// Read fills dst in host memory with what src has from off on.
	Read(dst []byte, src Buffer, off int64) error
	// Copy copies between buffers of this device, or of two devices of one kind.
	Copy(dst Buffer, dstOff int64, src Buffer, srcOff, bytes int64) error
	// Launch runs a kernel. An op that the device does not have is an error that wraps
	// ErrNotSupported, and wrong arguments are one that wraps ErrArgument.
	Launch(op Operation) error
	// Record makes e the moment when all that was put on the stream so far is done.
	Record(e Event) error
	// Wait holds back what is put on the stream from now on until the moment of e has
	// come, as the last Record before this call has made it; at an event that was never
	// recorded it does not wait. e may be of another device; where that is of another
	// kind, the caller waits. An event that is recorded anew, on the same stream, may be
	// waited for at its later moment. Where the moment can't come, because its stream
	// failed before, Sync says so.
	Wait(e Event) error
	// Sync waits for all that was put on the stream, and gives the first error since the
	// last Sync.
	Sync() error
	// Close does what Sync does and releases the stream. It may be called again.
	Close() error
}

// Event marks a moment of a stream.
type Event interface {
	// Sync waits for the moment; not at an event that was never recorded.
	Sync() error
	// Since is the time from the moment of start to that of this event, once both
	// have happened.
	Since(start Event) (time.Duration, error)
	Close() error
}

// Operation is a kernel with its arguments: a pointer to one of the structs of this
// package.
type Operation interface{ Name() string }

package kernels

import "time"

// Device stores parts of a matrix and runs kernels. Its methods may be called from any goroutine at the
// same time, except Close: the owner calls it when no other call is under way.
type Device interface {
	// Info describes the device.
	Info() Info
	// Alloc returns zeroed memory that begins at a multiple of 64 bytes. Where there is not enough memory
	// it returns an error that wraps ErrOutOfMemory.
	Alloc(bytes int64) (Buffer, error)
	// InUse returns the number of bytes that were allocated and not yet freed.
	InUse() int64
	// NewStream returns a stream that runs concurrently with the other streams of the device.
	NewStream() (Stream, error)
	// NewEvent returns an event that streams of this device can record.
	NewEvent() (Event, error)
	// Close closes the device. Buffers that were not freed before are an error. More calls do nothing.
	Close() error
}

// HostMapper is a device that works on host memory in place. The caller owns adopted memory and keeps it
// alive. Adopted memory does not count in Device.InUse.
type HostMapper interface {
	// Adopt returns a buffer that uses the memory of p.
	Adopt(p []byte) Buffer
	// View returns the memory of a buffer of this device.
	View(b Buffer) ([]byte, error)
}

// MemoryAdopter is a device on which programs also have memory by other ways, such as a GPU.
type MemoryAdopter interface {
	// AdoptMemory returns a buffer that uses memory of the caller on the device, from the address that its driver uses. It
	// waits for all work on the device that was queued before, by anyone. The caller keeps the memory alive, and Free does
	// not free it. Memory that is not on the device is an error that wraps ErrArgument.
	AdoptMemory(addr uint64, bytes int64) (Buffer, error)
}

// Info describes a device.
type Info struct {
	ID       string // as in --devices: "cpu:0"
	Kind     string // "cpu", "cuda" or "sim"
	Name     string // the processor's name
	NUMANode int    // -1 where the device belongs to no single node
	Memory   int64  // total bytes, 0 when unknown
	Threads  int    // workers of a CPU device, 0 for other devices

	// Bandwidth of the device's memory in bytes/s, reads and writes of a copy; 0 where it was not measured. Devices
	// of one System that differ measure it when they are opened.
	Bandwidth float64
}

// Buffer is memory of one device. The first call of Free frees it; more calls do nothing.
type Buffer interface {
	Device() Device
	Bytes() int64
	Free() error
}

// Stream runs copies and operations in the order of the calls. A call may return before its work is done.
// Offsets and sizes are in bytes. Host memory that is passed to Write or Read must not be used otherwise
// until Sync has returned. Only one goroutine may use a stream at a time.
type Stream interface {
	// Write copies src from host memory to dst, beginning at offset off of dst.
	Write(dst Buffer, off int64, src []byte) error
	// Read copies len(dst) bytes of src, beginning at offset off of src, to dst in host memory.
	Read(dst []byte, src Buffer, off int64) error
	// Copy copies between buffers of this device, or of two devices of the same kind.
	Copy(dst Buffer, dstOff int64, src Buffer, srcOff, bytes int64) error
	// Launch runs an operation. An operation that the device lacks is an error that wraps ErrNotSupported.
	// Wrong arguments are an error that wraps ErrArgument.
	Launch(op Operation) error
	// Record makes e mark the end of the work that was put on the stream before this call.
	Record(e Event) error
	// Wait makes the work that is put on the stream after this call wait for the last Record of e before
	// this call. It does not wait for an event that was never recorded. e may belong to another device. For
	// a device of another kind, the calling goroutine waits. A stream may record e again; later calls of
	// Wait then wait for the later Record. If the stream of e failed before the Record, Sync reports that.
	Wait(e Event) error
	// Sync waits for all work of the stream and returns the first error since the last Sync.
	Sync() error
	// Close does what Sync does and closes the stream. More calls do nothing.
	Close() error
}

// Event marks a point in the work of a stream. Stream.Record records it.
type Event interface {
	// Sync waits until the stream has reached the recorded point. It does not wait for an event that was
	// never recorded.
	Sync() error
	// Since returns the time from start to this event. Both must have happened.
	Since(start Event) (time.Duration, error)
	Close() error
}

// Operation is an operation of a device with its arguments: a pointer to one of the structs of this
// package. Name returns the name by which each device finds its kernel.
type Operation interface{ Name() string }

// Marker is a device that has events without times. They take less time to record and to wait for.
type Marker interface {
	// NewMark returns an event that streams of this device can record. Its Since is an error.
	NewMark() (Event, error)
}

// NewMark returns an event of d for streams to wait for. It has no times if d is a Marker.
func NewMark(d Device) (Event, error) {
	if m, ok := d.(Marker); ok {
		return m.NewMark()
	}
	return d.NewEvent()
}

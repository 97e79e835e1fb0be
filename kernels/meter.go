package kernels

// Meter is a device that simulates another one, for example a simulated GPU. Its times mean nothing, so
// choices that are made by time on real devices are made by its memory traffic.
type Meter interface {
	// Traffic runs an operation and returns the number of bytes that its kernels load and store. Each access
	// counts in whole sectors of 32 bytes. No stream may be using the arrays of the operation.
	Traffic(op Operation) (int64, error)
}

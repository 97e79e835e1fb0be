package kernels

// Meter is a device that stands for another one, so that times say nothing: a simulated GPU.
// Choices that are measured elsewhere go by what it counts.
type Meter interface {
	// Traffic runs an operation and gives the bytes that its kernels load and store, in
	// units of 32. What the operation uses must not be in use by any stream.
	Traffic(op Operation) (int64, error)
}

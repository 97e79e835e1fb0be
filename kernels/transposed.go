package kernels

import "github.com/msrep-go/msrep/sparse"

// TransposedMultiplier is a Packed part that may run ScatterPacked.
type TransposedMultiplier interface {
	Packed
	// MultipliesTransposed reports whether it does, and faster than Scatter with the
	// part as it is where that is at hand.
	MultipliesTransposed() bool
}

// ScatterPacked is Scatter for a packed part: the same formula, the same vectors.
type ScatterPacked[V sparse.Value] struct {
	A           Packed
	Alpha, Beta V
	X, Y        Array[V]
}

// Kernel names the operation.
func (*ScatterPacked[V]) Kernel() string { return "scatter-packed" }

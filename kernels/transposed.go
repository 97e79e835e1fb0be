package kernels

import "github.com/msrep-go/msrep/sparse"

// TransposedMultiplier is a Packed part that may run MinorProductPacked.
type TransposedMultiplier interface {
	Packed
	// MultipliesTransposed reports whether it does, and faster than Scatter with the
	// part as it is where that is at hand.
	MultipliesTransposed() bool
}

// MinorProductPacked is Scatter for a packed part: the same formula, the same vectors.
type MinorProductPacked[V sparse.Value] struct {
	A           Packed
	Alpha, Beta V
	X, Y        Array[V]
}

// Name names the operation.
func (*MinorProductPacked[V]) Name() string { return "minor-product-packed" }

package kernels

import "github.com/msrep-go/msrep/sparse"

// TransposedMultiplier is a Packed part that may support MinorProductPacked.
type TransposedMultiplier interface {
	Packed
	// MultipliesTransposed reports whether the form supports MinorProductPacked and, where the device also
	// has the unpacked part, whether that is faster than MinorProduct.
	MultipliesTransposed() bool
}

// MinorProductPacked is MinorProduct for a packed part, with the same formula and shapes.
type MinorProductPacked[V sparse.Value] struct {
	A           Packed
	Alpha, Beta V
	X, Y        Array[V]
}

// Name returns the name of the operation.
func (*MinorProductPacked[V]) Name() string { return "minor-product-packed" }

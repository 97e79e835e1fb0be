package simd

// Kernels has the assembly kernels of one operation: a function or a pointer to a table of
// functions, for float64 and for float32. Both are nil on processors without assembly.
type Kernels struct{ Double, Single any }

// ForType returns the kernels of type K; K names the type of the values.
func ForType[K any](k Kernels) K {
	if double, ok := k.Double.(K); ok {
		return double
	}
	return k.Single.(K)
}

// KernelsOf returns the kernels of an operation: a function or a pointer to a table of functions
// for each type.
func KernelsOf(double, single any) Kernels { return Kernels{double, single} }

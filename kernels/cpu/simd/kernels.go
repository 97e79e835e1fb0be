package simd

// kernels has the assembly kernels of one operation: a function or a pointer to a table of
// functions, for float64 and for float32. Both are nil on processors without assembly.
type kernels struct{ double, single any }

// forType returns the kernels of type K; K names the type of the values.
func forType[K any](k kernels) K {
	if double, ok := k.double.(K); ok {
		return double
	}
	return k.single.(K)
}

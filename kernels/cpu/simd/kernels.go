package simd

// kernels is the kernels in assembly of one operation: a function or a pointer to a table of
// functions for float64, and the same for float32. There are none where the processor has no
// assembly.
type kernels struct{ double, single any }

// of is those of the kernels that have type K, which names the type of the values.
func of[K any](k kernels) K {
	if double, ok := k.double.(K); ok {
		return double
	}
	return k.single.(K)
}

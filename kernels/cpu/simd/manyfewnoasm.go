//go:build !amd64

package simd

// fewAssembly is never called where there is no assembly.
func (s *manyShape[V]) fewAssembly(alpha, beta V, x, y Block[V], stream bool) {}

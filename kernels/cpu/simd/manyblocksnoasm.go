//go:build !amd64

package simd

// assembly is never called where there is none.
func (s *manyBlocks[V]) assembly(_ Level, alpha, beta V, x, y Block[V], _ bool) {
	s.generic(alpha, beta, x, y)
}

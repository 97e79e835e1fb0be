//go:build !amd64

package simd

import "github.com/msrep-go/msrep/sparse"

// expandAssembly and assembly are never called where there is no assembly.
func expandAssembly[V sparse.Value](_ Level, v *Values[V], c, n int, out []V, _ int) {
	for i := range out {
		out[i] = v.At(c*v.Lanes + i)
	}
}

func (s *manyShape[V]) assembly(_ Level, alpha, beta V, x, y Block[V], _ bool) {
	s.generic(alpha, beta, x, y)
}

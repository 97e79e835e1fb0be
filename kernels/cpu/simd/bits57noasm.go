//go:build !amd64

package simd

// pack57Assembly is never called where there is no assembly.
func pack57Assembly(s *Values57, val []float64) int { return 0 }

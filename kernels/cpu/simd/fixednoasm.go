//go:build !amd64

package simd

import "github.com/msrep-go/msrep/sparse"

// rowSumsAVX2 does nothing where there is no assembly.
func rowSumsAVX2[V sparse.Value](ptr []int64, idx []int32, val, x, sums []V) bool { return false }

//go:build !amd64

package triangular

import (
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/sparse"
)

// call returns false: there are no kernels.
func call[V sparse.Value](simd.Level, kind, bool, *args[V]) bool { return false }

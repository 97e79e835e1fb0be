//go:build !amd64

package dense

import (
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/sparse"
)

// There is no assembly: the level is below simd.AVX2, and nothing calls these functions.

func subtract[V sparse.Value](simd.Level, *productArgs[V]) {}
func triangle[V sparse.Value](simd.Level, *productArgs[V]) {}
func right[V sparse.Value](simd.Level, *rightArgs[V])      {}
func left[V sparse.Value](simd.Level, *leftArgs[V])        {}
func dots[V sparse.Value](simd.Level, *dotsArgs[V])        {}

//go:build !amd64 && !arm64

package vec

import "github.com/msrep-go/msrep/internal/simd"

var transposeTables simd.Kernels

package vec

import (
	"unsafe"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/sparse"
)

// A loop in assembly computes whole groups of 8 float64. Float32, the elements after the last group and processors
// without assembly have the loop in plain Go, with the same bits.

// level is the instruction set of the loops. Tests replace it.
var level = simd.Default()

// grouped returns how many elements assembly computes: of float64, whole groups of 8, the number of
// parts of a sum.
func grouped[V sparse.Value](elements int) int {
	if level == simd.Generic || mem.Size[V]() != 8 {
		return 0
	}
	return elements &^ 7
}

// start returns the first element of a vector of float64, for assembly.
func start[V sparse.Value](x []V) *float64 { return (*float64)(unsafe.Pointer(&x[0])) }

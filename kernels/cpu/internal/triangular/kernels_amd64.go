package triangular

import (
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/sparse"
)

// call runs the kernel for a kind of rows. It returns false if the instruction set has none. It calls kernels by name, so
// that the arguments stay on the stack.
func call[V sparse.Value](level simd.Level, k kind, upper bool, a *args[V]) bool {
	if k == blocks && level < simd.AVX512 {
		return false
	}
	switch a := any(a).(type) {
	case *args[float64]:
		switch {
		case k == bare && level < simd.AVX512:
			bareF64AVX2(a)
		case k == bare:
			bareF64AVX512(a)
		case k == single:
			singleF64AVX2(a)
		case k == listed:
			listedF64AVX2(a)
		case k == runs && level < simd.AVX512:
			runsF64AVX2(a)
		case k == runs:
			runsF64AVX512(a)
		case upper:
			upperBlocksF64AVX512(a)
		default:
			lowerBlocksF64AVX512(a)
		}
	case *args[float32]:
		switch {
		case k == bare && level < simd.AVX512:
			bareF32AVX2(a)
		case k == bare:
			bareF32AVX512(a)
		case k == single:
			singleF32AVX2(a)
		case k == listed:
			listedF32AVX2(a)
		case k == runs:
			runsF32AVX2(a)
		case upper:
			upperBlocksF32AVX512(a)
		default:
			lowerBlocksF32AVX512(a)
		}
	}
	return true
}

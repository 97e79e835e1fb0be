//go:build arm64

package form

import "github.com/msrep-go/msrep/internal/simd"

func init() {
	storeRowsTables = simd.KernelsOf(&storeRowsTable[float64]{storeRowsF64NEON}, &storeRowsTable[float32]{storeRowsF32NEON})
	storePermutedRowsTables = simd.KernelsOf(
		&storePermutedRowsTable[float64]{storePermutedRowsF64NEON},
		&storePermutedRowsTable[float32]{storePermutedRowsF32NEON},
	)
	permuteTables = simd.KernelsOf(&permuteTable[float64]{permuteF64NEON}, &permuteTable[float32]{permuteF32NEON})
}

func minMaxKernel(idx []int32) (lo, hi int32) { return minMaxNEON(idx) }

// There is no assembly for these: none of them is called.

func fence() {}

func loadAhead(p *byte, lines int) {}

func pack57(n int, val *float64, low uint64, out *byte) (done int) { return 0 }

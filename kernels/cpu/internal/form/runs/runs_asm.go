//go:build amd64

package runs

import "github.com/msrep-go/msrep/internal/simd"

func init() {
	runTables = simd.KernelsOf(
		&runTable[float64]{{runsF64AVX2, runsOneF64AVX2}, {runsF64AVX512, runsOneF64AVX512}},
		&runTable[float32]{{runsF32AVX2, runsOneF32AVX2}, {nil, runsOneF32AVX512Half}},
	)
	runTransposedTables = simd.KernelsOf(
		&runTransposedTable[float64]{{runsTransposedF64AVX2, runsTransposedOneF64AVX2}, {runsTransposedF64AVX512, runsTransposedOneF64AVX512}},
		&runTransposedTable[float32]{{runsTransposedF32AVX2, runsTransposedOneF32AVX2}, {runsTransposedF32AVX512Half, runsTransposedOneF32AVX512Half}},
	)
}

//go:build amd64

package simd

var (
	finishTables = kernels{
		&finishTable[float64]{finishF64AVX2, finishF64AVX512},
		&finishTable[float32]{finishF32AVX2, finishF32AVX512},
	}
	finishFromTables = kernels{
		&finishFromTable[float64]{finishFromF64AVX2, finishFromF64AVX512},
		&finishFromTable[float32]{finishFromF32AVX2, finishFromF32AVX512},
	}
	permuteTables = kernels{
		&permuteTable[float64]{permuteF64AVX2, permuteF64AVX512},
		&permuteTable[float32]{permuteF32AVX2, permuteF32AVX512},
	}
)

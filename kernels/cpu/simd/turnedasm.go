//go:build amd64

package simd

var turnTables = kernels{&turnTable[float64]{turn2F64AVX2, turn4F64AVX2}, &turnTable[float32]{turn2F32AVX2, turn4F32AVX2}}

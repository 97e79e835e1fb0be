//go:build amd64

package simd

const hasAssembly = true

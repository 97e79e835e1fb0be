//go:build !amd64

package simd

// There is no assembly: Best is Generic.

const hasAssembly = false

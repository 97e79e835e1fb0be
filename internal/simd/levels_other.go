//go:build !amd64 && !arm64

package simd

// Levels returns Generic alone: there is no assembly.
func Levels() []Level { return []Level{Generic} }

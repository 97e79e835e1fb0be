//go:build !amd64

package simd

import "github.com/msrep-go/msrep/sparse"

// These are never called where there is no assembly.
func copyLinesAssembly[V sparse.Value](lines []int32, x, to []V) { CopyLines(Generic, lines, x, to) }

func addLinesAssembly[V sparse.Value](lines []int32, from, y []V) { AddLines(Generic, lines, from, y) }

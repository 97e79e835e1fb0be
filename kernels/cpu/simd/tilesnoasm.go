//go:build !amd64

package simd

import "github.com/msrep-go/msrep/sparse"

// tileAssembly is never called where there is no assembly.
func tileAssembly[V sparse.Value](t *Tiles[V], transposed bool, lo, hi int, x, acc, ahead []V) {
	t.add(lo, hi, x, acc)
}

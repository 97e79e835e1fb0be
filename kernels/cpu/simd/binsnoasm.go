//go:build !amd64

package simd

import "github.com/msrep-go/msrep/sparse"

// binProductsAssembly and addBinAssembly are never called where there is no assembly.
func binProductsAssembly[V sparse.Value](b *Bins[V], k int, runs []BinRun, x, next, to []V) {
	b.Products(Generic, k, runs, x, next, to)
}

func addBinAssembly[V sparse.Value](products []V, rows []uint16, sums []V) {
	AddBin(Generic, products, rows, sums)
}

//go:build !amd64

package simd

import "github.com/msrep-go/msrep/sparse"

// These are never called where there is no assembly.
func binProductsAssembly[V sparse.Value](b *Bins[V], k int, runs []BinRun, x, next, to []V) {
	b.Products(Generic, k, runs, x, next, to)
}

func addRunsAssembly[V sparse.Value](b *Bins[V], k int, runs []BinRun, after V, factors, y, next []V) {
	b.AddTransposed(Generic, k, runs, after, factors, y, next)
}

func addBinAssembly[V sparse.Value](products []V, rows []uint16, sums []V) {
	AddBin(Generic, products, rows, sums)
}

func multiplyBinAssembly[V sparse.Value](values *Values[V], first int, x []V, rows []uint16, sums []V) {
	MultiplyBin(Generic, values, first, x, rows, sums)
}

func productsOfTwoAssembly[V sparse.Value](b *Bins[V], k int, runs []BinRun, from int, x, next, to []V) {
	b.ProductsOfTwo(Generic, k, runs, from, x, next, to)
}

func addBinOfTwoAssembly[V sparse.Value](products []V, rows []uint16, sums []V) {
	AddBinOfTwo(Generic, products, rows, sums)
}

//go:build !amd64

package simd

import "github.com/msrep-go/msrep/sparse"

// These are never called where there is no assembly.
func copyBinsAssembly[V sparse.Value](b *Bins[V], k int, runs []BinRun, x, next, to []V) {
	b.Copy(Generic, k, runs, x, next, to)
}

func copyBinsOfTwoAssembly[V sparse.Value](b *Bins[V], k int, runs []BinRun, from int, x, next, to []V) {
	b.CopyOfTwo(Generic, k, runs, from, x, next, to)
}

func multiplyBinAssembly[V sparse.Value](b *Bins[V], k int, x, sums []V) {
	b.Multiply(Generic, k, len(x), x, sums)
}

func multiplyBinOfTwoAssembly[V sparse.Value](b *Bins[V], k int, x, sums []V) {
	b.MultiplyOfTwo(Generic, k, len(x)/2, x, sums)
}

func spreadBinAssembly[V sparse.Value](b *Bins[V], k int, x, to []V) {
	b.Spread(Generic, k, len(to), x, to)
}

func addRunsAssembly[V sparse.Value](b *Bins[V], k int, runs []BinRun, after V, products, y, next []V) {
	b.AddTransposed(Generic, k, runs, after, products, y, next)
}

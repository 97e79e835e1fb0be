package gonumop

import (
	"math"

	"gonum.org/v1/gonum/blas"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/par"
)

// ParallelBLAS returns b with dot products, norms and copies of long vectors on all CPUs. gonum's own
// implementation uses one thread, and its norm divides for every element. To make the methods of linsolve use
// it, call
//
//	blas64.Use(gonumop.ParallelBLAS(blas64.Implementation()))
//
// once, before any computation: the setting applies to all of gonum in the program. Vector updates
// (AddScaledVec) do not go through blas64 and stay on one thread.
//
// Dot products and norms are sums over chunks of 8192 elements, added in order, so that results do not depend
// on the number of CPUs. Vectors with an increment other than 1 go to b. For a nil b it returns nil.
func ParallelBLAS(b blas.Float64) blas.Float64 {
	if b == nil {
		return nil
	}
	return parallelBLAS{b}
}

type parallelBLAS struct{ blas.Float64 }

const (
	blasChunk = 1 << 13 // elements of a chunk, which has its own sum
	blasGrain = 4       // least chunks for a goroutine
)

// Ddot returns the sum of x[i]*y[i].
func (b parallelBLAS) Ddot(n int, x []float64, incX int, y []float64, incY int) float64 {
	if incX != 1 || incY != 1 || n <= blasChunk || len(x) < n || len(y) < n {
		return b.Float64.Ddot(n, x, incX, y, incY)
	}
	sums := make([]float64, (n+blasChunk-1)/blasChunk)
	par.Range(int64(len(sums)), blasGrain, func(lo, hi int64) {
		for k := lo; k < hi; k++ {
			from, to := k*blasChunk, min((k+1)*blasChunk, int64(n))
			sums[k] = b.Float64.Ddot(int(to-from), x[from:to], 1, y[from:to], 1)
		}
	})
	total := 0.0
	for _, s := range sums {
		total += s
	}
	return total
}

// safeSquare is the least sum of squares that Dnrm2 trusts: squares that underflow are less than its rounding
// error.
const safeSquare = 0x1p-960

// Dnrm2 returns the square root of the sum of x[i]*x[i]. Where the sum overflows or is below safeSquare, it
// calls b, which scales the elements.
func (b parallelBLAS) Dnrm2(n int, x []float64, incX int) float64 {
	if incX == 1 && n > blasChunk && len(x) >= n {
		if s := b.Ddot(n, x, 1, x, 1); s >= safeSquare && s <= math.MaxFloat64 {
			return math.Sqrt(s)
		}
	}
	return b.Float64.Dnrm2(n, x, incX)
}

// Dcopy computes y[i] = x[i].
func (b parallelBLAS) Dcopy(n int, x []float64, incX int, y []float64, incY int) {
	if incX != 1 || incY != 1 || n <= blasChunk || len(x) < n || len(y) < n || mem.Overlap(x[:n], y[:n]) {
		b.Float64.Dcopy(n, x, incX, y, incY)
		return
	}
	par.Range(int64(n), blasGrain*blasChunk, func(lo, hi int64) { copy(y[lo:hi], x[lo:hi]) })
}

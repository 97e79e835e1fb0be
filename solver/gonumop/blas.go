package gonumop

import (
	"math"

	"gonum.org/v1/gonum/blas"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/par"
)

// ParallelBLAS is b with dot products, norms and copies of long vectors on all CPUs.
// gonum's own take one thread, and its norm divides for every element. To let the
// methods of linsolve have them, call
//
//	blas64.Use(gonumop.ParallelBLAS(blas64.Implementation()))
//
// once, before anything is computed: it is for all of gonum in the whole program. Sums
// of vectors (AddScaledVec) do not go through blas64, and stay on one thread.
//
// Sums are over blocks of 8192 elements, added in order: they do not depend on the
// number of CPUs. Vectors with strides are left to b. It is nil for nil.
func ParallelBLAS(b blas.Float64) blas.Float64 {
	if b == nil {
		return nil
	}
	return parallelBLAS{b}
}

type parallelBLAS struct{ blas.Float64 }

const (
	blasBlock = 1 << 13 // elements that are summed by themselves
	blasGrain = 4       // blocks that are worth a goroutine
)

// Ddot is the sum of x[i]*y[i].
func (b parallelBLAS) Ddot(n int, x []float64, incX int, y []float64, incY int) float64 {
	if incX != 1 || incY != 1 || n <= blasBlock || len(x) < n || len(y) < n {
		return b.Float64.Ddot(n, x, incX, y, incY)
	}
	sums := make([]float64, (n+blasBlock-1)/blasBlock)
	par.Range(int64(len(sums)), blasGrain, func(lo, hi int64) {
		for k := lo; k < hi; k++ {
			from, to := k*blasBlock, min((k+1)*blasBlock, int64(n))
			sums[k] = b.Float64.Ddot(int(to-from), x[from:to], 1, y[from:to], 1)
		}
	})
	total := 0.0
	for _, s := range sums {
		total += s
	}
	return total
}

// safeSquare is a sum of squares from which those that are too small for a float64
// are less than rounding.
const safeSquare = 0x1p-960

// Dnrm2 is the square root of the sum of x[i]*x[i]. It is left to b, which scales the
// elements, where that is not finite or too small.
func (b parallelBLAS) Dnrm2(n int, x []float64, incX int) float64 {
	if incX == 1 && n > blasBlock && len(x) >= n {
		if s := b.Ddot(n, x, 1, x, 1); s >= safeSquare && s <= math.MaxFloat64 {
			return math.Sqrt(s)
		}
	}
	return b.Float64.Dnrm2(n, x, incX)
}

// Dcopy is y[i] = x[i].
func (b parallelBLAS) Dcopy(n int, x []float64, incX int, y []float64, incY int) {
	if incX != 1 || incY != 1 || n <= blasBlock || len(x) < n || len(y) < n || mem.Overlap(x[:n], y[:n]) {
		b.Float64.Dcopy(n, x, incX, y, incY)
		return
	}
	par.Range(int64(n), blasGrain*blasBlock, func(lo, hi int64) { copy(y[lo:hi], x[lo:hi]) })
}

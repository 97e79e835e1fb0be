package multigrid

import (
	"math"
	"sync/atomic"

	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/sparse"
)

// Shrinks reports whether a coarse level with so many rows follows a level with rows: it must be smaller by a factor of 1.25.
func Shrinks(rows, coarse int) bool { return coarse > 0 && float64(coarse)*1.25 <= float64(rows) }

// CheckSmoother refuses levels whose matrix A the smoother cannot use. inverse has the reciprocals of the diagonal D of its rows
// first, first+1, ..., and rho bounds the absolute eigenvalues of D^-1 A.
func CheckSmoother(inverse []float64, first int, rho float64) error {
	var bad atomic.Int64 // the first row with a wrong reciprocal
	bad.Store(math.MaxInt64)
	par.Range(int64(len(inverse)), 1<<14, func(lo, hi int64) {
		for i, d := range inverse[lo:hi] {
			if d-d != 0 || d == 0 {
				for at := lo + int64(i); ; {
					if old := bad.Load(); old <= at || bad.CompareAndSwap(old, at) {
						return
					}
				}
			}
		}
	})
	if i := bad.Load(); i < math.MaxInt64 {
		return sparse.Inputf("matrix", "its diagonal element in row %d is zero, or too small or large to be inverted", int64(first)+i)
	}
	if !(rho > 0 && rho <= math.MaxFloat64) {
		return sparse.Inputf("matrix", "the largest eigenvalue of D^-1 A is not finite: scale the matrix")
	}
	return nil
}

// Products returns for how many products the plan of a level with so many entries looks for a form: those of 40 cycles, and half as
// many again, so that a form which is several times as fast is also taken where building it is slow. It is 1, without a search, for
// few entries. Plans of prolongations and restrictions look for no form: one product a cycle does not repay it.
func Products(entries int64, degree int) int {
	if entries < 1<<16 {
		return 1
	}
	return 3 * degree * 40
}

// Scale returns a power of two by which largest, the largest element of a right-hand side, becomes about 1, so that no element that
// matters leaves the range of float32. It is 1 if largest is 0 or not finite.
func Scale(largest float64) float64 {
	if largest == 0 || largest-largest != 0 {
		return 1
	}
	_, exp := math.Frexp(largest)
	return math.Ldexp(1, -min(max(exp, -1000), 1000))
}

package gonumop

import (
	"errors"

	"gonum.org/v1/gonum/mat"

	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/solver"
)

// copyGrain is the least number of elements for a goroutine.
const copyGrain = 1 << 15

// errTransposed is the error of a product with the transpose of a preconditioner.
var errTransposed = errors.New("gonumop: the preconditioner has no transpose, which BiCG needs: use another method")

// PreconSolve returns a function for linsolve.Settings.PreconSolve that applies m, or copies the vector for a
// nil m. Set it also where there is no preconditioner: without it gonum allocates a vector in every iteration,
// which takes longer on large systems than all its other work on vectors. linsolve.BiCG needs the transposed
// preconditioner as well, which only a nil m has; for another m the function returns an error.
func PreconSolve(m solver.Preconditioner) func(dst *mat.VecDense, trans bool, rhs mat.Vector) error {
	o := &Operator{} // for copies of vectors whose increment is not 1
	return func(dst *mat.VecDense, trans bool, rhs mat.Vector) error {
		if trans && m != nil {
			return errTransposed
		}
		if dst.IsEmpty() && rhs.Len() > 0 {
			dst.ReuseAsVec(rhs.Len())
		}
		r, z := o.dense(rhs), dst.RawVector()
		if z.N != len(r) {
			panic(mat.ErrShape)
		}
		out := z.Data
		if z.Inc != 1 {
			o.y = resize(o.y, z.N)
			out = o.y
		}
		if m == nil {
			par.Range(int64(len(r)), copyGrain, func(lo, hi int64) { copy(out[lo:hi], r[lo:hi]) })
		} else if err := m.Apply(r, out); err != nil {
			return err
		}
		if z.Inc != 1 {
			for i, v := range out {
				dst.SetVec(i, v)
			}
		}
		return nil
	}
}

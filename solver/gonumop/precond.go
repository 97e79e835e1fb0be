package gonumop

import (
	"errors"

	"gonum.org/v1/gonum/mat"

	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/solver"
)

// copyGrain is how many elements are worth a goroutine.
const copyGrain = 1 << 15

// errTransposed is what products with the transpose of a preconditioner end with.
var errTransposed = errors.New("gonumop: the preconditioner has no transpose, which BiCG needs: use another method")

// PreconSolve makes the PreconSolve of linsolve.Settings of a preconditioner, or of
// none for nil. Set it in either case: where Settings has none, gonum allocates a
// vector in every iteration, which costs large systems more than all else that it
// does with vectors. linsolve.BiCG needs the transpose as well, which only nil has.
func PreconSolve(m solver.Preconditioner) func(dst *mat.VecDense, trans bool, rhs mat.Vector) error {
	o := &Operator{} // for vectors with a stride
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

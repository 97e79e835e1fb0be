package gonumop

import (
	"cmp"
	"context"
	"math"

	"gonum.org/v1/exp/linsolve"
	"gonum.org/v1/gonum/mat"

	"github.com/msrep-go/msrep/internal/given"
	"github.com/msrep-go/msrep/msrep"
)

// Operator is a matrix of msrep as a linsolve.MulVecToer. Only one goroutine may use it at a time.
type Operator struct {
	ctx  context.Context
	a    msrep.Operator[float64]
	x, y []float64 // copies of vectors whose increment is not 1
	err  error
}

var _ linsolve.MulVecToer = (*Operator)(nil)

// New returns an operator that multiplies by a, for example a *msrep.Plan[float64]. When ctx ends, products
// fail with its error. A nil ctx or a gives an operator whose Err is a *sparse.InputError.
func New(ctx context.Context, a msrep.Operator[float64]) *Operator {
	o := &Operator{ctx: ctx, a: a}
	if given.Nothing(a) {
		o.a = nil
	}
	o.err = cmp.Or(given.Context(ctx), given.Check("matrix", a))
	return o
}

// Err returns the first error of a product, including wrong lengths. MulVecTo can not return it, so call Err
// after linsolve.Iterative.
func (o *Operator) Err() error { return o.err }

// Dims returns the number of rows and columns.
func (o *Operator) Dims() (rows, cols int) {
	if o.a == nil {
		return 0, 0
	}
	return o.a.Dims()
}

// MulVecTo computes dst = A*x, or A'*x when trans is set. After an error this call and all later ones set dst to
// NaN, so that no method takes it for a result; see Err.
func (o *Operator) MulVecTo(dst *mat.VecDense, trans bool, x mat.Vector) {
	if dst.IsEmpty() {
		rows, cols := o.Dims()
		if trans {
			rows = cols
		}
		if rows > 0 {
			dst.ReuseAsVec(rows)
		}
	}
	if o.err == nil {
		y := dst.RawVector()
		out := y.Data
		if y.Inc != 1 {
			o.y = resize(o.y, y.N)
			out = o.y
		}
		o.err = o.a.SpMV(o.ctx, msrep.Transpose(trans), 1, o.dense(x), 0, out)
		if o.err == nil && y.Inc != 1 {
			for i, v := range out {
				dst.SetVec(i, v)
			}
		}
	}
	if o.err != nil {
		for i := range dst.Len() {
			dst.SetVec(i, math.NaN())
		}
	}
}

// dense returns the elements of x as a slice. It copies them only where their increment is not 1.
func (o *Operator) dense(x mat.Vector) []float64 {
	if r, ok := x.(mat.RawVectorer); ok {
		if v := r.RawVector(); v.Inc == 1 {
			return v.Data
		}
	}
	o.x = resize(o.x, x.Len())
	for i := range o.x {
		o.x[i] = x.AtVec(i)
	}
	return o.x
}

func resize(v []float64, n int) []float64 {
	if cap(v) < n {
		return make([]float64, n)
	}
	return v[:n]
}

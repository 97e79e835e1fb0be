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

// Operator is a matrix of msrep for linsolve. It is used by one goroutine at a time.
type Operator struct {
	ctx  context.Context
	a    msrep.Operator[float64]
	x, y []float64 // of vectors with a stride
	err  error
}

var _ linsolve.MulVecToer = (*Operator)(nil)

// New makes an operator of a. Its products end when ctx does. Where ctx or a is nil it has
// no rows and columns, and Err says so.
func New(ctx context.Context, a msrep.Operator[float64]) *Operator {
	o := &Operator{ctx: ctx, a: a}
	if given.Nothing(a) {
		o.a = nil
	}
	o.err = cmp.Or(given.Context(ctx), given.Check("matrix", a))
	return o
}

// Err is the first error of a product, also of wrong lengths. MulVecTo has no way to
// return it: look here after linsolve.Iterative.
func (o *Operator) Err() error { return o.err }

// Dims gives the number of rows and columns.
func (o *Operator) Dims() (rows, cols int) {
	if o.a == nil {
		return 0, 0
	}
	return o.a.Dims()
}

// MulVecTo computes dst = A*x, or A'*x when trans is set. After an error dst is NaN,
// and so is that of all later calls, so that no method takes it for a result.
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

// dense gives the elements of x side by side, without a copy where they are.
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

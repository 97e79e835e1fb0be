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

// Operator is a matrix of msrep as a linsolve.MulVecToer, and as a mat.Matrix whose elements cost products; see At. Only
// one goroutine may use it at a time.
type Operator struct {
	ctx  context.Context
	a    msrep.Operator[float64]
	x, y []float64 // copies of vectors whose increment is not 1
	err  error

	row      int // the row of A that elements holds, -1 for none
	elements []float64
	unit     []float64 // zeros, except while At computes a row
}

var (
	_ linsolve.MulVecToer = (*Operator)(nil)
	_ mat.Matrix          = (*Operator)(nil)
)

// New returns an operator that multiplies by a, for example a *msrep.Plan[float64]. When ctx ends, products
// fail with its error. A nil ctx or a gives an operator whose Err is a *sparse.InputError.
func New(ctx context.Context, a msrep.Operator[float64]) *Operator {
	o := &Operator{ctx: ctx, a: a, row: -1}
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

// At returns element (i, j). A plan does not store elements where they can be read, so At computes row i as A'*e_i, a
// product with the transpose, and keeps it for more elements of the row: to read all elements row by row, as mat.Formatted
// and mat.DenseCopyOf do, takes a product for each row. At sees new values of a plan (UpdateValues) from the next row
// on. It returns NaN after an error; see Err. As everywhere in gonum, an index out of range panics.
//
// The methods of mat, such as VecDense.MulVec, read all elements in the order of their loops. Use MulVecTo to multiply.
func (o *Operator) At(i, j int) float64 {
	rows, cols := o.Dims()
	if uint(i) >= uint(rows) {
		panic(mat.ErrRowAccess)
	}
	if uint(j) >= uint(cols) {
		panic(mat.ErrColAccess)
	}
	if o.err == nil && o.row != i {
		o.elements = resize(o.elements, cols)
		o.unit = resize(o.unit, rows)
		o.unit[i] = 1
		o.err = o.a.SpMV(o.ctx, msrep.Trans, 1, o.unit, 0, o.elements)
		o.unit[i] = 0
		o.row = i
	}
	if o.err != nil {
		return math.NaN()
	}
	return o.elements[j]
}

// T returns the transposed matrix.
func (o *Operator) T() mat.Matrix { return mat.Transpose{Matrix: o} }

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
		if y.Inc == 1 {
			out = out[:y.N]
		} else {
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
			return v.Data[:v.N]
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

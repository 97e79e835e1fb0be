package incomplete

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/msrep-go/msrep/sparse"
)

// IC0 tries the shifts 0, firstShift, and then nextShift times the last one, up to lastShift.
const (
	firstShift = 0x1p-10
	nextShift  = 4
	lastShift  = 0x1p20
)

// NotPositive is the error of IC0 for a matrix whose factors have a pivot in this row that is not positive.
type NotPositive struct{ Row int }

func (e *NotPositive) Error() string {
	return fmt.Sprintf("the pivot of row %d is not positive", e.Row)
}

// IC0 returns the incomplete Cholesky factors of a symmetric matrix, L D L' ~ A + s diag(A). L has
// entries at the places of the lower triangle of A, and L D L' = A + s diag(A) there (Meijerink and van der Vorst,
// 1977). The upper triangle of A is not read.
//
// If a pivot is not positive with the shift s = 0, IC0 begins again with a larger s until all are (Manteuffel, 1980).
// The error is a *NotPositive if an element on the diagonal of A is not positive or no shift helps, or that of a
// context that has ended.
func IC0(ctx context.Context, a *sparse.CSR[float64]) (*Factors, error) {
	upper := split(a)
	for i, at := range upper {
		if at == a.RowPtr[i+1] || int(a.ColIdx[at]) != i || !(a.Val[at] > 0) {
			return nil, &NotPositive{i}
		}
	}
	f := newCholesky(a, upper)
	w := watch{ctx: ctx}
	for {
		err := f.cholesky(a, upper, &w)
		if err == nil {
			f.Upper = transposed(&f.Lower, a.Rows)
			f.divide()
			return f, nil
		}
		var bad *NotPositive
		if !errors.As(err, &bad) || f.Shift >= lastShift {
			return nil, err
		}
		f.Shift = max(firstShift, f.Shift*nextShift)
	}
}

// newCholesky returns factors with the pattern of the lower triangle of a in Lower.
func newCholesky(a *sparse.CSR[float64], upper []int64) *Factors {
	n := a.Rows
	f := &Factors{Inverse: make([]float64, n)}
	f.Lower.Ptr = make([]int64, n+1)
	for i := range n {
		f.Lower.Ptr[i+1] = f.Lower.Ptr[i] + upper[i] - a.RowPtr[i]
	}
	f.Lower.Col, f.Lower.Val = make([]int32, f.Lower.Ptr[n]), make([]float64, f.Lower.Ptr[n])
	for i := range n {
		copy(f.Lower.Col[f.Lower.Ptr[i]:], a.ColIdx[a.RowPtr[i]:upper[i]])
	}
	return f
}

// cholesky computes L and 1/D for the shift. The error is a *NotPositive at the first pivot that is not positive, or
// that is tiny beside the diagonal element of A.
func (f *Factors) cholesky(a *sparse.CSR[float64], upper []int64, w *watch) error {
	scaled := make([]float64, a.Rows) // l_ij d_j of row i, at j
	for i := range a.Rows {
		lo, at := a.RowPtr[i], upper[i]
		col, val := f.Lower.row(i)
		work := len(col)
		d := a.Val[at] + f.Shift*a.Val[at]
		for k, j := range col {
			s := a.Val[lo+int64(k)]
			before, l := f.Lower.row(int(j))
			work += len(before)
			for k, c := range before {
				s -= float64(scaled[c] * l[k])
			}
			scaled[j] = s
			val[k] = s * f.Inverse[j]
			d -= float64(s * val[k])
		}
		for _, j := range col {
			scaled[j] = 0
		}
		if !(d > tiny*a.Val[at]) || math.IsInf(d, 0) {
			return &NotPositive{i}
		}
		f.Inverse[i] = 1 / d
		if err := w.spend(work); err != nil {
			return err
		}
	}
	return nil
}

// transposed returns the transpose of n rows and n columns. Its rows are sorted.
func transposed(r *Rows, n int) Rows {
	t := Rows{make([]int64, n+1), make([]int32, len(r.Col)), make([]float64, len(r.Val))}
	for _, j := range r.Col {
		t.Ptr[j+1]++
	}
	for j := range n {
		t.Ptr[j+1] += t.Ptr[j]
	}
	next := append([]int64(nil), t.Ptr[:n]...)
	for i := range n {
		col, val := r.row(i)
		for k, j := range col {
			at := next[j]
			next[j]++
			t.Col[at], t.Val[at] = int32(i), val[k]
		}
	}
	return t
}

package incomplete

import (
	"context"

	"github.com/msrep-go/msrep/sparse"
)

// ILU0 returns factors with L U = A at the places of the entries of A and of its diagonal; L and U have entries at
// these places only (Meijerink and van der Vorst, 1977). The error is that of a context that has ended.
func ILU0(ctx context.Context, a *sparse.CSR[float64]) (*Factors, error) {
	n := a.Rows
	f := &Factors{Inverse: make([]float64, n)}
	f.Lower.Ptr, f.Upper.Ptr = make([]int64, n+1), make([]int64, n+1)
	upper := split(a)
	for i := range n {
		first, end := upper[i], a.RowPtr[i+1]
		f.Lower.Ptr[i+1] = f.Lower.Ptr[i] + first - a.RowPtr[i]
		if first < end && int(a.ColIdx[first]) == i {
			first++
		}
		f.Upper.Ptr[i+1] = f.Upper.Ptr[i] + end - first
	}
	f.Lower.Col, f.Lower.Val = make([]int32, f.Lower.Ptr[n]), make([]float64, f.Lower.Ptr[n])
	f.Upper.Col, f.Upper.Val = make([]int32, f.Upper.Ptr[n]), make([]float64, f.Upper.Ptr[n])
	w := watch{ctx: ctx}
	place := make([]int32, n)      // 1 + the place of a column in row; 0: the row has no such entry
	row := make([]float64, 0, 256) // row i, diagonal included
	for i := range n {
		lo, at, hi := a.RowPtr[i], upper[i], a.RowPtr[i+1]
		row = append(row[:0], a.Val[lo:hi]...)
		for k, j := range a.ColIdx[lo:hi] {
			place[j] = int32(k) + 1
		}
		diagonal, right := int(at-lo), at+1
		if at == hi || int(a.ColIdx[at]) != i {
			diagonal, right = len(row), at
			row = append(row, 0)
			place[i] = int32(diagonal) + 1
		}
		work := len(row)
		for k, j := range a.ColIdx[lo:at] {
			m := row[k] * f.Inverse[j]
			row[k] = m
			col, val := f.Upper.row(int(j))
			work += len(col)
			for k, c := range col {
				if p := place[c]; p != 0 {
					row[p-1] -= float64(m * val[k])
				}
			}
		}
		copy(f.Lower.Col[f.Lower.Ptr[i]:], a.ColIdx[lo:at])
		copy(f.Lower.Val[f.Lower.Ptr[i]:], row[:at-lo])
		copy(f.Upper.Col[f.Upper.Ptr[i]:], a.ColIdx[right:hi])
		copy(f.Upper.Val[f.Upper.Ptr[i]:], row[right-lo:hi-lo])
		f.Inverse[i] = 1 / f.pivot(row[diagonal], largest(a.Val[lo:hi]))
		for _, j := range a.ColIdx[lo:hi] {
			place[j] = 0
		}
		place[i] = 0
		if err := w.spend(work); err != nil {
			return nil, err
		}
	}
	f.finish()
	return f, nil
}

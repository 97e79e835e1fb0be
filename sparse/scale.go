package sparse

import "math"

// Scale returns the matrix B with B(i, j) = rows[i] A(i, j) cols[j]. A nil slice stands
// for factors of 1. Each product is computed in float64, without intermediate overflow,
// and rounded to V once. B shares the pointers and indices of a.
//
// A slice of the wrong length is a *InputError.
func Scale[V Value](a *CSR[V], rows, cols []float64) (*CSR[V], error) {
	if err := a.Validate(); err != nil {
		return nil, err
	}
	if rows != nil && len(rows) != a.Rows {
		return nil, Inputf("rows", "%d factors for %d rows", len(rows), a.Rows)
	}
	if cols != nil && len(cols) != a.Cols {
		return nil, Inputf("cols", "%d factors for %d columns", len(cols), a.Cols)
	}
	b := &CSR[V]{Rows: a.Rows, Cols: a.Cols, RowPtr: a.RowPtr, ColIdx: a.ColIdx, Val: make([]V, len(a.Val))}
	eachRow(a.RowPtr, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			r := 1.0
			if rows != nil {
				r = rows[i]
			}
			for k := a.RowPtr[i]; k < a.RowPtr[i+1]; k++ {
				c := 1.0
				if cols != nil {
					c = cols[a.ColIdx[k]]
				}
				b.Val[k] = V(scaled(r, float64(a.Val[k]), c))
			}
		}
	})
	return b, nil
}

// scaled returns r*v*c. It multiplies the smallest and the largest magnitude first if the
// product in the order given leaves the range of normal numbers.
func scaled(r, v, c float64) float64 {
	const least = 0x1p-1022
	first := r * v
	if size := math.Abs(first); size >= least && size <= math.MaxFloat64 {
		return first * c
	}
	if math.Abs(r) > math.Abs(c) {
		r, c = c, r
	}
	if math.Abs(v) > math.Abs(c) {
		v, c = c, v
	}
	if math.Abs(r) > math.Abs(v) {
		r, v = v, r
	}
	// |r| <= |v| <= |c|
	return r * c * v
}

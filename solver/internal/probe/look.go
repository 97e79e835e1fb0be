package probe

import (
	"math"
	"slices"

	"github.com/msrep-go/msrep/sparse"
)

// Traits are what Solve learns about a matrix by reading it once or twice.
type Traits struct {
	Symmetric bool // values too, up to rounding
	Exact     bool // Symmetric, with a_ij = a_ji exactly
	Positive  bool // all diagonal elements are positive
	Missing   int  // diagonal elements that are zero or missing
}

// symmetryRounding is the relative difference of a_ij and a_ji up to which Solve calls a matrix symmetric: files with
// decimal numbers may round the two differently.
const symmetryRounding = 1e-12

// Tidy returns a in CSR with sorted rows, without duplicates, or an error that names the first value that is not finite.
func Tidy(a sparse.Matrix[float64]) (*sparse.CSR[float64], error) {
	if err := a.Validate(); err != nil {
		return nil, err
	}
	m := sparse.ToCSR(a)
	sorted := true
	for i := range m.Rows {
		last := int32(-1)
		for k := m.RowPtr[i]; k < m.RowPtr[i+1]; k++ {
			if v := m.Val[k]; v-v != 0 {
				return nil, sparse.Inputf("matrix", "the entry in row %d, column %d is %g: all must be finite", i, m.ColIdx[k], v)
			}
			sorted = sorted && m.ColIdx[k] > last
			last = m.ColIdx[k]
		}
	}
	if sorted {
		return m, nil
	}
	c := sparse.ToCOO[float64](m)
	m, err := sparse.FromTriples(m.Rows, m.Cols, c.RowIdx, c.ColIdx, c.Val)
	if err != nil {
		return nil, err
	}
	for i := range m.Rows {
		for k := m.RowPtr[i]; k < m.RowPtr[i+1]; k++ {
			if v := m.Val[k]; v-v != 0 {
				return nil, sparse.Inputf("matrix", "the entries in row %d, column %d add up to %g: all sums must be finite", i, m.ColIdx[k], v)
			}
		}
	}
	return m, nil
}

// Look returns the traits of a square matrix that Tidy returned.
func Look(a *sparse.CSR[float64]) Traits {
	t := Traits{Positive: true}
	for i := range a.Rows {
		d := 0.0
		for k := a.RowPtr[i]; k < a.RowPtr[i+1]; k++ {
			if int(a.ColIdx[k]) == i {
				d = a.Val[k]
			}
		}
		if d == 0 {
			t.Missing++
		}
		t.Positive = t.Positive && d > 0
	}
	c := sparse.ToCSC[float64](a)
	if slices.Equal(c.ColPtr, a.RowPtr) && slices.Equal(c.RowIdx, a.ColIdx) {
		t.Exact = slices.Equal(c.Val, a.Val)
		t.Symmetric = t.Exact || near(c.Val, a.Val)
	}
	return t
}

// Mean returns (A + A')/2 for a matrix that is Symmetric.
func Mean(a *sparse.CSR[float64]) *sparse.CSR[float64] {
	c := sparse.ToCSC[float64](a)
	for k, v := range a.Val {
		c.Val[k] = v/2 + c.Val[k]/2
	}
	return &sparse.CSR[float64]{Rows: a.Rows, Cols: a.Cols, RowPtr: c.ColPtr, ColIdx: c.RowIdx, Val: c.Val}
}

// near reports whether all pairs of values are equal up to rounding.
func near(v, w []float64) bool {
	for i := range v {
		if v[i] != w[i] && math.Abs(v[i]-w[i]) > symmetryRounding*max(math.Abs(v[i]), math.Abs(w[i])) {
			return false
		}
	}
	return true
}

package probe

import (
	"math"
	"slices"
	"sort"
	"sync/atomic"

	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/sparse"
)

// Traits are what Solve learns about a matrix by reading it once or twice.
type Traits struct {
	Symmetric bool // values too, up to rounding
	Exact     bool // Symmetric, with a_ij = a_ji exactly
	Positive  bool // all diagonal elements are positive
	Missing   int  // diagonal elements that are zero or missing
}

// A matrix is called symmetric if a_ij and a_ji differ by at most symmetryRounding of the larger one, because files with
// decimal numbers may round the two differently, or by at most cancelled of the square root of a_ii a_jj, because both may be
// sums of finite elements that cancel.
const (
	symmetryRounding = 1e-12
	cancelled        = 1e-14
)

// Tidy returns a in CSR with sorted rows, without duplicates, or an error that names the first value that is not finite.
func Tidy(a sparse.Matrix[float64]) (*sparse.CSR[float64], error) {
	if err := a.Validate(); err != nil {
		return nil, err
	}
	m := sparse.ToCSR(a)
	sorted, bad := inOrder(m)
	if bad >= 0 {
		i, j := place(m, bad)
		return nil, sparse.Inputf("matrix", "the entry in row %d, column %d is %g: all must be finite", i, j, m.Val[bad])
	}
	if sorted {
		return m, nil
	}
	c := sparse.ToCOO[float64](m)
	m, err := sparse.FromTriples(m.Rows, m.Cols, c.RowIdx, c.ColIdx, c.Val)
	if err != nil {
		return nil, err
	}
	if _, bad := inOrder(m); bad >= 0 {
		i, j := place(m, bad)
		return nil, sparse.Inputf("matrix", "the entries in row %d, column %d add up to %g: all sums must be finite", i, j, m.Val[bad])
	}
	return m, nil
}

// inOrder reports whether the columns of each row strictly ascend. bad is the first entry whose value is not finite; -1: all are
// finite.
func inOrder(m *sparse.CSR[float64]) (sorted bool, bad int64) {
	var unsorted atomic.Bool
	var first atomic.Int64
	first.Store(math.MaxInt64)
	par.Range(int64(m.Rows), 1<<13, func(lo, hi int64) {
		inOrder := true
		for i := lo; i < hi; i++ {
			from, last := m.RowPtr[i], int32(-1)
			val := m.Val[from:m.RowPtr[i+1]]
			for k, j := range m.ColIdx[from:m.RowPtr[i+1]][:len(val)] {
				if v := val[k]; v-v != 0 {
					for at := from + int64(k); ; {
						if old := first.Load(); old <= at || first.CompareAndSwap(old, at) {
							return
						}
					}
				}
				inOrder = inOrder && j > last
				last = j
			}
		}
		if !inOrder {
			unsorted.Store(true)
		}
	})
	if bad = first.Load(); bad == math.MaxInt64 {
		bad = -1
	}
	return !unsorted.Load(), bad
}

// place returns the row and the column of entry k.
func place(m *sparse.CSR[float64], k int64) (row int, col int32) {
	row = sort.Search(m.Rows, func(i int) bool { return m.RowPtr[i+1] > k })
	return row, m.ColIdx[k]
}

// Look returns the traits of a square matrix that Tidy returned.
func Look(a *sparse.CSR[float64]) Traits {
	t := Traits{Positive: true}
	root := make([]float64, a.Rows) // of the diagonal
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
		root[i] = math.Sqrt(math.Abs(d))
	}
	c := sparse.ToCSC[float64](a)
	if slices.Equal(c.ColPtr, a.RowPtr) && slices.Equal(c.RowIdx, a.ColIdx) {
		t.Exact = slices.Equal(c.Val, a.Val)
		t.Symmetric = t.Exact || near(a, c.Val, root)
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

// near reports whether A' = A up to rounding. transposed has the values of A' in the order of those of A, and root the square
// roots of the diagonal.
func near(a *sparse.CSR[float64], transposed, root []float64) bool {
	for i := range a.Rows {
		for k := a.RowPtr[i]; k < a.RowPtr[i+1]; k++ {
			v, w := a.Val[k], transposed[k]
			if v != w && math.Abs(v-w) > max(symmetryRounding*max(math.Abs(v), math.Abs(w)), cancelled*root[i]*root[a.ColIdx[k]]) {
				return false
			}
		}
	}
	return true
}

// diffusive is the least share of negative entries in the absolute values of the entries off the diagonal.
const diffusive = 0.9

// Diffusive reports whether the entries of A off the diagonal are mostly negative, as after the discretisation of diffusion and
// convection. The rows of A have a positive diagonal element.
func Diffusive(a *sparse.CSR[float64]) bool {
	negative, all := 0.0, 0.0
	for i := range a.Rows {
		for k := a.RowPtr[i]; k < a.RowPtr[i+1]; k++ {
			v := a.Val[k]
			if int(a.ColIdx[k]) == i {
				continue
			}
			all += math.Abs(v)
			negative += max(-v, 0)
		}
	}
	return negative >= diffusive*all
}

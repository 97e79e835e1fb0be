package eigen

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/sparse"
)

// TestSymmetryIsCheckedInAnyPieces compares with the definition; all entries but one may have a counterpart.
func TestSymmetryIsCheckedInAnyPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 7).Draw(t, "rows")
		dense := make([][]float64, n)
		for i := range dense {
			dense[i] = make([]float64, n)
			for j := range i + 1 {
				dense[i][j] = rapid.SampledFrom([]float64{0, 0, 1, 2}).Draw(t, "element")
				dense[j][i] = dense[i][j]
			}
		}
		if rapid.Bool().Draw(t, "change") {
			index := rapid.IntRange(0, n-1)
			dense[index.Draw(t, "row")][index.Draw(t, "column")] = rapid.SampledFrom([]float64{0, 3}).Draw(t, "other")
		}
		a := &sparse.CSR[float64]{Rows: n, Cols: n, RowPtr: []int64{0}}
		symmetric := true
		for i, row := range dense {
			for j, v := range row {
				symmetric = symmetric && v == dense[j][i]
				if v != 0 || rapid.Bool().Draw(t, "stored zero") {
					a.ColIdx, a.Val = append(a.ColIdx, int32(j)), append(a.Val, v)
				}
			}
			a.RowPtr = append(a.RowPtr, int64(len(a.Val)))
		}
		cut := rapid.IntRange(0, n)
		first := cut.Draw(t, "first cut")
		second := max(first, cut.Draw(t, "second cut"))
		err := cmp.Or(checkRows(a, 0, first), checkRows(a, first, second), checkRows(a, second, n))
		require.Equal(t, symmetric, err == nil, "%v", err)
	})
}

// The basis is shorter after a restart, and so may be the largest eigenvalue of T.
func TestTheNormDoesNotFallAtRestarts(t *testing.T) {
	plan := planOf(t, "cpu:1", generated(t, "stencil:dims=2,n=40,points=5"))
	for seed := range uint64(8) {
		res, err := Symmetric(t.Context(), plan, Options{Which: Smallest, Count: 4, Tol: 1e-9, Seed: seed})
		require.NoError(t, err)
		require.InDelta(t, 7.9883, res.Norm, 0.2)
	}
}

func TestNoChangedEntryHashesAsSymmetric(t *testing.T) {
	a := sparse.ToCSR[float64](&sparse.COO[float64]{Rows: 4, Cols: 4, RowIdx: []int32{0, 0, 1, 1, 2, 3, 3}, ColIdx: []int32{0, 3, 2, 3, 1, 0, 1},
		Val: []float64{5, 1, 2, -3, 2, 1, -3}})
	for seed := range uint64(50) {
		require.True(t, exactlySymmetric(a, seed))
		for k := range a.Val {
			old := a.Val[k]
			for _, v := range []float64{0, math.Copysign(0, -1), math.Nextafter(old, 9), 2 * old, -old, old + 1} {
				a.Val[k] = v
				require.Equal(t, k == 0, exactlySymmetric(a, seed), "entry %d is %g, seed %d", k, v, seed)
			}
			a.Val[k] = old
		}
		moved := *a
		moved.ColIdx = slices.Clone(a.ColIdx)
		moved.ColIdx[1] = 2
		require.False(t, exactlySymmetric(&moved, seed))
	}
}

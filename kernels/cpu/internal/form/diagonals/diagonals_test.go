package diagonals_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/reference"
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/diagonals"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/formtest"
	"github.com/msrep-go/msrep/sparse"
)

func TestDiagonalsOfEachWidthMultiplyAsTheReference(t *testing.T) {
	formtest.EachLevel(t, checkDiagonalWidths[float64], checkDiagonalWidths[float32])
}

// checkDiagonalWidths multiplies runs of up to 20 columns, adjacent or 3 apart, with few and many
// slices each, and with an entry missing in every other run; and their transposes, with last
// columns that end where y ends.
func checkDiagonalWidths[V sparse.Value](t *testing.T, l simd.Level) {
	for _, apart := range []int{1, 3} {
		r := rand.New(rand.NewPCG(1, 2))
		var p formtest.Pattern
		for width := range 21 {
			for _, n := range []int{1, 2, 7} {
				for _, missing := range []int{-1, r.IntN(2*width + 1)} {
					for i := range 16 * n {
						var row []int32
						for c := range width {
							if i%16 != 3 || c != missing {
								row = append(row, int32(len(p.Rows)+apart*c))
							}
						}
						p.Rows = append(p.Rows, row)
					}
				}
			}
		}
		p.Cols = len(p.Rows) + apart*19
		p.Rows = append(p.Rows, []int32{5, int32(p.Cols - 1)})
		kinds := maps.Clone(formtest.ValueKinds)
		kinds["by diagonal"] = nil
		for kind, value := range kinds {
			a, f, x, y := drawDiagonals[V](t, l, r, p, value)
			for _, beta := range []V{0, -2} {
				want := reference.Multiply(false, 3, a, x, beta, y)
				f.Multiply(3, beta, x, y)
				require.Equal(t, -1, reference.Check(y, want), "values %s, %s: row", kind, f.Name())
			}
			z := slices.Clone(x)
			want := reference.Multiply(true, 3, a, y, 1, z)
			f.MultiplyTransposed(3, y, func(lo, hi int) []V { return z[lo:hi] })
			require.Equal(t, -1, reference.Check(z, want), "values %s, %s, transposed: column", kind, f.Name())
		}
	}
}

func TestTransposesOfLongAndShortRunsOfDiagonals(t *testing.T) {
	formtest.EachLevel(t, checkLongRuns[float64], checkLongRuns[float32])
}

// checkLongRuns multiplies the transposes of a run of more slices than one kernel call takes, not a
// multiple of that number, and of short runs after it.
func checkLongRuns[V sparse.Value](t *testing.T, l simd.Level) {
	const long = 5000
	r := rand.New(rand.NewPCG(1, 2))
	p := formtest.Pattern{Cols: long + 400}
	for i := range int32(long + 300) {
		row := []int32{i, i + 1, i + 40}
		if i >= long && i/32%2 == 0 {
			row = []int32{i, i + 3}
		}
		p.Rows = append(p.Rows, row)
	}
	for kind, value := range formtest.ValueKinds {
		a, f, z, x := drawDiagonals[V](t, l, r, p, value)
		for i := range x {
			x[i] = V(r.NormFloat64())
		}
		want := reference.Multiply(true, 1, a, x, 1, z)
		f.MultiplyTransposed(1, x, func(lo, hi int) []V { return z[lo:hi] })
		require.Equal(t, -1, reference.Check(z, want), "values %s, %s: column", kind, f.Name())
	}
}

// drawDiagonals returns a matrix of a pattern with values of a kind, or with one value per diagonal
// if the kind is nil; the same matrix in diagonals; an x; and a y of zeros.
func drawDiagonals[V sparse.Value](t *testing.T, l simd.Level, r *rand.Rand, p formtest.Pattern, value func(*rand.Rand) float64) (a *sparse.CSR[V], f form.Form[V], x, y []V) {
	if value != nil {
		a = sparse.Convert[V](p.CSR(func() float64 { return value(r) }))
	} else {
		a = byDiagonal[V](p)
	}
	f = formtest.Must(diagonals.NewDiagonals(formtest.RowsOf(a), diagonals.DiagonalOptions[V]{Level: l, Values: form.FindValues(a.Val)}))(t)
	x, y = make([]V, a.Cols), make([]V, a.Rows)
	for i := range x {
		x[i] = V(r.NormFloat64())
	}
	return a, f, x, y
}

// byDiagonal returns a matrix of a pattern with another value for each diagonal.
func byDiagonal[V sparse.Value](p formtest.Pattern) *sparse.CSR[V] {
	a := sparse.Convert[V](p.CSR(func() float64 { return 0 }))
	for i := range a.Rows {
		for k := a.RowPtr[i]; k < a.RowPtr[i+1]; k++ {
			a.Val[k] = V(int(a.ColIdx[k])-i) + .5
		}
	}
	return a
}

func TestDiagonalsStoreNoIndicesAndOnlyValuesThatVary(t *testing.T) {
	const n = 10_000
	for name, c := range map[string]struct {
		value   func(k int) float64
		perPart float64
	}{
		"diagonals in 3 patterns, one value each": {func(int) float64 { return 2 }, 0},
		"diagonals in 3 patterns":                 {func(k int) float64 { return float64(k) / 3 }, 8},
	} {
		a := formtest.Tridiagonal(n, c.value)
		f := formtest.Must(diagonals.NewDiagonals(formtest.RowsOf(a), diagonals.DiagonalOptions[float64]{}))(t)
		require.LessOrEqual(t, float64(f.Bytes()), c.perPart*float64(a.NNZ())+1000, f.Name())
		_ = name
	}
}

func TestDiagonalsRefuseMatricesWithoutThem(t *testing.T) {
	p := formtest.Pattern{Cols: 50_000}
	for i := range int32(1000) {
		p.Rows = append(p.Rows, []int32{i * 7, i*31 + 8000})
	}
	unsorted := formtest.Pattern{Cols: 3, Rows: [][]int32{{1, 0}}}
	outside := formtest.Pattern{Cols: 3, Rows: [][]int32{{0, 1}, {1, 3}}}
	for want, p := range map[string]formtest.Pattern{"no diagonals": p, "do not ascend": unsorted, "must be at least 0 and below 3": outside} {
		a := p.CSR(func() float64 { return 1 })
		_, err := diagonals.NewDiagonals(formtest.RowsOf(a), diagonals.DiagonalOptions[float64]{})
		require.True(t, sparse.IsInput(err), "%v", err)
		require.ErrorContains(t, err, want)
	}
}

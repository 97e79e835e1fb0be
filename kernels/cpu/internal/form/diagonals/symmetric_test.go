package diagonals_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/diagonals"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/formtest"
	"github.com/msrep-go/msrep/sparse"
)

func TestSymmetricDiagonalsMultiplyAsTheReference(t *testing.T) {
	formtest.EachLevel(t, checkSymmetric[float64], checkSymmetric[float32])
}

// symmetricPattern returns a symmetric matrix of a few diagonals, near and far, adjacent or not,
// with some entries missing.
func symmetricPattern(r *rand.Rand) formtest.Pattern {
	n := 1 + r.IntN(300)
	if r.IntN(4) == 0 {
		n = 1000 + r.IntN(1200) // several windows
	}
	missing := []float64{0, .01, .3}[r.IntN(3)]
	present := map[[2]int]bool{}
	for range r.IntN(6) {
		first := 1 + r.IntN([]int{8, 40, n}[r.IntN(3)])
		for d := first; d < first+1+r.IntN(5); d++ {
			for row := d; row < n; row++ {
				if r.Float64() >= missing {
					present[[2]int{row, row - d}], present[[2]int{row - d, row}] = true, true
				}
			}
		}
	}
	if r.IntN(4) > 0 {
		for row := range n {
			if r.Float64() >= missing {
				present[[2]int{row, row}] = true
			}
		}
	}
	p := formtest.Pattern{Cols: n, Rows: make([][]int32, n)}
	for at := range present {
		p.Rows[at[0]] = append(p.Rows[at[0]], int32(at[1]))
	}
	for _, row := range p.Rows {
		slices.Sort(row)
	}
	return p
}

func checkSymmetric[V sparse.Value](t *testing.T, l simd.Level) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		formtest.CheckHalves(t, r, symmetricPattern(r), diagonals.SymmetricRows, func(rows form.Rows[V], first int) (formtest.Halves[V], error) {
			return diagonals.NewSymmetric(rows, first, l)
		})
	})
}

func TestSymmetricDiagonalsTakeHalfTheMemory(t *testing.T) {
	a := formtest.Tridiagonal(5000, func(k int) float64 { return float64((k + 1) / 3) })
	rows := formtest.RowsOf(a)
	d := formtest.Must(diagonals.NewDiagonals(rows, diagonals.DiagonalOptions[float64]{Level: simd.Best()}))(t)
	require.Equal(t, diagonals.FastSymmetric(simd.Best()), diagonals.SuitsSymmetric(d))
	s := formtest.Must(diagonals.NewSymmetric(rows, 0, simd.Best()))(t)
	require.Less(t, float64(s.Bytes()), .7*float64(d.Bytes()))
	require.LessOrEqual(t, s.Padding(), int64(8))
}

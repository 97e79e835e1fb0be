package reference

import (
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/sparse"
)

func TestTheReferenceIsTheExactResultRoundedOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 30).Draw(t, "entries")
		coo := &sparse.COO[float64]{Rows: 3, Cols: 4, RowIdx: make([]int32, n), ColIdx: make([]int32, n), Val: make([]float64, n)}
		value := rapid.Float64Range(-1e9, 1e9)
		for k := range n {
			coo.RowIdx[k] = int32(rapid.IntRange(0, 2).Draw(t, "i"))
			coo.ColIdx[k] = int32(rapid.IntRange(0, 3).Draw(t, "j"))
			coo.Val[k] = value.Draw(t, "v")
		}
		x, y := make([]float64, 4), make([]float64, 3)
		for i := range x {
			x[i] = value.Draw(t, "x")
		}
		for i := range y {
			y[i] = value.Draw(t, "y")
		}
		alpha, beta := value.Draw(t, "alpha"), value.Draw(t, "beta")
		got := Multiply(false, alpha, sparse.Matrix[float64](coo), x, beta, y)
		for i := range 3 {
			exact := product(beta, y[i], 1)
			for k := range n {
				if int(coo.RowIdx[k]) == i {
					exact.Add(exact, product(alpha, coo.Val[k], x[coo.ColIdx[k]]))
				}
			}
			want, _ := exact.Float64()
			// The rounding errors of products near the smallest numbers are rounded
			// too, and are then multiplied by x or y.
			lost := 4e9 * float64(got.Terms[i]) * math.SmallestNonzeroFloat64
			require.InDelta(t, want, got.Y[i], 0x1p-52*math.Abs(want)+0x1p-90*got.Scale[i]+lost)
		}
	})
}

func product(a, b, c float64) *big.Float {
	f := func(v float64) *big.Float { return new(big.Float).SetPrec(1000).SetFloat64(v) }
	p := new(big.Float).SetPrec(1000).Mul(f(a), f(b))
	return p.Mul(p, f(c))
}

func TestCheckFindsTheElementThatIsWrong(t *testing.T) {
	want := Product{Y: []float64{1, 2, math.NaN(), math.Inf(1)}, Scale: []float64{1, 2, 0, 0}, Terms: []int{1, 1, 1, 1}}
	require.Equal(t, -1, Check([]float64{1, 2, math.NaN(), math.Inf(1)}, want))
	require.Equal(t, 0, Check([]float64{1 + 1e-14, 2, math.NaN(), math.Inf(1)}, want))
	require.Equal(t, 1, Check([]float64{1, math.NaN(), math.NaN(), math.Inf(1)}, want))
	require.Equal(t, 2, Check([]float64{1, 2, 0, math.Inf(1)}, want))
	require.Equal(t, 3, Check([]float64{1, 2, math.NaN(), math.Inf(-1)}, want))
	require.Equal(t, 4, Check([]float64{1, 2}, want), "wrong length")
	require.Equal(t, -1, Check([]float32{1.0000001, 2}, Product{Y: []float64{1, 2}, Scale: []float64{1, 2}, Terms: []int{1, 1}}))
	require.Equal(t, 0, Check([]float32{1.00001, 2}, Product{Y: []float64{1, 2}, Scale: []float64{1, 2}, Terms: []int{1, 1}}))
}

func TestBetaZeroDoesNotReadYAndAlphaZeroReadsNothing(t *testing.T) {
	a := &sparse.COO[float64]{Rows: 1, Cols: 1, RowIdx: []int32{0}, ColIdx: []int32{0}, Val: []float64{math.NaN()}}
	require.Equal(t, []float64{3}, Multiply(false, 0, sparse.Matrix[float64](a), nil, 1.5, []float64{2}).Y)
	a.Val[0] = 2
	require.Equal(t, []float64{10}, Multiply(true, 1, sparse.Matrix[float64](a), []float64{5}, 0, nil).Y)
}

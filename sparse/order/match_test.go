package order

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/internal/matrixtest"
)

// requireMatching requires that m is a matching of entries of a, and that its scales make
// matched entries 1 and all others at most 1, up to rounding. It returns the logarithm of
// the product of the matched entries.
func requireMatching(t require.TestingT, a *sparse.CSR[float64], m *Matching) float64 {
	require.Len(t, m.Rows, a.Cols)
	require.Len(t, m.RowScale, a.Rows)
	require.Len(t, m.ColScale, a.Cols)
	used, size, product := make([]bool, a.Rows), 0, 0.0
	matched := make([]float64, a.Cols)
	for i := range a.Rows {
		for k := a.RowPtr[i]; k < a.RowPtr[i+1]; k++ {
			if m.Rows[a.ColIdx[k]] == int32(i) {
				matched[a.ColIdx[k]] += a.Val[k]
			}
		}
	}
	for j, i := range m.Rows {
		if i == none {
			continue
		}
		if used[i] {
			require.Fail(t, "a row is used twice", "row %d", i)
		}
		used[i] = true
		size++
		product += math.Log(math.Abs(matched[j]))
		if scaled := math.Abs(m.RowScale[i] * matched[j] * m.ColScale[j]); math.Abs(scaled-1) > 1e-9 {
			require.Fail(t, "scaled entry of the matching", "%v in column %d", scaled, j)
		}
	}
	require.Equal(t, m.Size, size)
	sum, last := make([]float64, a.Cols), filled(a.Cols, none)
	for i := range a.Rows {
		row := a.ColIdx[a.RowPtr[i]:a.RowPtr[i+1]]
		for k, j := range row {
			if last[j] != int32(i) {
				sum[j], last[j] = 0, int32(i)
			}
			sum[j] += a.Val[a.RowPtr[i]+int64(k)]
		}
		for _, j := range row {
			if scaled := math.Abs(m.RowScale[i] * sum[j] * m.ColScale[j]); scaled > 1+1e-9 {
				require.Fail(t, "scaled entry", "%v at %d, %d", scaled, i, j)
			}
		}
	}
	return product
}

// bestMatching returns the size of the largest matchings of d and the largest log of a
// product among them, by trying all.
func bestMatching(d [][]float64, cols int) (size int, product float64) {
	var try func(j, size int, used uint, product float64)
	best, most := 0, math.Inf(-1)
	try = func(j, size int, used uint, product float64) {
		if j == cols {
			if size > best || size == best && product > most {
				best, most = size, product
			}
			return
		}
		try(j+1, size, used, product)
		for i := range d {
			if used&(1<<i) == 0 && d[i][j] != 0 {
				try(j+1, size+1, used|1<<i, product+math.Log(math.Abs(d[i][j])))
			}
		}
	}
	try(0, 0, 0, 0)
	return best, most
}

// requireBestMatching requires that Match finds what bestMatching does. It reports whether
// all columns were matched.
func requireBestMatching(t require.TestingT, a *sparse.CSR[float64]) bool {
	m, err := Match(a)
	require.NoError(t, err)
	product := requireMatching(t, a, m)
	size, best := bestMatching(matrixtest.Dense(a), a.Cols)
	require.Equal(t, size, m.Size)
	perfect := a.Rows == a.Cols && size == a.Rows
	if perfect {
		require.InDelta(t, best, product, 1e-9)
	}
	return perfect
}

func TestMatchFindsTheLargestProductOfAllMatchings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		requireBestMatching(t, drawMatrix(t, 6, rapid.Bool().Draw(t, "square")))
	})
	r := rand.New(rand.NewPCG(5, 6))
	perfect := 0
	for range 300 {
		n := 1 + r.IntN(7)
		entries := n + r.IntN(n*n)
		coo := &sparse.COO[float64]{Rows: n, Cols: n}
		for range entries {
			coo.RowIdx, coo.ColIdx = append(coo.RowIdx, r.Int32N(int32(n))), append(coo.ColIdx, r.Int32N(int32(n)))
			coo.Val = append(coo.Val, r.NormFloat64()*math.Pow(10, float64(r.IntN(9)-4)))
		}
		if requireBestMatching(t, sparse.ToCSR(coo)) {
			perfect++
		}
	}
	require.Greater(t, perfect, 100)
}

func TestMatchOfAMatrixByHand(t *testing.T) {
	// The diagonal has the product 5*2*4 = 40; the best is 7*9*4 = 252. The best entry of
	// each row would leave column 1 out.
	a := matrix(
		"57.",
		"92.",
		"8.4",
	)
	m, err := Match(a)
	require.NoError(t, err)
	require.Equal(t, 3, m.Size)
	require.Equal(t, []int32{1, 0, 2}, m.Rows)
	require.InDelta(t, math.Log(252), requireMatching(t, a, m), 1e-12)
}

func TestMatchScalesEntriesOfAnySize(t *testing.T) {
	// Denormal and huge numbers: scales stay finite.
	a := matrix("11", "11")
	a.Val = []float64{5e-324, 1e-310, 1e300, 1e-300}
	m, err := Match(a)
	require.NoError(t, err)
	require.Equal(t, 2, m.Size)
	for _, s := range append(m.RowScale, m.ColScale...) {
		require.True(t, s >= 1e-300 && s <= 1e300, "%v", s)
	}
}

// half has random entries in the upper half of its rows only. A search for each column that finds no row used to visit all
// the others: 16 s in all.
func half(n int) *sparse.CSR[float64] {
	r := rand.New(rand.NewPCG(7, 8))
	coo := &sparse.COO[float64]{Rows: n, Cols: n}
	for k := range 3 * n {
		coo.RowIdx, coo.ColIdx = append(coo.RowIdx, int32(k%(n/2))), append(coo.ColIdx, r.Int32N(int32(n)))
		coo.Val = append(coo.Val, math.Exp(r.NormFloat64()))
	}
	return sparse.ToCSR(coo)
}

func TestMatchOfAMatrixWithManyEmptyRows(t *testing.T) {
	begin := time.Now()
	a := half(20_000)
	m, err := Match(a)
	require.NoError(t, err)
	requireMatching(t, a, m)
	require.Equal(t, 10_000, m.Size)
	require.Less(t, time.Since(begin), 5*time.Second)
}

func TestMatchEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := MatchContext(ctx, half(1000))
	require.ErrorIs(t, err, context.Canceled)
}

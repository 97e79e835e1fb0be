package factor

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
)

// triangularFactor returns a lower or an upper triangle of n rows with random entries.
func triangularFactor(t *testing.T, n int, upper bool) *sparse.CSR[float64] {
	r := rand.New(rand.NewPCG(uint64(n), 3))
	m := &sparse.CSR[float64]{Rows: n, Cols: n, RowPtr: []int64{0}}
	for row := range n {
		for col := range n {
			if col == row || upper == (col > row) && r.Float64() < 0.1 {
				m.ColIdx, m.Val = append(m.ColIdx, int32(col)), append(m.Val, 1+r.Float64())
			}
		}
		m.RowPtr = append(m.RowPtr, int64(len(m.Val)))
	}
	require.NoError(t, m.Validate())
	return m
}

// productOf returns a*x.
func productOf(a *sparse.CSR[float64], x []float64) []float64 {
	y := make([]float64, a.Rows)
	for row := range y {
		for k := a.RowPtr[row]; k < a.RowPtr[row+1]; k++ {
			y[row] += a.Val[k] * x[a.ColIdx[k]]
		}
	}
	return y
}

func TestTrianglesInvertTheProductOfTheirFactors(t *testing.T) {
	ctx := context.Background()
	const n = 40
	lower, upper := triangularFactor(t, n, false), triangularFactor(t, n, true)
	shuffled := make([]int32, n)
	for i, k := range rand.New(rand.NewPCG(1, 1)).Perm(n) {
		shuffled[i] = int32(k)
	}
	reversed := make([]int32, n)
	for i := range reversed {
		reversed[i] = int32(n - 1 - i)
	}
	for _, devices := range []string{"cpu:1", "cpu:2", "sim:1", "sim:2"} {
		sys, err := msrep.Open(msrep.Config{Devices: devices})
		require.NoError(t, err)
		for _, order := range [][2][]int32{{nil, nil}, {shuffled, nil}, {nil, reversed}, {shuffled, reversed}} {
			f, err := NewTriangles(ctx, sys, lower, upper, order[0], order[1])
			require.NoError(t, err)
			require.Equal(t, n, f.Size())
			want, r := make([]float64, n), make([]float64, n)
			for i := range want {
				want[i] = float64(i%7) - 2.5
			}
			ordered := make([]float64, n) // L U z[q] = r[p]
			for j := range ordered {
				ordered[j] = want[indexIn(order[1], j)]
			}
			for i, v := range productOf(lower, productOf(upper, ordered)) {
				r[indexIn(order[0], i)] = v
			}
			z := make([]float64, n)
			require.NoError(t, f.Apply(r, z))
			require.InDeltaSlice(t, want, z, 1e-6)

			rv, err := msrep.NewVector[float64](sys, n)
			require.NoError(t, err)
			zv, err := msrep.NewVector[float64](sys, n)
			require.NoError(t, err)
			require.NoError(t, rv.Write(r))
			require.NoError(t, f.ApplyVector(ctx, rv, zv))
			got := make([]float64, n)
			require.NoError(t, zv.Read(got))
			require.Equal(t, z, got)

			require.True(t, sparse.IsInput(f.Apply(r, r)))
			require.True(t, sparse.IsInput(f.Apply(r[1:], z)))
			require.True(t, sparse.IsInput(f.Apply(r, z[1:])))
			require.True(t, sparse.IsInput(f.ApplyVector(ctx, rv, rv)))
			require.NoError(t, f.Close())
			require.NoError(t, f.Close())
		}
		small := triangularFactor(t, n-1, true)
		for _, bad := range []func() (*Triangles, error){
			func() (*Triangles, error) { return NewTriangles(ctx, sys, lower, small, nil, nil) },
			func() (*Triangles, error) { return NewTriangles(ctx, sys, nil, upper, nil, nil) },
			func() (*Triangles, error) { return NewTriangles(ctx, sys, lower, upper, shuffled[1:], nil) },
			func() (*Triangles, error) { return NewTriangles(ctx, sys, lower, upper, nil, make([]int32, n)) },
		} {
			f, err := bad()
			require.True(t, sparse.IsInput(err), err)
			require.Nil(t, f)
		}
		require.NoError(t, sys.Close())
	}
}

// indexIn returns p[i], or i where p is nil.
func indexIn(p []int32, i int) int {
	if p == nil {
		return i
	}
	return int(p[i])
}

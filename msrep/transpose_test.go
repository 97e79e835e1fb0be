package msrep

import (
	"context"
	"math/rand"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/reference"
	"github.com/msrep-go/msrep/sparse"
)

// scattered returns a matrix with each entries in each row, at random places.
func scattered(rows, cols, each int) *sparse.CSR[float64] {
	rng := rand.New(rand.NewSource(1))
	a := &sparse.CSR[float64]{Rows: rows, Cols: cols, RowPtr: []int64{0}}
	for range rows {
		first := rng.Intn(cols - each + 1)
		for c := range each {
			a.ColIdx, a.Val = append(a.ColIdx, int32(first+c)), append(a.Val, rng.NormFloat64())
		}
		a.RowPtr = append(a.RowPtr, int64(len(a.Val)))
	}
	return a
}

func TestAPlanKeepsTheTransposedMatrixAfterManyUnexpectedProducts(t *testing.T) {
	a := scattered(300, 200, 5)
	x, y, ax := make([]float64, 300), make([]float64, 200), make([]float64, 300)
	for i := range x {
		x[i] = float64(i%7) - 2.5
	}
	check := func(p *Plan[float64], a *sparse.CSR[float64], alpha, beta float64) {
		t.Helper()
		for i := range y {
			y[i] = float64(i)
		}
		want := reference.Multiply(true, alpha, sparse.Matrix[float64](a), x, beta, y)
		multiply(t, p, Trans, alpha, x, beta, y)
		require.Equal(t, -1, reference.Check(y, want))
	}
	sys := open(t, Config{Devices: "cpu", Threads: 2})
	p := planOf[float64](t, sys, a, PlanOptions{})
	before := p.Bytes()
	for range transposeAfter - 1 {
		check(p, a, 2, -1)
		multiply(t, p, NoTrans, 1, y, 0, ax) // these do not count
	}
	require.Nil(t, p.transposed)

	err := p.SpMV(newEndsAfter(1), Trans, 1, x, 0, y)
	require.ErrorIs(t, err, context.Canceled)
	require.Nil(t, p.transposed)
	check(p, a, 2, -1)
	require.NotNil(t, p.transposed, "the next product builds it")
	require.Greater(t, p.Bytes(), before)
	check(p, a, 1, 0)

	other := &sparse.CSR[float64]{Rows: a.Rows, Cols: a.Cols, RowPtr: a.RowPtr, ColIdx: a.ColIdx, Val: make([]float64, len(a.Val))}
	for k := range other.Val {
		other.Val[k] = float64(k % 11)
	}
	require.NoError(t, p.UpdateValues(ctx, other.Val))
	check(p, other, 3, 1)
	want := reference.Multiply(false, 1, sparse.Matrix[float64](other), y, 0, ax)
	multiply(t, p, NoTrans, 1, y, 0, ax)
	require.Equal(t, -1, reference.Check(ax, want))
	require.NoError(t, p.Close())
	require.Empty(t, sys.devices().Opened)
}

func TestOtherPlansNeverKeepAnUnexpectedTransposedMatrix(t *testing.T) {
	small := scattered(300, 200, 5)
	for name, c := range map[string]struct {
		a       *sparse.CSR[float64]
		devices string
		opt     PlanOptions
	}{
		"a format that was named": {small, "cpu", PlanOptions{Storage: Storage{Format: sparse.FormatCSR}}},
		"a form that was named":   {small, "cpu", PlanOptions{Storage: Storage{Form: "slices"}}},
		"a released matrix":       {small, "cpu", PlanOptions{Storage: Storage{Release: true}}},
		"two devices":             {small, "cpu:2", PlanOptions{}},
		"copies of the vectors":   {small, "cpu", PlanOptions{Variant: Variant{Strategy: Partial}}},
		"a large matrix":          {scattered(1<<14+1, 200, cachedEntries>>14), "cpu", PlanOptions{Expected: Expected{Products: 1}}},
	} {
		t.Run(name, func(t *testing.T) {
			sys := open(t, Config{Devices: c.devices, Threads: 1})
			p := planOf[float64](t, sys, c.a, c.opt)
			x, y := make([]float64, c.a.Rows), make([]float64, c.a.Cols)
			for range transposeAfter + 1 {
				multiply(t, p, Trans, 1, x, 0, y)
			}
			require.Nil(t, p.transposed)
		})
	}
}

func TestAPlanThatCannotKeepTheTransposedMatrixTriesOnceAndMultipliesOn(t *testing.T) {
	a := scattered(300, 200, 5)
	sys := open(t, Config{Devices: "cpu", Threads: 1})
	p := planOf[float64](t, sys, a, PlanOptions{})
	x, y := make([]float64, a.Rows), make([]float64, a.Cols)
	plans := sys.devices().Opened
	for i := range transposeAfter + 1 {
		if sys.devices().Opened = plans; i == transposeAfter-1 {
			sys.devices().Opened = nil // the System is closed for new plans
		}
		multiply(t, p, Trans, 1, x, 0, y)
	}
	require.Nil(t, p.transposed)
	require.NoError(t, sys.Close())
}

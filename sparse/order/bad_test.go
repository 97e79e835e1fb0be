package order

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/sparse"
)

// functions are all functions that take a square matrix, and those that take any.
var (
	forSquare = map[string]func(*sparse.CSR[float64]) error{
		"AMD":             func(a *sparse.CSR[float64]) error { _, err := AMD(a); return err },
		"Dissection":      func(a *sparse.CSR[float64]) error { _, err := Dissection(a); return err },
		"Spread":          func(a *sparse.CSR[float64]) error { _, _, err := Spread(a, 2); return err },
		"RCM":             func(a *sparse.CSR[float64]) error { _, err := RCM(a); return err },
		"BlockTriangular": func(a *sparse.CSR[float64]) error { _, err := BlockTriangular(a, nil); return err },
		"Partition":       func(a *sparse.CSR[float64]) error { _, _, err := Partition(context.Background(), a, 2); return err },
		"Halo":            func(a *sparse.CSR[float64]) error { _, err := Halo(a, nil, nil); return err },
		"Symmetry":        func(a *sparse.CSR[float64]) error { _, _, err := Symmetry(a); return err },
	}
	forAny = map[string]func(*sparse.CSR[float64]) error{
		"ColumnAMD": func(a *sparse.CSR[float64]) error { _, err := ColumnAMD(a); return err },
		"Match":     func(a *sparse.CSR[float64]) error { _, err := Match(a); return err },
		"Deficient": func(a *sparse.CSR[float64]) error {
			rows := []int32{}
			if a != nil {
				rows = filled(a.Cols, none)
			}
			_, err := Deficient(a, rows)
			return err
		},
	}
)

func TestBadMatricesAreRefused(t *testing.T) {
	wide := &sparse.CSR[float64]{Rows: 1, Cols: 2, RowPtr: []int64{0, 0}}
	outside := &sparse.CSR[float64]{Rows: 1, Cols: 1, RowPtr: []int64{0, 1}, ColIdx: []int32{1}, Val: []float64{1}}
	for name, f := range forSquare {
		require.EqualError(t, f(wide), "matrix: 1 rows and 2 columns: a square matrix is needed", name)
		require.True(t, sparse.IsInput(f(wide)), name)
		require.True(t, sparse.IsInput(f(outside)), name)
		require.True(t, sparse.IsInput(f(nil)), name)
	}
	for name, f := range forAny {
		require.NoError(t, f(wide), name)
		require.True(t, sparse.IsInput(f(outside)), name)
		require.True(t, sparse.IsInput(f(nil)), name)
	}
}

func TestMatricesThatDoNotFitInMemoryAreRefused(t *testing.T) {
	a := generate(t, "empty:rows=8M")
	defer mem.SetAvailable(1000)()
	for name, f := range forSquare {
		err := f(a)
		require.ErrorContains(t, err, "are available", name)
		require.True(t, sparse.IsInput(err), name)
	}
	for name, f := range forAny {
		err := f(a)
		require.ErrorContains(t, err, "are available", name)
		require.True(t, sparse.IsInput(err), name)
	}
}

func TestMatchRefusesValuesThatAreNotFinite(t *testing.T) {
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		a := matrix("12", "34")
		a.Val[2] = v
		_, err := Match(a)
		require.ErrorContains(t, err, "matrix: entry 2 is")
		require.True(t, sparse.IsInput(err))
	}
	a := &sparse.CSR[float64]{Rows: 1, Cols: 1, RowPtr: []int64{0, 2}, ColIdx: []int32{0, 0}, Val: []float64{1e308, 1e308}}
	_, err := Match(a)
	require.EqualError(t, err, "matrix: row 0, column 0: the sum of the entries is +Inf: a matching needs finite values")
}

func TestRowsThatAreNoPermutationHaveNoBlocks(t *testing.T) {
	_, err := BlockTriangular(matrix("12", "34"), []int32{0, -1})
	require.EqualError(t, err, "rows: element 1 of the permutation is -1: it must be in [0, 2)")
}

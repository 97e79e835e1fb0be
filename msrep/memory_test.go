package msrep

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
)

func TestPlansOmitTheTransposedMatrixWhenMemoryIsScarce(t *testing.T) {
	a := spreadMatrix(2050, 2050)
	sys := testSystem(t, 1, false)
	defer func() { require.NoError(t, sys.Close()) }()
	defer mem.SetAvailable(16 << 20)()
	plan := planOf(t, sys, a, PlanOptions{Expected: Expected{Transposed: 10}})
	require.Nil(t, plan.transposed)
	y := make([]float64, a.Cols)
	multiply(t, plan, Trans, 1, make([]float64, a.Rows), 0, y)
	_, err := NewPlan(t.Context(), sys, a, PlanOptions{Storage: Storage{Format: sparse.FormatCSC}})
	require.True(t, sparse.IsInput(err), "%v", err)
}

func TestVectorsThatDoNotFitInHostMemoryAreErrors(t *testing.T) {
	const rows = 2<<20 + 1
	a := &sparse.CSR[float64]{Rows: rows, Cols: 1, RowPtr: make([]int64, rows+1)}
	x, y := make([]float64, 3), make([]float64, 3*rows)
	for strategy, message := range map[Strategy]string{Optimized: "", Partial: "vector: 2097153 elements take 16777224 bytes of host memory, 0 are available: out of memory"} {
		sys := testSystem(t, 1, false)
		plan := planOf(t, sys, a, PlanOptions{Variant: Variant{Strategy: strategy}, Expected: Expected{Products: 1}})
		end := sync.OnceFunc(mem.SetAvailable(0))
		defer end()
		err := plan.SpMV(t.Context(), NoTrans, 1, x[:1], 0, y[:rows])
		if message == "" {
			require.NoError(t, err)
			err = plan.SpMM(t.Context(), NoTrans, 1, MultiVector[float64]{Val: x, Count: 3, Stride: 1, ByColumn: true}, 0, MultiVector[float64]{Val: y, Count: 3, Stride: rows, ByColumn: true})
			require.NoError(t, err, "vectors by column need no copy")
			err = plan.SpMM(t.Context(), Trans, 1, MultiVectorByRow(y[:rows], 1), 0, MultiVectorByRow(x[:1], 1))
			require.True(t, sparse.IsInput(err), "%v", err)
			_, err = NewVector[float64](sys, rows)
			message = "vector: 2097153 elements"
		}
		end()
		require.True(t, sparse.IsInput(err), "%v", err)
		require.ErrorIs(t, err, kernels.ErrOutOfMemory)
		require.ErrorContains(t, err, message)
		require.NoError(t, plan.Close())
		require.NoError(t, sys.Close())
	}
}

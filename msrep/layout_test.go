package msrep

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
)

// full returns a matrix whose entries are all stored.
func full(rows, cols int) *sparse.CSR[float64] {
	a := &sparse.CSR[float64]{Rows: rows, Cols: cols, RowPtr: make([]int64, rows+1), ColIdx: make([]int32, rows*cols), Val: make([]float64, rows*cols)}
	for i := range a.RowPtr {
		a.RowPtr[i] = int64(i * cols)
	}
	for k := range a.Val {
		a.ColIdx[k], a.Val[k] = int32(k%cols), 1
	}
	return a
}

func TestConversionsThatDoNotFitInMemoryAreErrors(t *testing.T) {
	const rows, cols = 1 << 10, 4200
	const entries = rows * cols
	csr := full(rows, cols)
	coo, csc := sparse.ToCOO[float64](csr), full(cols, rows).Transpose()
	unsorted := *coo
	unsorted.RowIdx, unsorted.ColIdx = coo.ColIdx, coo.RowIdx
	unsorted.Rows, unsorted.Cols = cols, rows
	unsorted.RowIdx[0], unsorted.RowIdx[1], unsorted.ColIdx[0] = 1, 0, 5
	for _, c := range []struct {
		name   string
		a      sparse.Matrix[float64]
		format sparse.Format
		need   int64
	}{
		{"csr into csc", csr, sparse.FormatCSC, 16*entries + 8*cols}, {"csr into coo", csr, sparse.FormatCOO, 4 * entries},
		{"csc into csr", csc, sparse.FormatCSR, 16*entries + 8*rows}, {"coo into csc", coo, sparse.FormatCSC, 12*entries + 8*cols},
		{"unsorted coo into csr", &unsorted, sparse.FormatCSR, 12*entries + 8*cols}, {"unsorted coo into coo", &unsorted, sparse.FormatCOO, 16*entries + 8*cols},
		{"csr into csr", csr, sparse.FormatCSR, 0}, {"csc into csc", csc, sparse.FormatCSC, 0}, {"coo into csr", sparse.ToCOO[float64](csr), sparse.FormatCSR, 0},
		{"coo into coo", sparse.ToCOO[float64](csr), sparse.FormatCOO, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			end := mem.SetAvailable(c.need - 1)
			_, err := newLayout(c.a, c.format, false)
			end()
			if c.need > 0 {
				require.True(t, sparse.IsInput(err))
				require.ErrorIs(t, err, kernels.ErrOutOfMemory)
				require.ErrorContains(t, err, "matrix: 4300800 entries: to convert them from ")
			} else {
				require.NoError(t, err)
			}
			defer mem.SetAvailable(c.need)()
			_, err = newLayout(c.a, c.format, false)
			require.NoError(t, err)
		})
	}
}

func TestPlansOmitTheTransposedMatrixWhenMemoryIsScarce(t *testing.T) {
	a := full(1<<10, 4200)
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

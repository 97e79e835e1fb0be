package solver

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
)

func TestBlockJacobiGivesTheSameBitsOnTheWorkersOfAPlan(t *testing.T) {
	a := laplacian(t, "stencil:n=150,points=5")
	plan := planOn(t, "cpu:1", a)
	r := sines(a.Rows)
	for _, size := range []int{1, 2, 7, 64, 100, MaxBlockSize} {
		m, err := BlockJacobi(a, size)
		require.NoError(t, err)
		b := m.(*blockJacobi)
		want, alone, shared := make([]float64, a.Rows), sines(a.Rows), sines(a.Rows)
		for first := 0; first < a.Rows; first += size {
			order := min(size, a.Rows-first)
			inverse := b.inverse[first*size:]
			for j := range order {
				for i := range order {
					want[first+i] += float64(inverse[j*order+i] * r[first+j])
				}
			}
		}
		require.NoError(t, m.Apply(r, alone))
		require.NoError(t, b.ApplyOn(plan, r, shared))
		require.Equal(t, want, alone, size)
		require.Equal(t, want, shared, size)
	}
}

func TestBlocksThatDoNotFitInMemoryAreRefused(t *testing.T) {
	withMemory(t, 20<<20+40) // with what is found of the blocks
	require.NoError(t, blocksFit(10240, 256))
	for _, n := range []int{10241, sparse.MaxDim} {
		err := blocksFit(n, 256)
		require.True(t, sparse.IsInput(err))
		require.ErrorContains(t, err, "block size: 256: the blocks of")
	}
}

func TestBlocksWithAZeroPivotSwapRows(t *testing.T) {
	m, err := BlockJacobi(dense(t, []float64{0, 2}, []float64{3, 0}), 2)
	require.NoError(t, err)
	z := make([]float64, 2)
	require.NoError(t, m.Apply([]float64{4, 9}, z))
	require.Equal(t, []float64{3, 2}, z)
	_, err = BlockJacobi(dense(t, []float64{1e-310}), 1)
	require.ErrorContains(t, err, "singular", "its inverse is infinite")
	_, err = BlockJacobi(dense(t, []float64{1e-160, 1}, []float64{0, 1e-160}), 2)
	require.ErrorContains(t, err, "inverse is not finite", "an element of its inverse is infinite")
}

func TestSingularBlocksAreRefusedAlsoWhereRoundingHidesIt(t *testing.T) {
	// The rows of a periodic grid sum to 0, so the blocks are singular.
	whole := laplacian(t, "stencil:n=7,points=5")
	for i := range whole.Rows {
		sum, own := 0.0, int64(0)
		for k := whole.RowPtr[i]; k < whole.RowPtr[i+1]; k++ {
			if int(whole.ColIdx[k]) == i {
				own = k
			} else {
				sum += whole.Val[k]
			}
		}
		whole.Val[own] = -sum
	}
	for _, a := range []*sparse.CSR[float64]{
		whole,
		dense(t, []float64{1, 2, 3}, []float64{4, 5, 6}, []float64{7, 8, 9}),
		dense(t, []float64{.1, .2, .3}, []float64{.4, .5, .6}, []float64{.7, .8, .9}),
	} {
		_, err := BlockJacobi(a, a.Rows)
		require.True(t, sparse.IsInput(err))
		require.ErrorContains(t, err, "singular to working precision")
	}
	_, err := BlockJacobi(dense(t, []float64{math.Inf(1)}), 1)
	require.True(t, sparse.IsInput(err))
	for _, a := range []*sparse.CSR[float64]{
		dense(t, []float64{1e-150, 0}, []float64{0, 1e150}),
		dense(t, []float64{1, 1e10}, []float64{1e10, 2e20}), // badly scaled
		dense(t, []float64{1, 1}, []float64{1, 1 + 0x1p-40}),
	} {
		_, err := BlockJacobi(a, 2)
		require.NoError(t, err)
	}
}

// BenchmarkBlockJacobi times 50 iterations of CG for several block sizes.
func BenchmarkBlockJacobi(b *testing.B) {
	a := laplacian(b, "stencil:n=232,points=5")
	sys, err := msrep.Open(msrep.Config{Devices: "cpu"})
	require.NoError(b, err)
	defer sys.Close()
	plan, err := msrep.NewPlan(b.Context(), sys, a, msrep.PlanOptions{})
	require.NoError(b, err)
	for _, size := range []int{1, 2, 4, 8, 16, 64, MaxBlockSize} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			m, err := BlockJacobi(a, size)
			require.NoError(b, err)
			iterations := 0
			for b.Loop() {
				res, err := CG(b.Context(), plan, sines(a.Rows), make([]float64, a.Rows), Options{Precond: m, MaxIter: 50, Tol: 1e-30})
				require.True(b, errors.Is(err, ErrNotConverged), err)
				iterations += res.Iterations
			}
			b.ReportMetric(b.Elapsed().Seconds()*1e3/float64(iterations), "ms/iteration")
		})
	}
}

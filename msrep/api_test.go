package msrep

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

func TestAlphaZeroReadsNeitherTheMatrixNorX(t *testing.T) {
	sys := openCPU(t, "cpu:2")
	a := small(t)
	a.Val[0] = math.Inf(1)
	plan := planOf[float64](t, sys, a, PlanOptions{})
	y := []float64{1, 2, 3}
	multiply(t, plan, NoTrans, 0, slices.Repeat([]float64{math.NaN()}, 4), 2, y)
	require.Equal(t, []float64{2, 4, 6}, y)
}

func TestTheBaselineSplitsByRowsAndTheDefaultUsesTheMatrixInPlace(t *testing.T) {
	a := generated(t, "arrow:n=1000")
	sys := open(t, Config{Devices: "cpu:4", NUMA: NUMAOff})
	for _, c := range []struct {
		strategy Strategy
		rule     partition.Rule
		copies   bool
	}{{Baseline, partition.RuleMajor, true}, {Partial, partition.RuleNNZ, true}, {Optimized, partition.RuleNNZ, false}, {"", partition.RuleNNZ, false}} {
		plan := planOf[float64](t, sys, a, PlanOptions{Variant: Variant{Strategy: c.strategy}})
		require.Equal(t, c.rule, plan.Rule(), c.strategy)
		if c.rule == partition.RuleMajor {
			require.Equal(t, 250, plan.Shares()[1].Part.OwnFirst)
		}
		if c.copies {
			require.Greater(t, plan.Bytes(), a.Bytes(), c.strategy)
		} else {
			require.Less(t, plan.Bytes(), int64(100), "carries only")
		}
		require.NoError(t, plan.Close())
	}
}

func TestThreadsIsTheTotalOfAllDevices(t *testing.T) {
	sys := open(t, Config{Devices: "cpu:3", Threads: 7, NUMA: NUMAOff})
	sum := 0
	for _, d := range sys.Devices() {
		sum += d.Threads
	}
	require.Equal(t, 7, sum)
	_, err := Open(Config{Threads: MaxThreads + 1})
	require.ErrorContains(t, err, "threads: 4097")
}

func TestSpMVOnceUsesAllDevices(t *testing.T) {
	y := []float64{1, 1, 1}
	require.NoError(t, SpMV(ctx, NoTrans, 2, sparse.Matrix[float64](small(t)), []float64{1, 10, 100, 1000}, 3, y))
	require.Equal(t, []float64{2*2001 + 3, 3, 63}, y)
	require.ErrorContains(t, SpMV(ctx, NoTrans, 2, sparse.Matrix[float64](small(t)), nil, 3, y), "x: 0 elements")
}

func TestAPlanDescribesItsParts(t *testing.T) {
	sys := openCPU(t, "cpu:2")
	hyper := &sparse.CSR[float64]{Rows: 1000, Cols: 2, RowPtr: make([]int64, 1001), ColIdx: []int32{1}, Val: []float64{2}}
	hyper.RowPtr[1000] = 1
	plan := planOf[float64](t, sys, hyper, PlanOptions{})
	require.Equal(t, partition.RuleMergePath, plan.Rule(), "many empty rows")
	require.Equal(t, sparse.FormatCSR, plan.Format())
	require.Equal(t, int64(1), plan.NNZ())
	rows, cols := plan.Dims()
	require.Equal(t, []int{1000, 2}, []int{rows, cols})
	parts := []partition.Part{plan.Shares()[0].Part, plan.Shares()[1].Part}
	require.NoError(t, partition.Verify(parts, hyper.RowPtr))
	require.InDelta(t, 500, parts[0].OwnEnd, 2)
}

func TestAPlanTransposesTheMatrixWhereEnoughProductsAreExpected(t *testing.T) {
	sys := openCPU(t, "cpu:2")
	csc := sparse.ToCSC[float64](small(t))
	for _, c := range []struct {
		opt    PlanOptions
		format sparse.Format
		twice  bool
	}{
		{PlanOptions{}, sparse.FormatCSR, false},
		{PlanOptions{Expected: Expected{Products: 1}}, sparse.FormatCSC, false},
		{PlanOptions{Expected: Expected{Products: 1}, Storage: Storage{Format: sparse.FormatCSR}}, sparse.FormatCSR, false},
		{PlanOptions{Variant: Variant{Strategy: Baseline}}, sparse.FormatCSC, false},
		{PlanOptions{Expected: Expected{Transposed: 1}}, sparse.FormatCSR, false},
		{PlanOptions{Expected: Expected{Transposed: 2}}, sparse.FormatCSR, true},
	} {
		plan := planOf(t, sys, sparse.Matrix[float64](csc), c.opt)
		require.Equal(t, c.format, plan.Format(), "%+v", c.opt)
		require.Equal(t, c.twice, plan.transposed != nil, "%+v", c.opt)
	}
}

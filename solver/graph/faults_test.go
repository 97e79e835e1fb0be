package graph

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/gen"
)

// withMemory makes package graph see this number of available bytes.
func withMemory(t *testing.T, bytes int64) {
	t.Cleanup(mem.SetAvailable(bytes))
}

// dense returns a matrix with the nonzeros of its rows.
func dense(t require.TestingT, rows ...[]float64) *sparse.CSR[float64] {
	ptr, idx, val := []int64{0}, []int32{}, []float64{}
	for _, r := range rows {
		for j, v := range r {
			if v != 0 {
				idx, val = append(idx, int32(j)), append(val, v)
			}
		}
		ptr = append(ptr, int64(len(idx)))
	}
	m, err := sparse.NewCSR(len(rows), len(rows), ptr, idx, val)
	require.NoError(t, err)
	return m
}

// stencil returns a generated matrix.
func stencil(t require.TestingT, spec string) *sparse.CSR[float64] {
	m, _, err := gen.Generate(spec)
	require.NoError(t, err)
	return m
}

// planOf returns a plan, which its System closes.
func planOf(t *testing.T, sys *msrep.System, a sparse.Matrix[float64], o msrep.PlanOptions) *msrep.Plan[float64] {
	t.Helper()
	plan, err := msrep.NewPlan(t.Context(), sys, a, o)
	require.NoError(t, err)
	return plan
}

func TestGraphsThatDoNotFitInMemoryAreRefused(t *testing.T) {
	a := stencil(t, "stencil:n=600,points=5") // 1.8 million entries
	withMemory(t, 20<<20)
	_, err := New(t.Context(), a, FormatAuto)
	require.True(t, sparse.IsInput(err))
	require.ErrorContains(t, err, "matrix: 1797600 links between 360000 nodes: to transpose them takes 34521600 bytes, 20971520 are available")
}

func TestGraphsWhoseRanksDoNotFitInMemoryAreRefused(t *testing.T) {
	a := stencil(t, "stencil:n=600,points=5") // 1.8 million entries
	sys := open(t, "cpu:1")
	for _, format := range []Format{FormatCSR, FormatELL} {
		withMemory(t, 1<<40)
		g, err := New(t.Context(), a, format)
		require.NoError(t, err)
		withMemory(t, 20<<20)
		_, err = g.PageRank(t.Context(), sys, Options{Weights: WeightsStored, MaxIter: 1})
		require.True(t, sparse.IsInput(err), "%v", err)
		require.ErrorContains(t, err, "matrix: 1797600 links between 360000 nodes: to rank these takes ")
	}
}

func TestTheMemoryOfRanksIsComputedToTheByte(t *testing.T) {
	a := stencil(t, "stencil:n=600,points=5")
	sys := open(t, "cpu:1")
	for _, c := range []struct {
		opt  Options
		need int
	}{
		// 360000 nodes with 1797600 links, in 45000 slices with 1800000 places in use
		{Options{Format: FormatCSR, Precision: CPMS2}, 24 * 360000}, // the links stay where they are
		{Options{Format: FormatCSR, Weights: WeightsStored, Precision: CPMS2}, 8*360001 + 12*1797600 + 16*1797600},
		{Options{Format: FormatCSR, Weights: WeightsStored, Precision: CPMS2, Bank: 128}, 8*360001 + 12*1797600 + 8*1797600},
		{Options{Format: FormatCSR, Weights: WeightsStored}, 8*360001 + 12*1797600 + 16*1797600},
	} {
		withMemory(t, 1<<40)
		g, err := New(t.Context(), a, c.opt.Format)
		require.NoError(t, err)
		withMemory(t, 8<<20)
		c.opt.MaxIter = 1
		_, err = g.PageRank(t.Context(), sys, c.opt)
		require.ErrorContains(t, err, fmt.Sprintf("to rank these takes %d bytes, 8388608 are available", c.need), "%+v", c.opt)
	}
}

func TestRanksOfAnOperatorThatDoNotFitInMemoryAreRefused(t *testing.T) {
	const n = 2<<20 + 1
	plan := planOf(t, open(t, "cpu:1"), &sparse.CSR[float64]{Rows: n, Cols: n, RowPtr: make([]int64, n+1)}, msrep.PlanOptions{})
	withMemory(t, 0)
	_, err := PageRankOver(t.Context(), plan, make([]float64, n), Options{MaxIter: 1})
	require.True(t, sparse.IsInput(err))
	require.ErrorContains(t, err, "matrix: 2097153 nodes: the 2 vectors of the iteration take 33554448 bytes, 0 are available")
}

func TestNilAndClosedArgumentsAreErrors(t *testing.T) {
	sys, gone := open(t, "cpu:1"), open(t, "cpu:1")
	a := dense(t, []float64{1, 0}, []float64{0, 2})
	plan := planOf(t, sys, a, msrep.PlanOptions{})
	require.NoError(t, gone.Close())
	var none context.Context
	var noPlan *msrep.Plan[float64]
	var errs []error
	add := func(_ any, err error) { errs = append(errs, err) }
	add(New(t.Context(), nil, FormatAuto))
	add(New(none, a, FormatAuto))
	add(PageRank(none, sys, a, Options{}))
	add(PageRankOver(t.Context(), nil, nil, Options{}))
	add(PageRankOver(t.Context(), noPlan, nil, Options{}))
	add(PageRankOver(none, plan, []float64{1, 1}, Options{}))
	add(PageRankOver(t.Context(), plan, []float64{1, -1}, Options{}))
	for i, err := range errs {
		require.True(t, sparse.IsInput(err), "%d: %v", i, err)
	}
	for _, sys := range []*msrep.System{gone, {}} {
		_, err := PageRank(t.Context(), sys, a, Options{})
		require.ErrorIs(t, err, msrep.ErrClosed)
	}
}

func TestErrorsOfWorkersBetweenProductsAreReturned(t *testing.T) {
	a := stencil(t, "stencil:n=20,points=5")
	plan := planOf(t, open(t, "cpu:1"), a, msrep.PlanOptions{})
	broken := errors.New("device lost")
	rank := func(op *idle) (*Result, error) {
		return PageRankOver(t.Context(), op, make([]float64, a.Rows), Options{MaxIter: 20})
	}
	whole := &idle{Plan: plan, left: -1}
	_, err := rank(whole)
	require.NoError(t, err)
	require.Greater(t, whole.calls, 5)
	for at := range whole.calls {
		res, err := rank(&idle{Plan: plan, left: at, err: broken})
		require.ErrorIs(t, err, broken, "call %d of %d", at, whole.calls)
		require.Nil(t, res)
	}
}

// idle is a plan whose Range fails after left calls, or never where left is negative.
type idle struct {
	*msrep.Plan[float64]
	left, calls int
	err         error
}

func (o *idle) Range(n, grain int, f func(lo, hi int)) error {
	if o.calls++; o.calls-1 == o.left {
		return o.err
	}
	return o.Plan.Range(n, grain, f)
}

// overdue is a context whose deadline has passed but whose timer has not fired.
type overdue struct{ context.Context }

func (overdue) Deadline() (time.Time, bool) { return time.Now(), true }

func TestADeadlineEndsPageRankEvenIfItsTimerIsLate(t *testing.T) {
	_, err := PageRank(overdue{t.Context()}, open(t, "cpu:1"), stencil(t, "stencil:n=12,points=5"), Options{})
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

func TestRanksThatLeaveTheRangeOfNumbersAreNotConverged(t *testing.T) {
	sys := open(t, "cpu:1")
	for _, link := range []float64{1e300, math.Inf(1), math.NaN()} {
		a := dense(t, []float64{0, link}, []float64{link, 0})
		plan := planOf(t, sys, a, msrep.PlanOptions{})
		_, err := PageRankOver(t.Context(), plan, []float64{1, 1}, Options{})
		require.ErrorIs(t, err, ErrDiverged)
		require.ErrorContains(t, err, "pagerank: diverged: a rank is not finite after ")
	}
	for _, damping := range []float64{5e-324, 1 - 1e-16} {
		res, err := PageRank(t.Context(), sys, dense(t, []float64{0, 1, 1}, []float64{0, 0, 0}, []float64{1, 0, 0}), Options{Damping: damping})
		require.NoError(t, err)
		require.InDelta(t, 1, res.Ranks[0]+res.Ranks[1]+res.Ranks[2], 1e-12)
	}
}

package cluster

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/corpus"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/solver"
	"github.com/msrep-go/msrep/solver/graph"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/matio"
)

// solved returns the result of a method with Jacobi over n ranks, or in one process for n = 0.
func solved(t *testing.T, n int, path string, fixed bool, method solver.Method) (x []float64, res *solver.Result) {
	opt := msrep.PlanOptions{Deterministic: fixed, Expected: msrep.Expected{Transposed: 100}} // for LSMR
	if n == 0 {
		m, err := matio.Read(ctx, path)
		require.NoError(t, err)
		sys, err := msrep.Open(msrep.Config{Devices: "cpu:2", Threads: 2})
		require.NoError(t, err)
		defer sys.Close()
		p, err := msrep.NewPlan(ctx, sys, m.CSR, opt)
		require.NoError(t, err)
		jacobi, err := solver.Jacobi(m.CSR)
		require.NoError(t, err)
		x = make([]float64, m.Rows)
		res, err = method(ctx, p, randomVector[float64](m.Rows, 9), x, solver.Options{Precond: jacobi})
		require.NoError(t, err)
		return x, res
	}
	align := Align(1)
	if fixed {
		align = solver.SumChunk
	}
	each(t, n, func(sys *System) error {
		m, _, err := Read(ctx, sys, path, align)
		if err != nil {
			return err
		}
		jacobi, err := Jacobi(m)
		if err != nil {
			return err
		}
		b := randomVector[float64](m.Rows, 9)[m.First() : m.First()+m.Part.Rows]
		p, err := NewPlan(ctx, sys, m, opt)
		if err != nil {
			return err
		}
		defer p.Close()
		piece := make([]float64, len(b))
		r, err := method(ctx, p, b, piece, solver.Options{Precond: jacobi})
		if err != nil {
			return err
		}
		whole, err := Gather(sys.Comm(), piece)
		if sys.Comm().Rank() == 0 {
			x, res = whole, r
		}
		return err
	})
	return x, res
}

func TestCGOverRanksAgreesWithOneProcess(t *testing.T) {
	path := "gen:stencil:dims=2,n=150"
	if testing.Short() {
		path = "gen:stencil:dims=2,n=60"
	}
	want, one := solved(t, 0, path, true, solver.CG)
	for _, n := range []int{1, 3, 5} {
		x, res := solved(t, n, path, true, solver.CG)
		require.Equal(t, want, x, "%d ranks: other bits", n)
		require.Equal(t, one.History, res.History)
		x, res = solved(t, n, path, false, solver.CG)
		require.True(t, res.Converged)
		for i := range x {
			require.InDelta(t, want[i], x[i], 1e-4)
		}
	}
}

func TestMethodsOverRanksHaveTheBitsOfOneProcess(t *testing.T) {
	const path = "gen:stencil:dims=2,n=100" // three chunks
	for name, method := range map[string]solver.Method{"minres": solver.MINRES, "fgmres": solver.FGMRES, "idr": solver.IDR, "lsmr": solver.LSMR} {
		want, one := solved(t, 0, path, true, method)
		x, res := solved(t, 3, path, true, method)
		require.Equal(t, want, x, "%s: other bits", name)
		require.Equal(t, one.History, res.History, name)
		x, res = solved(t, 3, path, false, method)
		require.True(t, res.Converged && !res.LeastSquares, name)
		for i := range x {
			require.InDelta(t, want[i], x[i], 1e-4, name)
		}
	}
}

func TestPageRankOverRanksHasTheBitsOfOneProcess(t *testing.T) {
	m, err := matio.Read(ctx, corpus.Testdata("memplus.mtx.gz"))
	require.NoError(t, err)
	for k := range m.Val {
		m.Val[k] = 1
	}
	degrees := func(a *sparse.CSR[float64]) []float64 {
		d := make([]float64, a.Rows)
		for i := range d {
			d[i] = float64(a.RowPtr[i+1] - a.RowPtr[i])
		}
		return d
	}
	sys, err := msrep.Open(msrep.Config{Devices: "cpu:2", Threads: 2})
	require.NoError(t, err)
	defer sys.Close()
	p, err := msrep.NewPlan(ctx, sys, sparse.ToCSC[float64](m.CSR).Transpose(), msrep.PlanOptions{Deterministic: true})
	require.NoError(t, err)
	want, err := graph.PageRankOver(ctx, p, degrees(m.CSR), graph.Options{})
	require.NoError(t, err)
	usual, err := graph.PageRank(ctx, sys, m.CSR, graph.Options{})
	require.NoError(t, err)
	require.Equal(t, usual.Iterations, want.Iterations)
	for i, r := range usual.Ranks {
		require.InDelta(t, r, want.Ranks[i], 1e-14)
	}
	each(t, 3, func(sys *System) error {
		a, err := Slice(sys.Comm(), m.CSR, solver.SumChunk)
		if err != nil {
			return err
		}
		degree := degrees(a.Part)
		links, err := a.Transpose(sys.Comm())
		if err != nil {
			return err
		}
		p, err := NewPlan(ctx, sys, links, msrep.PlanOptions{Deterministic: true})
		if err != nil {
			return err
		}
		defer p.Close()
		res, err := graph.PageRankOver(ctx, p, degree, graph.Options{})
		if err != nil {
			return err
		}
		first, _ := p.Piece()
		for i, r := range res.Ranks {
			if math.Float64bits(r) != math.Float64bits(want.Ranks[first+i]) {
				return fmt.Errorf("node %d has rank %v, in one process %v", first+i, r, want.Ranks[first+i])
			}
		}
		if res.Iterations != want.Iterations {
			return fmt.Errorf("%d iterations, in one process %d", res.Iterations, want.Iterations)
		}
		return nil
	})
}

func TestPageRankOverRefusesWhatItCannotDo(t *testing.T) {
	sys, err := msrep.Open(msrep.Config{Devices: "cpu"})
	require.NoError(t, err)
	defer sys.Close()
	a := &sparse.CSR[float64]{Rows: 2, Cols: 2, RowPtr: []int64{0, 1, 2}, ColIdx: []int32{1, 0}, Val: []float64{1, 1}}
	p, err := msrep.NewPlan(ctx, sys, a, msrep.PlanOptions{})
	require.NoError(t, err)
	for _, f := range []func() error{
		func() error { _, err := graph.PageRankOver(ctx, p, []float64{1}, graph.Options{}); return err },
		func() error { _, err := graph.PageRankOver(ctx, nil, nil, graph.Options{}); return err },
		func() error {
			_, err := graph.PageRankOver(ctx, p, []float64{1, 1}, graph.Options{Precision: graph.CPMS2})
			return err
		},
	} {
		require.True(t, sparse.IsInput(f()))
	}
	ended, end := context.WithCancel(ctx)
	end()
	_, err = graph.PageRankOver(ended, p, []float64{1, 1}, graph.Options{})
	require.ErrorIs(t, err, context.Canceled)
}

package cluster_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/cluster"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/solver"
	"github.com/msrep-go/msrep/sparse"
)

func TestNilArgumentsAndPlansThatWereNotMadeAreErrors(t *testing.T) {
	ctx, comm := t.Context(), cluster.Local(1)[0]
	sys, err := cluster.Open(comm, msrep.Config{Devices: "cpu:1"})
	require.NoError(t, err)
	var noCtx context.Context
	var noMatrix *cluster.Matrix[float64]
	var errs []error
	add := func(_ any, err error) { errs = append(errs, err) }
	add(cluster.Open(nil, msrep.Config{}))
	add(nil, cluster.Agree(nil, "", nil))
	add(cluster.Gather[float64](nil, nil))
	add(cluster.Model[float64](nil, 2, 1, 8))
	add(cluster.Slice[float64](nil, nil, 1))
	add(cluster.Slice[float64](comm, nil, 1))
	add(noMatrix.Transpose(comm))
	for _, s := range []*cluster.System{nil, {}} {
		_, _, err := cluster.Read(ctx, s, "gen:diag:n=2", 1)
		_, _, unwatched := cluster.Watch(s, func(error) {})
		errs = append(errs, err, unwatched, s.Agree(nil), s.Same("a", "b"))
		add(cluster.NewPlan(ctx, s, noMatrix, msrep.PlanOptions{}))
		require.NoError(t, s.Close())
	}
	_, _, err = cluster.Read(noCtx, sys, "gen:diag:n=2", 1)
	_, _, unheard := cluster.Watch(sys, nil)
	errs = append(errs, err, unheard)
	m, _, err := cluster.Read(ctx, sys, "gen:diag:n=2", 1)
	require.NoError(t, err)
	add(m.Transpose(nil))
	add(cluster.NewPlan(noCtx, sys, m, msrep.PlanOptions{}))
	add(cluster.NewPlan(ctx, sys, noMatrix, msrep.PlanOptions{}))
	plan, err := cluster.NewPlan(ctx, sys, m, msrep.PlanOptions{})
	require.NoError(t, err)
	add(cluster.NewPlan(ctx, sys, m, msrep.PlanOptions{})) // the first call has taken m over
	add(m.Transpose(comm))
	x, y := []float64{1, 2}, make([]float64, 2)
	for _, p := range []*cluster.Plan[float64]{nil, {}} {
		add(nil, p.SpMV(ctx, msrep.NoTrans, 1, x, 0, y))
		add(nil, p.Apply(ctx, msrep.NoTrans, 1, nil, 0, nil))
		add(p.RowVector())
		add(p.ColumnVector())
		add(nil, p.Sum(ctx, x))
		add(nil, p.Max(ctx, x))
		add(solver.CG(ctx, p, x, y, solver.Options{}))
		require.NoError(t, p.Close())
	}
	for i, err := range errs {
		require.True(t, sparse.IsInput(err), "%d: %v", i, err)
	}
	require.NoError(t, plan.Close())
	err = plan.SpMV(ctx, msrep.NoTrans, 1, x, 0, y)
	require.ErrorIs(t, err, msrep.ErrClosed)
	bytes, messages := plan.Sent()
	require.Zero(t, bytes+messages)
	require.NoError(t, (*cluster.Watcher)(nil).Close())

	m, err = cluster.Slice(comm, &sparse.CSR[float64]{RowPtr: []int64{0}}, 1)
	require.NoError(t, err)
	require.NoError(t, sys.Close())
	_, err = cluster.NewPlan(ctx, sys, m, msrep.PlanOptions{})
	require.ErrorIs(t, err, msrep.ErrClosed)
	require.Empty(t, cluster.Local(0))
	require.Empty(t, cluster.Run(-1, nil))
}

func TestAMatrixThatOneRankLacksIsAnErrorOfAll(t *testing.T) {
	for _, err := range cluster.Run(2, func(c cluster.Comm) error {
		sys, err := cluster.Open(c, msrep.Config{Devices: "cpu:1"})
		if err != nil {
			return err
		}
		defer sys.Close()
		m, _, err := cluster.Read(t.Context(), sys, "gen:diag:n=4", 1)
		if c.Rank() == 1 {
			m = nil
		}
		if err == nil {
			_, err = cluster.NewPlan(t.Context(), sys, m, msrep.PlanOptions{})
		}
		return err
	}) {
		require.ErrorContains(t, err, "matrix: is nil, or a plan has taken it over")
		require.True(t, sparse.IsInput(err) && cluster.Agreed(err))
	}
}

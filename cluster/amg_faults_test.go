package cluster

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/solver"
	"github.com/msrep-go/msrep/solver/amg"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/gen"
)

func TestMultigridSolvesSystemsThatAreSmallerThanTheRun(t *testing.T) {
	for n, val := range map[int][]float64{1: {4}, 2: {4, 5}} {
		a := &sparse.CSR[float64]{Rows: n, Cols: n, RowPtr: []int64{0}}
		for i := range n {
			a.ColIdx, a.RowPtr = append(a.ColIdx, int32(i)), append(a.RowPtr, int64(i+1))
		}
		a.Val = val
		for _, gather := range []int64{0, 100} {
			x, res, _ := amgCase{a, amg.Options{}, solver.CG}.overRanks(t, 3, gather)
			require.True(t, res.Converged)
			b := randomVector[float64](n, 9)
			for i := range x {
				require.InDelta(t, b[i]/val[i], x[i], 1e-6)
			}
		}
	}
}

func TestMultigridWorksWithRanksThatHaveNoRows(t *testing.T) {
	a, _, err := gen.Generate("stencil:dims=2,n=30")
	require.NoError(t, err)
	for _, fixed := range []bool{false, true} { // fixed sums put all 900 rows on one rank
		_, res, levels := amgCase{a, amg.Options{Deterministic: fixed, CoarseSize: 30}, solver.CG}.overRanks(t, 3, 0)
		require.True(t, res.Converged)
		require.Greater(t, len(levels), 1)
		require.Less(t, res.Iterations, 15)
	}
}

func TestMultigridAcceptsUnsortedRowsWithDuplicates(t *testing.T) {
	plane, _, err := gen.Generate("stencil:dims=2,n=40")
	require.NoError(t, err)
	a := &sparse.CSR[float64]{Rows: plane.Rows, Cols: plane.Cols, RowPtr: []int64{0}}
	for i := range plane.Rows {
		for k := plane.RowPtr[i+1] - 1; k >= plane.RowPtr[i]; k-- {
			a.ColIdx, a.Val = append(a.ColIdx, plane.ColIdx[k], plane.ColIdx[k]), append(a.Val, plane.Val[k]/2, plane.Val[k]/2)
		}
		a.RowPtr = append(a.RowPtr, int64(len(a.Val)))
	}
	r := randomVector[float64](a.Rows, 5)
	want, _ := amgCase{plane, amg.Options{}, nil}.applied(t, 2, 0, r)
	got, _ := amgCase{a, amg.Options{}, nil}.applied(t, 2, 0, r)
	for i := range want { // the plans of the levels are in float32 and may sum in different orders
		require.InDelta(t, want[i], got[i], 1e-5*(1+math.Abs(want[i])))
	}
}

func TestMultigridLeavesTheMatrixAsItIs(t *testing.T) {
	a, _, err := gen.Generate("stencil:dims=2,n=40")
	require.NoError(t, err)
	for _, fixed := range []bool{false, true} {
		each(t, 2, func(sys *System) error {
			m, err := Slice(sys.Comm(), a, 1)
			require.NoError(t, err)
			p, err := newAMG(ctx, sys, m, amg.Options{Deterministic: fixed, Double: true}, 0)
			require.NoError(t, err)
			requireEqualBits(t, window(a, m.First(), m.First()+m.Part.Rows), m.Part)
			return p.Close()
		})
	}
}

func TestAllRanksGetTheErrorOfMultigrid(t *testing.T) {
	a, _, err := gen.Generate("stencil:dims=2,n=60")
	require.NoError(t, err)
	ended, end := context.WithCancel(ctx)
	end()
	for name, c := range map[string]struct {
		message string
		make    func(m *Matrix[float64], opt *amg.Options, c *context.Context)
	}{
		"no matrix":                     {"matrix: is nil", func(m *Matrix[float64], _ *amg.Options, _ *context.Context) { m.Part = nil }},
		"a NaN":                         {"row 2400, column 2340 is NaN", func(m *Matrix[float64], _ *amg.Options, _ *context.Context) { m.Part.Val[0] = math.NaN() }},
		"an index":                      {"matrix", func(m *Matrix[float64], _ *amg.Options, _ *context.Context) { m.Part.ColIdx[0] = -1 }},
		"a zero on the diagonal":        {"row 2400 is zero", func(m *Matrix[float64], _ *amg.Options, _ *context.Context) { m.Part.Val[1] = 0 }},
		"options":                       {"options", func(_ *Matrix[float64], opt *amg.Options, _ *context.Context) { opt.Degree = 7 }},
		"a vector":                      {"near null space", func(_ *Matrix[float64], opt *amg.Options, _ *context.Context) { opt.NearNull = [][]float64{{1}} }},
		"a context that has ended":      {"context canceled", func(_ *Matrix[float64], _ *amg.Options, c *context.Context) { *c = ended }},
		"a context that does not exist": {"context", func(_ *Matrix[float64], _ *amg.Options, c *context.Context) { *c = nil }},
	} {
		for _, gather := range []int64{0, 1 << 30} {
			for r, err := range Run(3, func(comm Comm) error {
				return withSystem(comm, func(sys *System) error {
					m, err := Slice(comm, a, 60)
					require.NoError(t, err)
					var opt amg.Options
					own := ctx
					if name == "a vector" {
						opt.NearNull = [][]float64{make([]float64, m.Part.Rows)}
					}
					if comm.Rank() == 2 {
						c.make(m, &opt, &own)
					}
					_, err = newAMG(own, sys, m, opt, gather)
					return err
				})
			}) {
				require.ErrorContains(t, err, c.message, "%s, rank %d", name, r)
				require.True(t, Agreed(err), "%s, rank %d: %v", name, r, err)
			}
		}
	}
	for _, c := range []struct {
		a   *sparse.CSR[float64]
		opt amg.Options
	}{
		{&sparse.CSR[float64]{Rows: 4, Cols: 5, RowPtr: make([]int64, 5)}, amg.Options{}},
		{&sparse.CSR[float64]{RowPtr: []int64{0}}, amg.Options{}},
		{a, amg.Options{Degree: -1}},
		{a, amg.Options{Block: 7}},
	} {
		each(t, 2, func(sys *System) error {
			m, err := Slice(sys.Comm(), c.a, 1)
			require.NoError(t, err)
			_, err = NewAMG(ctx, sys, m, c.opt)
			require.True(t, sparse.IsInput(err), "%v", err)
			require.True(t, Agreed(err), "%v", err)
			return nil
		})
	}
	for _, v := range []float64{0, 1e200} { // on one rank
		each(t, 2, func(sys *System) error {
			m, err := Slice(sys.Comm(), a, 60)
			require.NoError(t, err)
			near := make([]float64, m.Part.Rows)
			if sys.Comm().Rank() == 1 {
				near[3] = v
			}
			_, err = NewAMG(ctx, sys, m, amg.Options{NearNull: [][]float64{near}})
			require.ErrorContains(t, err, "near null space: ")
			require.True(t, Agreed(err), "%v", err)
			return nil
		})
	}
	_, err = NewAMG(ctx, nil, nil, amg.Options{})
	require.ErrorIs(t, err, errNoSystem)
	for _, p := range []*AMG{nil, {}} {
		require.True(t, sparse.IsInput(p.Apply(nil, nil)))
		require.Zero(t, p.Size())
		require.Zero(t, p.OperatorComplexity())
		require.Empty(t, p.Levels())
		require.NoError(t, p.Close())
	}
}

func TestADeviceThatFailsInACycleEndsTheSolveOnAllRanks(t *testing.T) {
	a, _, err := gen.Generate("stencil:dims=2,n=60")
	require.NoError(t, err)
	for _, gather := range []int64{0, 1 << 30} {
		for r, err := range Run(3, func(c Comm) error {
			return withSystem(c, func(sys *System) error {
				m, err := Slice(c, a, 1)
				require.NoError(t, err)
				precond, err := newAMG(ctx, sys, m, amg.Options{}, gather)
				require.NoError(t, err)
				defer precond.Close()
				p, err := NewPlan(ctx, sys, m, msrep.PlanOptions{})
				require.NoError(t, err)
				defer p.Close()
				b := randomVector[float64](p.ownRows, 3)
				_, err = solver.CG(ctx, p, b, make([]float64, len(b)), solver.Options{Precond: precond, Progress: func(k int, _ float64) {
					if k == 3 && c.Rank() == 1 {
						require.NoError(t, precond.cycles.(*pieces[float32]).levels[0].a.local.Close())
					}
				}})
				return err
			})
		}) {
			if r == 1 {
				require.ErrorIs(t, err, msrep.ErrClosed)
			} else {
				require.ErrorIs(t, err, solver.ErrOtherProcess, "rank %d", r)
			}
		}
	}
}

func TestWrongVectorsOfOneRankLeaveNoOtherWaiting(t *testing.T) {
	a, _, err := gen.Generate("stencil:dims=2,n=40")
	require.NoError(t, err)
	each(t, 3, func(sys *System) error {
		m, err := Slice(sys.Comm(), a, 1)
		require.NoError(t, err)
		p, err := newAMG(ctx, sys, m, amg.Options{}, 0)
		require.NoError(t, err)
		r, z := make([]float64, p.Size()), make([]float64, p.Size())
		for _, c := range [][2][]float64{{r[1:], z}, {r, nil}, {nil, nil}, {r, r}} {
			if sys.Comm().Rank() == 1 {
				require.True(t, sparse.IsInput(p.Apply(c[0], c[1])))
			} else {
				require.NoError(t, p.Apply(r, z))
			}
		}
		require.NoError(t, p.Close())
		require.NoError(t, p.Close())
		require.ErrorIs(t, p.Apply(r, z), msrep.ErrClosed)
		return nil
	})
}

func TestMultigridOverRanksWithSimulatedGPUs(t *testing.T) {
	a, _, err := gen.Generate("stencil:dims=2,n=24")
	require.NoError(t, err)
	onRanks(t, 2, msrep.Config{Devices: "sim:2", Threads: 1}, func(sys *System) error {
		m, err := Slice(sys.Comm(), a, 1)
		require.NoError(t, err)
		precond, err := newAMG(ctx, sys, m, amg.Options{CoarseSize: 50}, 1000)
		require.NoError(t, err)
		defer precond.Close()
		p, err := NewPlan(ctx, sys, m, msrep.PlanOptions{})
		require.NoError(t, err)
		defer p.Close()
		require.True(t, p.Resident(msrep.NoTrans))
		b := randomVector[float64](p.ownRows, 3)
		res, err := solver.CG(ctx, p, b, make([]float64, len(b)), solver.Options{Precond: precond})
		require.NoError(t, err)
		require.Less(t, res.Iterations, 15)
		return nil
	})
}

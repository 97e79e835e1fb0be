package cluster

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/solver"
	"github.com/msrep-go/msrep/solver/amg"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/gen"
)

// amgCase is a system for a multigrid preconditioner.
type amgCase struct {
	a      *sparse.CSR[float64]
	opt    amg.Options
	method solver.Method
}

func amgCases(t testing.TB) map[string]amgCase {
	grid := func(spec string) *sparse.CSR[float64] {
		a, _, err := gen.Generate(spec)
		require.NoError(t, err)
		return a
	}
	plane := grid("stencil:dims=2,n=60")
	return map[string]amgCase{
		"plane":   {plane, amg.Options{}, solver.CG},
		"space":   {grid("stencil:dims=3,n=16"), amg.Options{}, solver.CG},
		"double":  {plane, amg.Options{Double: true, Degree: 3}, solver.CG},
		"w-cycle": {plane, amg.Options{Visits: 2, CoarseSize: 20}, solver.CG},
		"blocks":  {twice(plane), amg.Options{Block: 2}, solver.CG},
		"vectors": {twice(plane), amg.Options{Block: 2, NearNull: twoVectors(2 * plane.Rows)}, solver.CG},
		"dense":   {paired(plane), amg.Options{}, solver.CG},
		"wind":    {wind(50), amg.Options{}, solver.GMRES},
	}
}

// twice returns the matrix of two unknowns in each node, which are coupled with each other.
func twice(a *sparse.CSR[float64]) *sparse.CSR[float64] {
	b := &sparse.CSR[float64]{Rows: 2 * a.Rows, Cols: 2 * a.Cols, RowPtr: []int64{0}}
	for i := range a.Rows {
		for c := range int32(2) {
			for k := a.RowPtr[i]; k < a.RowPtr[i+1]; k++ {
				j, v := 2*a.ColIdx[k], a.Val[k]
				if int(a.ColIdx[k]) != i {
					b.ColIdx, b.Val = append(b.ColIdx, j+c), append(b.Val, v)
					continue
				}
				pair := []float64{v + 0.3, v + 0.3}
				pair[1-c] = 0.3
				b.ColIdx, b.Val = append(b.ColIdx, j, j+1), append(b.Val, pair...)
			}
			b.RowPtr = append(b.RowPtr, int64(len(b.Val)))
		}
	}
	return b
}

// paired returns the matrix with a 2 x 2 block for each entry of a.
func paired(a *sparse.CSR[float64]) *sparse.CSR[float64] {
	b := &sparse.CSR[float64]{Rows: 2 * a.Rows, Cols: 2 * a.Cols, RowPtr: []int64{0}}
	for i := range b.Rows {
		for k := a.RowPtr[i/2]; k < a.RowPtr[i/2+1]; k++ {
			j, v := 2*a.ColIdx[k], a.Val[k]
			pair := []float64{v, v}
			pair[1-i%2] /= 4
			b.ColIdx, b.Val = append(b.ColIdx, j, j+1), append(b.Val, pair...)
		}
		b.RowPtr = append(b.RowPtr, int64(len(b.Val)))
	}
	return b
}

// twoVectors returns a near null space of three vectors for nodes of two unknowns.
func twoVectors(n int) [][]float64 {
	v := [][]float64{make([]float64, n), make([]float64, n), make([]float64, n)}
	for i := range n {
		v[i%2][i] = 1
		v[2][i] = float64(i%17)/17 - 0.5
	}
	return v
}

// wind returns the matrix of convection and diffusion on a grid of n x n points, with upwind differences.
func wind(n int) *sparse.CSR[float64] {
	a := &sparse.CSR[float64]{Rows: n * n, Cols: n * n, RowPtr: []int64{0}}
	for i := range n * n {
		add := func(inside bool, j int, v float64) {
			if inside {
				a.ColIdx, a.Val = append(a.ColIdx, int32(j)), append(a.Val, v)
			}
		}
		x, y := i%n, i/n
		add(y > 0, i-n, -1.8)
		add(x > 0, i-1, -2.5)
		add(true, i, 6.3)
		add(x < n-1, i+1, -1)
		add(y < n-1, i+n, -1)
		a.RowPtr = append(a.RowPtr, int64(len(a.Val)))
	}
	return a
}

// overRanks solves a system over n ranks with levels of up to gather entries on every rank.
func (c amgCase) overRanks(t require.TestingT, n int, gather int64) (x []float64, res *solver.Result, levels []AMGLevel) {
	each(t, n, func(sys *System) error {
		align := Align(2) // for nodes of two unknowns
		if c.opt.Deterministic {
			align *= solver.SumChunk
		}
		m, err := Slice(sys.Comm(), c.a, align)
		if err != nil {
			return err
		}
		first, end, opt := m.First(), m.First()+m.Part.Rows, c.opt
		opt.NearNull = nil
		for _, v := range c.opt.NearNull {
			opt.NearNull = append(opt.NearNull, v[first:end])
		}
		precond, err := newAMG(ctx, sys, m, opt, gather)
		if err != nil {
			return err
		}
		defer precond.Close()
		p, err := NewPlan(ctx, sys, m, msrep.PlanOptions{Deterministic: c.opt.Deterministic})
		if err != nil {
			return err
		}
		defer p.Close()
		b := randomVector[float64](c.a.Rows, 9)[first:end]
		piece := make([]float64, len(b))
		r, err := c.method(ctx, p, b, piece, solver.Options{Precond: precond})
		if err != nil {
			return err
		}
		whole, err := Gather(sys.Comm(), piece)
		if sys.Comm().Rank() == 0 {
			x, res, levels = whole, r, precond.Levels()
		}
		return err
	})
	return x, res, levels
}

// alone solves a system in one process.
func (c amgCase) alone(t require.TestingT) (x []float64, res *solver.Result, levels []amg.Level) {
	sys, err := msrep.Open(msrep.Config{Devices: "cpu", Threads: 2})
	require.NoError(t, err)
	defer sys.Close()
	precond, err := amg.New(ctx, sys, c.a, c.opt)
	require.NoError(t, err)
	defer precond.Close()
	p, err := msrep.NewPlan(ctx, sys, c.a, msrep.PlanOptions{Deterministic: c.opt.Deterministic})
	require.NoError(t, err)
	x = make([]float64, c.a.Rows)
	res, err = c.method(ctx, p, randomVector[float64](c.a.Rows, 9), x, solver.Options{Precond: precond})
	require.NoError(t, err)
	return x, res, precond.Levels()
}

func TestMultigridOverRanksConvergesAsInOneProcess(t *testing.T) {
	for name, c := range amgCases(t) {
		t.Run(name, func(t *testing.T) {
			want, one, _ := c.alone(t)
			for _, n := range []int{1, 2, 3} {
				more := 2
				if name == "wind" {
					more = 8
				}
				for _, gather := range []int64{0, 3000, 1 << 30} {
					x, res, levels := c.overRanks(t, n, gather)
					require.True(t, res.Converged)
					require.LessOrEqual(t, res.Iterations, one.Iterations+more, "%d ranks, levels of %d entries gathered: %v", n, gather, levels)
					for i := range x {
						require.InDelta(t, want[i], x[i], 1e-5*math.Abs(want[i])+1e-5)
					}
				}
			}
		})
	}
}

// applied returns z = M r over n ranks.
func (c amgCase) applied(t require.TestingT, n int, gather int64, r []float64) (z []float64, levels []AMGLevel) {
	each(t, n, func(sys *System) error {
		m, err := Slice(sys.Comm(), c.a, 2)
		if err != nil {
			return err
		}
		first, end, opt := m.First(), m.First()+m.Part.Rows, c.opt
		opt.NearNull = nil
		for _, v := range c.opt.NearNull {
			opt.NearNull = append(opt.NearNull, v[first:end])
		}
		precond, err := newAMG(ctx, sys, m, opt, gather)
		if err != nil {
			return err
		}
		defer precond.Close()
		piece := make([]float64, end-first)
		if err := precond.Apply(r[first:end], piece); err != nil {
			return err
		}
		whole, err := Gather(sys.Comm(), piece)
		if sys.Comm().Rank() == 0 {
			z, levels = whole, precond.Levels()
		}
		return err
	})
	return z, levels
}

func TestDeterministicMultigridOverRanksHasTheBitsOfOneProcess(t *testing.T) {
	for name, c := range amgCases(t) {
		t.Run(name, func(t *testing.T) {
			c.opt.Deterministic = true
			sys, err := msrep.Open(msrep.Config{Devices: "cpu", Threads: 2})
			require.NoError(t, err)
			defer sys.Close()
			precond, err := amg.New(ctx, sys, c.a, c.opt)
			require.NoError(t, err)
			defer precond.Close()
			r, want := randomVector[float64](c.a.Rows, 5), make([]float64, c.a.Rows)
			require.NoError(t, precond.Apply(r, want))
			for _, n := range []int{1, 2, 3, 5} {
				for _, gather := range []int64{0, 3000, 1 << 30} {
					z, levels := c.applied(t, n, gather, r)
					for k, l := range precond.Levels() {
						require.Equal(t, l, levels[k].Level, "%d ranks, levels of %d entries gathered", n, gather)
					}
					for i := range z {
						require.Equal(t, math.Float64bits(want[i]), math.Float64bits(z[i]), "%d ranks, element %d", n, i)
					}
				}
			}
		})
	}
}

func TestDeterministicSolvesWithMultigridOverRanksHaveTheBitsOfOneProcess(t *testing.T) {
	a, _, err := gen.Generate("stencil:dims=2,n=110") // three chunks
	require.NoError(t, err)
	c := amgCase{a, amg.Options{Deterministic: true}, solver.CG}
	want, one, _ := c.alone(t)
	x, res, _ := c.overRanks(t, 3, 3000)
	require.Equal(t, one.History, res.History)
	for i := range x {
		require.Equal(t, math.Float64bits(want[i]), math.Float64bits(x[i]), "element %d", i)
	}
}

func TestMultigridOverRanksHasTheSameBitsInEveryRun(t *testing.T) {
	c := amgCases(t)["vectors"]
	r := randomVector[float64](c.a.Rows, 5)
	want, _ := c.applied(t, 3, 3000, r)
	for range 3 {
		z, _ := c.applied(t, 3, 3000, r)
		require.Equal(t, want, z)
	}
}

func TestACycleSendsTheMessagesThatLevelsDescribe(t *testing.T) {
	a, _, err := gen.Generate("stencil:dims=2,n=60")
	require.NoError(t, err)
	for _, gather := range []int64{0, 3000, 1 << 30} {
		for _, opt := range []amg.Options{{}, {Degree: 3, MaxLevels: 2}} {
			each(t, 3, func(sys *System) error {
				m, err := Slice(sys.Comm(), a, 1)
				require.NoError(t, err)
				p, err := newAMG(ctx, sys, m, opt, gather)
				require.NoError(t, err)
				defer p.Close()
				require.NoError(t, p.Apply(make([]float64, p.n), make([]float64, p.n)))
				var want, got [2]int64
				for _, l := range p.Levels() {
					want[0], want[1] = want[0]+l.Bytes, want[1]+l.Messages
				}
				o := p.cycles.(*pieces[float32])
				add := func(bytes, messages int64) { got[0], got[1] = got[0]+bytes, got[1]+messages }
				for _, l := range o.levels {
					for _, q := range []*Plan[float32]{l.a, l.p, l.r} {
						if q != nil {
							add(q.Sent())
						}
					}
					if l.whole != nil {
						add(l.whole.link.Sent())
					}
				}
				if o.whole != nil {
					add(o.whole.link.Sent())
				}
				require.Equal(t, got, want)
				require.Positive(t, got[1])
				return nil
			})
		}
	}
}

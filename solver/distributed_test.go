package solver

import (
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
)

// team simulates processes by goroutines.
type team struct {
	mu    sync.Mutex
	wait  *sync.Cond
	given [][]float64
	count int
	round int
}

func newTeam(n int) *team {
	t := &team{given: make([][]float64, n)}
	t.wait = sync.NewCond(&t.mu)
	return t
}

// gather waits until all processes have called it and returns the arguments of all.
func (t *team) gather(rank int, v []float64) [][]float64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.count == 0 {
		t.given = make([][]float64, len(t.given))
	}
	t.given[rank] = slices.Clone(v)
	all, round := t.given, t.round
	if t.count++; t.count == len(t.given) {
		t.count, t.round = 0, round+1
		t.wait.Broadcast()
	}
	for t.round == round {
		t.wait.Wait()
	}
	return all
}

// member is a Distributed operator of one process of a team.
type member struct {
	*team
	rank, first, n, total int
	fixed                 bool
	plan, transposed      *msrep.Plan[float64] // of its rows, and of its rows of the transposed matrix
	fail                  error                // of its products
}

func (m *member) Dims() (int, int)  { return m.n, m.n }
func (m *member) Piece() (int, int) { return m.first, m.total }
func (m *member) Fixed() bool       { return m.fixed }

func (m *member) SpMV(ctx context.Context, op msrep.Transpose, alpha float64, x []float64, beta float64, y []float64) error {
	whole := slices.Concat(m.gather(m.rank, x)...)
	if m.fail != nil {
		return m.fail
	}
	plan := m.plan
	if op == msrep.Trans {
		plan = m.transposed
	}
	return plan.SpMV(ctx, msrep.NoTrans, alpha, whole, beta, y)
}

func (m *member) reduce(ctx context.Context, v []float64, f func(a, b float64) float64) error {
	if ctx.Err() != nil {
		return errors.New("the context of a sum has ended")
	}
	all := m.gather(m.rank, v)
	copy(v, all[0])
	for _, o := range all[1:] {
		for i := range v {
			v[i] = f(v[i], o[i])
		}
	}
	return nil
}

func (m *member) Sum(ctx context.Context, v []float64) error {
	return m.reduce(ctx, v, func(a, b float64) float64 { return a + b })
}

func (m *member) Max(ctx context.Context, v []float64) error {
	return m.reduce(ctx, v, func(a, b float64) float64 { return max(a, b) })
}

// members splits a matrix by rows, one member for each part.
func members(t *testing.T, a *sparse.CSR[float64], fixed bool, cuts ...int) []*member {
	cuts = append(append([]int{0}, cuts...), a.Rows)
	team := newTeam(len(cuts) - 1)
	sys := openAs(t, msrep.Config{Devices: "cpu:1"})
	piece := func(a *sparse.CSR[float64], lo, hi int) *msrep.Plan[float64] {
		ptr := slices.Clone(a.RowPtr[lo : hi+1])
		for k := range ptr {
			ptr[k] -= a.RowPtr[lo]
		}
		rows, err := sparse.NewCSR(hi-lo, a.Cols, ptr, a.ColIdx[a.RowPtr[lo]:a.RowPtr[hi]], a.Val[a.RowPtr[lo]:a.RowPtr[hi]])
		require.NoError(t, err)
		return planOf(t, sys, rows, msrep.PlanOptions{Deterministic: fixed})
	}
	var out []*member
	columns := sparse.ToCSC[float64](a).Transpose()
	for i := range cuts[1:] {
		lo, hi := cuts[i], cuts[i+1]
		out = append(out, &member{team: team, rank: i, first: lo, n: hi - lo, total: a.Rows, fixed: fixed, plan: piece(a, lo, hi), transposed: piece(columns, lo, hi)})
	}
	return out
}

// together runs solve in all members at the same time and returns the whole x.
func together(ms []*member, b []float64, solve func(m *member, b, x []float64) (*Result, error)) (x []float64, res []*Result, errs []error) {
	x = make([]float64, len(b))
	res, errs = make([]*Result, len(ms)), make([]error, len(ms))
	var wg sync.WaitGroup
	for i, m := range ms {
		wg.Go(func() {
			piece := func(v []float64) []float64 { return v[m.first : m.first+m.n : m.first+m.n] }
			res[i], errs[i] = solve(m, piece(b), piece(x))
		})
	}
	wg.Wait()
	return x, res, errs
}

// allMethods returns methods, and further methods with the same signature.
func allMethods() map[string]Method {
	all := maps.Clone(methods)
	all["power"] = func(ctx context.Context, a Operator, _, x []float64, opt Options) (*Result, error) {
		_, res, err := Power(ctx, a, x, opt)
		return res, err
	}
	all["refine"] = func(ctx context.Context, a Operator, b, x []float64, opt Options) (*Result, error) {
		return Refine(ctx, a, a, CG, b, x, opt, Options{})
	}
	for name, method := range map[string]Method{"gmres": GMRES, "fgmres": FGMRES} {
		all[name+" in int32"] = func(ctx context.Context, a Operator, b, x []float64, opt Options) (*Result, error) {
			opt.Basis, opt.Restart = BasisInt32, 6
			return method(ctx, a, b, x, opt)
		}
	}
	return all
}

func TestSeveralProcessesFindTheSolutionsOfOne(t *testing.T) {
	a := laplacian(t, "stencil:n=160,points=5") // 6.25 blocks of sums
	for _, fixed := range []bool{false, true} {
		cuts := [][]int{{10000}, {0, 7, 25600}}
		if fixed {
			cuts = [][]int{{SumChunk}, {0, SumChunk, 3 * SumChunk, a.Rows}}
		}
		whole := members(t, a, fixed)[0].plan
		for name, method := range allMethods() {
			for _, exp := range []int{0, 900} {
				b := sines(a.Rows)
				for i := range b {
					b[i] = math.Ldexp(b[i], exp)
				}
				opt := Options{MaxIter: 60, Tol: 1e-6}
				want := make([]float64, a.Rows)
				one, oneErr := method(t.Context(), whole, b, want, opt)
				for _, c := range cuts {
					got, res, errs := together(members(t, a, fixed, c...), b, func(m *member, b, x []float64) (*Result, error) {
						return method(t.Context(), m, b, x, opt)
					})
					for i, r := range res {
						require.Equal(t, oneErr == nil, errs[i] == nil, "%s: %v", name, errs[i])
						require.Equal(t, res[0].History, r.History, "%s: all decide the same", name)
						if fixed {
							require.Equal(t, one.History, r.History, name)
						}
					}
					if fixed {
						require.Equal(t, want, got, "%s: the bits of one process", name)
						continue
					}
					if oneErr == nil && name != "power" {
						unit := make([]float64, len(b))
						for i := range b {
							unit[i], got[i] = math.Ldexp(b[i], -exp), math.Ldexp(got[i], -exp)
						}
						require.LessOrEqual(t, trueResidual(t, a, unit, got), 1.01*opt.Tol, name)
					}
				}
			}
		}
	}
}

func TestFailuresOfOneProcessEndAll(t *testing.T) {
	a := laplacian(t, "stencil:n=100,points=5")
	broken := errors.New("broken")
	never, cancel := context.WithCancel(t.Context())
	cancel()
	for name, method := range methods {
		for what, c := range map[string]struct {
			change func(m *member, b []float64, opt *Options) context.Context
			want   error
		}{
			"a product fails": {func(m *member, _ []float64, _ *Options) context.Context {
				m.fail = broken
				return t.Context()
			}, broken},
			"a preconditioner fails": {func(_ *member, _ []float64, opt *Options) context.Context {
				opt.Precond = &fragile{n: 9000, left: 5, err: broken}
				return t.Context()
			}, broken},
			"a context has ended": {func(*member, []float64, *Options) context.Context { return never }, context.Canceled},
			"a deadline is over":  {func(*member, []float64, *Options) context.Context { return overdue{t.Context()} }, context.DeadlineExceeded},
			"a context ends later": {func(_ *member, _ []float64, opt *Options) context.Context {
				ctx, stop := context.WithCancel(t.Context())
				opt.Progress = func(i int, _ float64) {
					if i == 3 {
						stop()
					}
				}
				return ctx
			}, context.Canceled},
			"b is not finite": {func(_ *member, b []float64, _ *Options) context.Context {
				b[3] = math.NaN()
				return t.Context()
			}, nil},
			"other options": {func(_ *member, _ []float64, opt *Options) context.Context {
				opt.Tol = 1e-3
				return t.Context()
			}, nil},
		} {
			_, _, errs := together(members(t, a, false, 9000), sines(a.Rows), func(m *member, b, x []float64) (*Result, error) {
				ctx, opt := t.Context(), Options{Precond: &fragile{n: m.n, left: math.MaxInt}}
				if m.rank == 0 {
					ctx = c.change(m, b, &opt)
				}
				return method(ctx, m, b, x, opt)
			})
			require.Error(t, errs[0], "%s: %s", name, what)
			switch {
			case c.want != nil:
				require.ErrorIs(t, errs[0], c.want, "%s: %s", name, what)
				require.ErrorIs(t, errs[1], ErrOtherProcess, "%s: %s", name, what)
			case what == "other options":
				require.True(t, sparse.IsInput(errs[0]) && sparse.IsInput(errs[1]), "%s", errs)
			default:
				require.True(t, sparse.IsInput(errs[0]), "%s", errs)
				require.ErrorIs(t, errs[1], ErrOtherProcess, "%s: %s", name, what)
			}
		}
	}
}

// fragile is an identity preconditioner that fails after some calls.
type fragile struct {
	n, left int
	err     error
}

func (f *fragile) Size() int { return f.n }

func (f *fragile) Apply(r, z []float64) error {
	copy(z, r)
	if f.left--; f.left < 0 {
		return f.err
	}
	return nil
}

func TestPiecesOfFixedSumsBeginAtChunks(t *testing.T) {
	a := laplacian(t, "stencil:n=100,points=5")
	_, _, errs := together(members(t, a, true, 5000), sines(a.Rows), func(m *member, b, x []float64) (*Result, error) {
		return CG(t.Context(), m, b, x, Options{})
	})
	require.ErrorIs(t, errs[0], ErrOtherProcess)
	require.True(t, sparse.IsInput(errs[1]))
	require.ErrorContains(t, errs[1], "multiples of 4096")
}

package eigen

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/solver"
	"github.com/msrep-go/msrep/sparse"
)

// symmetricOf returns the symmetric matrix with these elements on and above the diagonal.
func symmetricOf(t testing.TB, n int, element func(i, j int) float64) *sparse.CSR[float64] {
	t.Helper()
	var r, c []int32
	var val []float64
	for i := range n {
		for j := range i + 1 {
			if v := element(j, i); v != 0 {
				r, c, val = append(r, int32(i)), append(c, int32(j)), append(val, v)
				if i != j {
					r, c, val = append(r, int32(j)), append(c, int32(i)), append(val, v)
				}
			}
		}
	}
	m, err := sparse.FromTriples(n, n, r, c, val)
	require.NoError(t, err)
	return m
}

// cases are small symmetric matrices, some of them awkward.
func cases(t testing.TB) map[string]*sparse.CSR[float64] {
	diagonal := func(n int, d func(i int) float64) *sparse.CSR[float64] {
		return symmetricOf(t, n, func(i, j int) float64 {
			if i == j {
				return d(i)
			}
			return 0
		})
	}
	random := func(i, j int) float64 { return math.Sin(float64(37*i*i+101*j+i*j)) * float64((i*7+j*3)%5/4) }
	return map[string]*sparse.CSR[float64]{
		"1x1":      diagonal(1, func(int) float64 { return -3 }),
		"2x2":      symmetricOf(t, 2, func(i, j int) float64 { return float64(i + j) }),
		"zero":     {Rows: 30, Cols: 30, RowPtr: make([]int64, 31)},
		"identity": diagonal(40, func(int) float64 { return 1 }),
		"diagonal": diagonal(50, func(i int) float64 { return float64(i%10) - 5 }),
		"cluster":  diagonal(60, func(i int) float64 { return 1 + 1e-6*float64(i) }),
		"one apart": diagonal(60, func(i int) float64 {
			if i == 17 {
				return 1e6
			}
			return float64(i)
		}),
		"indefinite": symmetricOf(t, 45, random),
		"bipartite": symmetricOf(t, 40, func(i, j int) float64 {
			if i < 20 && j >= 20 {
				return random(i, j)
			}
			return 0
		}),
		"tiny values": symmetricOf(t, 30, func(i, j int) float64 { return 1e-250 * random(i, j) }),
		"huge values": symmetricOf(t, 30, func(i, j int) float64 { return 1e250 * random(i, j) }),
		"blocks": symmetricOf(t, 60, func(i, j int) float64 { // ten copies of each eigenvalue
			if i/6 == j/6 {
				return float64((i%6+1)*(j%6+1)) / float64(i%6+j%6+1)
			}
			return 0
		}),
	}
}

func TestEigenvaluesOfAwkwardMatrices(t *testing.T) {
	sys := openOn(t, "cpu:1")
	for name, a := range cases(t) {
		scaled, exp := a, 0
		if name == "tiny values" || name == "huge values" { // gonum computes with squares
			exp = map[string]int{"tiny values": 830, "huge values": -830}[name]
			c := *a
			c.Val = slices.Clone(a.Val)
			for k := range c.Val {
				c.Val[k] = math.Ldexp(c.Val[k], exp)
			}
			scaled = &c
		}
		for _, w := range []Which{Largest, Smallest, Magnitude} {
			for _, method := range []string{MethodLanczos, MethodLOBPCG} {
				if method == MethodLOBPCG && (w == Magnitude || name == "one apart") { // which needs a preconditioner
					continue
				}
				want := denseEigenvalues(t, scaled, w)
				for i := range want {
					want[i] = math.Ldexp(want[i], -exp)
				}
				for _, k := range []int{1, 3, a.Rows - 1, a.Rows} {
					if k < 1 || k > a.Rows {
						continue
					}
					res, err := Solve(t.Context(), sys, a, Options{Count: k, Which: w, Method: method})
					require.NoError(t, err, "%s, %s %d by %s", name, w, k, method)
					if exp != 0 {
						require.InDeltaSlice(t, want[:k], res.Values, 1e-10*res.Norm, "%s, %s %d by %s", name, w, k, method)
						continue
					}
					expected := want[:k]
					if w == Magnitude { // of a value and its negative, either may be first
						expected = slices.Clone(expected)
						for i := range expected {
							require.InDelta(t, math.Abs(expected[i]), math.Abs(res.Values[i]), 1e-10*res.Norm, "%s, %s %d by %s", name, w, k, method)
							expected[i] = res.Values[i]
						}
					}
					requirePairs(t, a, expected, res, 1e-10)
				}
			}
		}
	}
}

func TestNoCopyOfAMultipleEigenvalueIsMissed(t *testing.T) {
	// The start vector has no component along eleven of the twelve copies of the largest eigenvalue.
	n := 400
	a := symmetricOf(t, n, func(i, j int) float64 {
		switch {
		case i == j && i < 12:
			return 10
		case i == j:
			return 5 * math.Cos(float64(i))
		}
		return 0
	})
	start := make([]float64, n)
	for i := range start {
		start[i] = 1
	}
	clear(start[1:12])
	for _, w := range []Which{Largest, Magnitude} {
		missing, err := Symmetric(t.Context(), planOf(t, "cpu:1", a), Options{Count: 5, Which: w, Start: start, SkipCheck: true})
		require.NoError(t, err)
		require.Less(t, missing.Values[1], 6.0, "the start vector is not poor enough for this test")
		res, err := Symmetric(t.Context(), planOf(t, "cpu:1", a), Options{Count: 5, Which: w, Start: start})
		require.NoError(t, err)
		require.Equal(t, 4, res.Copies)
		requirePairs(t, a, []float64{10, 10, 10, 10, 10}, res, 1e-10)
	}
}

func TestEigenvaluesOnDevicesAndOfFloat32(t *testing.T) {
	a := generated(t, "stencil:dims=2,n=9,points=5")
	want := denseEigenvalues(t, a, Largest)
	small := generated(t, "stencil:dims=2,n=5,points=5") // simulated devices are slow
	for _, devices := range []string{"cpu:3", "sim:2"} {
		a, tol := a, 1e-10
		if devices == "sim:2" {
			a, tol = small, 1e-4
		}
		want := denseEigenvalues(t, a, Largest)
		for _, method := range []func(context.Context, solver.Operator, Options) (*Result, error){Symmetric, LOBPCG} {
			res, err := method(t.Context(), planOf(t, devices, a), Options{Count: 2, Tol: tol})
			require.NoError(t, err, devices)
			requirePairs(t, a, want[:2], res, tol)
		}
		res, err := Singular(t.Context(), planOf(t, devices, a), Options{Count: 2, Tol: tol})
		require.NoError(t, err, devices)
		requireTriples(t, a, want[:2], res, tol)
	}
	single, err := msrep.NewPlan(t.Context(), openOn(t, "cpu:1"), sparse.Convert[float32](a), msrep.PlanOptions{})
	require.NoError(t, err)
	res, err := Symmetric(t.Context(), solver.Single(single), Options{Count: 6, Tol: 1e-5})
	require.NoError(t, err)
	for i, v := range res.Values {
		require.InDelta(t, want[i], v, 1e-5*res.Norm)
	}
}

func TestADeterministicSolveHasTheSameBits(t *testing.T) {
	a := generated(t, "stencil:dims=2,n=70,points=5")
	r := randomMatrix(9000, 5000, 1)
	for _, method := range []string{MethodLanczos, MethodLOBPCG} {
		var first *Result
		for _, config := range []msrep.Config{{Devices: "cpu:1", Threads: 1}, {Devices: "cpu:1", Threads: 3}, {Devices: "cpu:3"}} {
			sys, err := msrep.Open(config)
			require.NoError(t, err)
			res, err := Solve(t.Context(), sys, a, Options{Count: 3, Tol: 1e-4, Method: method, Deterministic: true, SkipCheck: true})
			require.NoError(t, err)
			require.NoError(t, sys.Close())
			if first == nil {
				first = res
			}
			require.Equal(t, first.Values, res.Values)
			require.Equal(t, first.Vectors, res.Vectors)
		}
	}
	var first *SVD
	for _, devices := range []string{"cpu:1", "cpu:3"} {
		res, err := SolveSingular(t.Context(), openOn(t, devices), r, Options{Count: 2, Tol: 1e-4, Deterministic: true})
		require.NoError(t, err)
		if first == nil {
			first = res
		}
		require.Equal(t, first.U, res.U)
		require.Equal(t, first.V, res.V)
	}
}

// team is a matrix over several processes, which are goroutines here.
type team struct {
	a      *sparse.CSR[float64]
	cuts   []int
	mu     sync.Mutex
	wait   *sync.Cond
	given  [][]float64
	count  int
	rounds int
}

// member is one process of a team.
type member struct {
	*team
	rank int
}

// all waits for all processes and returns what each gave.
func (m member) all(v []float64) [][]float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.count == 0 {
		m.given = make([][]float64, len(m.cuts)-1)
	}
	m.given[m.rank] = slices.Clone(v)
	all, round := m.given, m.rounds
	if m.count++; m.count == len(all) {
		m.count, m.rounds = 0, round+1
		m.wait.Broadcast()
	}
	for m.rounds == round {
		m.wait.Wait()
	}
	return all
}

func (m member) Dims() (int, int) {
	n := m.cuts[m.rank+1] - m.cuts[m.rank]
	return n, n
}

func (m member) Piece() (int, int) { return m.cuts[m.rank], m.a.Rows }

func (m member) Fixed() bool { return false }

func (m member) SpMV(_ context.Context, _ msrep.Transpose, alpha float64, x []float64, beta float64, y []float64) error {
	whole, product := slices.Concat(m.all(x)...), make([]float64, m.a.Rows)
	multiply(m.a, whole, product)
	for i, v := range product[m.cuts[m.rank]:m.cuts[m.rank+1]] {
		if beta == 0 {
			y[i] = alpha * v
		} else {
			y[i] = alpha*v + beta*y[i]
		}
	}
	return nil
}

func (m member) Sum(_ context.Context, v []float64) error {
	return m.reduce(v, func(a, b float64) float64 { return a + b })
}

func (m member) Max(_ context.Context, v []float64) error {
	return m.reduce(v, func(a, b float64) float64 { return max(a, b) })
}

func (m member) reduce(v []float64, f func(a, b float64) float64) error {
	all := m.all(v)
	copy(v, all[0])
	for _, o := range all[1:] {
		for i := range v {
			v[i] = f(v[i], o[i])
		}
	}
	return nil
}

func TestEigenvaluesOverSeveralProcesses(t *testing.T) {
	a := generated(t, "stencil:dims=2,n=12,points=5")
	want := denseEigenvalues(t, a, Smallest)
	for _, method := range []func(context.Context, solver.Operator, Options) (*Result, error){Symmetric, LOBPCG} {
		m := &team{a: a, cuts: []int{0, 50, 50, 144}}
		m.wait = sync.NewCond(&m.mu)
		results, errs := make([]*Result, 3), make([]error, 3)
		var running sync.WaitGroup
		for rank := range results {
			running.Go(func() {
				results[rank], errs[rank] = method(t.Context(), member{m, rank}, Options{Count: 4, Which: Smallest})
			})
		}
		running.Wait()
		require.NoError(t, errors.Join(errs...))
		whole := *results[0]
		whole.Vectors = make([][]float64, 4)
		for i := range whole.Vectors {
			for _, r := range results {
				require.Equal(t, results[0].Values, r.Values)
				whole.Vectors[i] = append(whole.Vectors[i], r.Vectors[i]...)
			}
		}
		requirePairs(t, a, want[:4], &whole, 1e-10)
		_, err := Singular(t.Context(), member{m, 0}, Options{Count: 1})
		require.ErrorContains(t, err, "several processes")
	}
}

func TestBadArgumentsAreInputErrors(t *testing.T) {
	sys := openOn(t, "cpu:1")
	a := generated(t, "stencil:dims=2,n=5,points=5")
	plan := planOf(t, "cpu:1", a)
	wide, empty := randomMatrix(3, 5, 1), &sparse.CSR[float64]{RowPtr: []int64{0}}
	lopsided := symmetricOf(t, 4, func(i, j int) float64 { return float64(1 + i + j) })
	lopsided.Val[2] = 9
	structure := randomMatrix(9, 9, 3)
	solve := func(m sparse.Matrix[float64], opt Options) error {
		_, err := Solve(t.Context(), sys, m, opt)
		return err
	}
	svd := func(m sparse.Matrix[float64], opt Options) error {
		_, err := SolveSingular(t.Context(), sys, m, opt)
		return err
	}
	symmetric := func(opt Options) error {
		_, err := Symmetric(t.Context(), plan, opt)
		return err
	}
	_, nilPlan := Symmetric(t.Context(), nil, Options{})
	var none context.Context
	_, nilContext := Symmetric(none, plan, Options{})
	_, magnitude := LOBPCG(t.Context(), plan, Options{Which: Magnitude})
	_, wrongSize := LOBPCG(t.Context(), plan, Options{Precond: identity(3)})
	_, smallest := Singular(t.Context(), plan, Options{Which: Smallest})
	for text, err := range map[string]error{
		"3 x 5: a matrix with eigenvalues is square":                    solve(wide, Options{}),
		"an empty matrix has no eigenvalues":                            solve(empty, Options{}),
		"an empty matrix has no singular values":                        svd(empty, Options{}),
		"row 2, column 0 is 3, and in row 0, column 2 it is 9":          solve(lopsided, Options{}),
		"it is not symmetric":                                           solve(structure, Options{}),
		"k: 26: use 1 to 25":                                            solve(a, Options{Count: 26}),
		"k: -1: use 1 to 25":                                            solve(a, Options{Count: -1, Which: Near}),
		"k: 4: use 1 to 3":                                              svd(wide, Options{Count: 4}),
		`which: "middle" is not known`:                                  solve(a, Options{Which: "middle"}),
		`which: "magnitude": singular values are largest or smallest`:   svd(a, Options{Which: Magnitude}),
		"tol: 1e-20: use 1e-14 to 1":                                    solve(a, Options{Tol: 1e-20}),
		"tol: NaN":                                                      solve(a, Options{Tol: math.NaN()}),
		"max-iter: -1":                                                  solve(a, Options{MaxIter: -1}),
		"sigma: NaN":                                                    solve(a, Options{Which: Near, Sigma: math.NaN()}),
		`method: "qr" is not known`:                                     solve(a, Options{Method: "qr"}),
		"method: lobpcg: does not find eigenvalues near a number":       solve(a, Options{Which: Near, Method: MethodLOBPCG}),
		"basis: 6: use more than the 6 eigenvalues":                     symmetric(Options{Basis: 6}),
		"start: 3 elements: the matrix has 25":                          symmetric(Options{Start: make([]float64, 3)}),
		"start: element 1 is +Inf":                                      symmetric(Options{Start: append([]float64{0, math.Inf(1)}, make([]float64, 23)...)}),
		"near: an operator has no factors":                              symmetric(Options{Which: Near}),
		"matrix: is nil":                                                nilPlan,
		"ctx: is nil":                                                   nilContext,
		"which: magnitude: lobpcg finds the largest or the smallest":    magnitude,
		"preconditioner: made for 3 rows: the matrix has 25":            wrongSize,
		"smallest: the smallest singular values need the matrix itself": smallest,
		"the entry in row 0, column 0 is NaN: all must be finite":       solve(symmetricOf(t, 2, func(int, int) float64 { return math.NaN() }), Options{}),
	} {
		require.ErrorContains(t, err, text)
		require.True(t, sparse.IsInput(err), text)
	}
}

type identity int

func (n identity) Size() int { return int(n) }

func (n identity) Apply(r, z []float64) error {
	copy(z, r)
	return nil
}

func TestAnOperatorThatIsNotSymmetricIsFound(t *testing.T) {
	plan := planOf(t, "cpu:1", randomMatrix(80, 80, 5))
	for _, method := range []func(context.Context, solver.Operator, Options) (*Result, error){Symmetric, LOBPCG} {
		_, err := method(t.Context(), plan, Options{Count: 3})
		require.ErrorIs(t, err, solver.ErrBreakdown)
		require.ErrorContains(t, err, "not symmetric")
	}
}

func TestARunThatEndsEarlyReturnsWhatItFound(t *testing.T) {
	a := generated(t, "stencil:dims=2,n=40,points=5")
	plan := planOf(t, "cpu:1", a)
	var last Step
	opt := Options{Count: 4, MaxIter: 40, Progress: func(s Step) { last = s }}
	for _, method := range []func(context.Context, solver.Operator, Options) (*Result, error){Symmetric, LOBPCG} {
		opt.MaxIter = 12
		res, err := method(t.Context(), plan, opt)
		require.ErrorIs(t, err, solver.ErrNotConverged)
		var gaveUp *solver.ConvergenceError
		require.ErrorAs(t, err, &gaveUp)
		require.Equal(t, res.Method, gaveUp.Method)
		require.Len(t, res.Values, 4)
		require.False(t, res.Converged)
		require.Equal(t, 12, last.Iteration)
		require.InDelta(t, gaveUp.Residual, slices.Max(res.Residuals)/res.Norm, 1e-6)
		ctx, cancel := context.WithCancel(t.Context())
		opt.Progress = func(Step) { cancel() }
		opt.MaxIter = 0
		res, err = method(ctx, plan, opt)
		require.ErrorIs(t, err, context.Canceled)
		require.Nil(t, res)
		opt.Progress = func(s Step) { last = s }
	}
	svd, err := Singular(t.Context(), plan, Options{Count: 4, MaxIter: 12})
	require.ErrorIs(t, err, solver.ErrNotConverged)
	require.Len(t, svd.Values, 4)
}

func Example() {
	a, err := sparse.FromTriples(3, 3, []int32{0, 1, 2, 0, 1}, []int32{0, 1, 2, 1, 0}, []float64{2, 2, 5, 1, 1})
	if err != nil {
		panic(err)
	}
	sys, err := msrep.Open(msrep.Config{Devices: "cpu:1"})
	if err != nil {
		panic(err)
	}
	defer sys.Close()
	res, err := Solve(context.Background(), sys, a, Options{Count: 2})
	if err != nil {
		panic(err)
	}
	fmt.Printf("%.6f\n", res.Values)
	// Output: [5.000000 3.000000]
}

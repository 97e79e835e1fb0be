package multifrontal

import (
	"context"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/gen"
	"github.com/msrep-go/msrep/sparse/order"
)

// random returns an n x n matrix with about perRow entries in each row and a diagonal of the size given, symmetric or
// not.
func random(rng *rand.Rand, n, perRow int, diagonal float64, symmetric bool) *sparse.CSR[float64] {
	var rows, cols []int32
	var vals []float64
	seen := map[[2]int32]bool{}
	add := func(i, j int32, v float64) {
		if !seen[[2]int32{i, j}] {
			seen[[2]int32{i, j}] = true
			rows, cols, vals = append(rows, i), append(cols, j), append(vals, v)
		}
	}
	for i := range int32(n) {
		add(i, i, diagonal)
		for range perRow {
			j, v := int32(rng.IntN(n)), rng.Float64()*2-1
			if j == i {
				continue
			}
			add(i, j, v)
			if symmetric {
				add(j, i, v)
			}
		}
	}
	if symmetric { // an entry that was there keeps its value, so look again
		at := map[[2]int32]float64{}
		for k := range rows {
			at[[2]int32{min(rows[k], cols[k]), max(rows[k], cols[k])}] = vals[k]
		}
		for k := range rows {
			vals[k] = at[[2]int32{min(rows[k], cols[k]), max(rows[k], cols[k])}]
		}
	}
	m, err := sparse.FromTriples(n, n, rows, cols, vals)
	if err != nil {
		panic(err)
	}
	return m
}

// filledPattern returns, by plain elimination, the columns of L of A + A' in the order perm.
func filledPattern(a *sparse.CSR[float64], perm []int32) []map[int32]bool {
	inverse := invert(perm)
	cols := make([]map[int32]bool, a.Rows)
	for j := range cols {
		cols[j] = map[int32]bool{int32(j): true}
	}
	for i := range a.Rows {
		for _, j := range a.ColIdx[a.RowPtr[i]:a.RowPtr[i+1]] {
			x, y := inverse[i], inverse[j]
			cols[min(x, y)][max(x, y)] = true
		}
	}
	for j, col := range cols {
		first := int32(math.MaxInt32)
		for i := range col {
			if i > int32(j) {
				first = min(first, i)
			}
		}
		for i := range col {
			if i > int32(j) {
				cols[first][i] = true
			}
		}
	}
	return cols
}

// backward returns the largest |b - A x| / (|A| |x| + |b|) of a row, for A or A'.
func backward(a *sparse.CSR[float64], x, b []float64, transposed bool) float64 {
	r, size := append([]float64(nil), b...), make([]float64, len(b))
	for i := range b {
		size[i] = math.Abs(b[i])
	}
	for i := range a.Rows {
		for k := a.RowPtr[i]; k < a.RowPtr[i+1]; k++ {
			row, col := i, int(a.ColIdx[k])
			if transposed {
				row, col = col, row
			}
			r[row] -= a.Val[k] * x[col]
			size[row] += math.Abs(a.Val[k] * x[col])
		}
	}
	worst := 0.0
	for i := range r {
		if e := math.Abs(r[i]); e != 0 {
			worst = max(worst, e/size[i])
		}
	}
	return worst
}

type matrix struct {
	name string
	a    *sparse.CSR[float64]
	spd  bool
}

func matrices(t testing.TB) []matrix {
	rng := rand.New(rand.NewPCG(1, 2))
	spec := func(s string) *sparse.CSR[float64] {
		a, _, err := gen.Generate(s)
		require.NoError(t, err)
		return a
	}
	list := []matrix{
		{"empty", random(rng, 0, 0, 1, true), true},
		{"one", random(rng, 1, 0, 3, true), true},
		{"diagonal", random(rng, 40, 0, 2, true), true},
		{"grid", spec("stencil:n=30,dims=2"), true},
		{"large grid", spec("stencil:n=90,dims=2"), true},
		{"cube", spec("stencil:n=14,dims=3"), true},
		{"shared grid", spec("stencil:n=180,dims=2"), true},
		{"dense", random(rng, 150, 600, 150, true), true},
	}
	for _, n := range []int{5, 30, 200, 1000} {
		for _, per := range []int{1, 3} {
			list = append(list, matrix{"symmetric", random(rng, n, per, 12, true), true}, matrix{"unsymmetric", random(rng, n, per, 12, false), false})
		}
	}
	var rows, cols []int32
	var vals []float64
	for i := range int32(300) { // a dense row and column
		rows, cols, vals = append(rows, i, i, 0), append(cols, i, 0, i), append(vals, 400, 1, 1)
	}
	arrow, err := sparse.FromTriples(300, 300, rows, cols, vals)
	require.NoError(t, err)
	list = append(list, matrix{"arrow", arrow, true})
	rows, cols, vals = nil, nil, nil
	for i := range int32(3000) { // many components
		rows, cols, vals = append(rows, i, i), append(cols, i, i/6*6+(i+1)%6), append(vals, 5, 1)
	}
	blocks, err := sparse.FromTriples(3000, 3000, rows, cols, vals)
	require.NoError(t, err)
	return append(list, matrix{"components", blocks, false})
}

func orders(t testing.TB, a *sparse.CSR[float64]) map[string][]int32 {
	amd, err := order.AMD(a)
	require.NoError(t, err)
	natural := make([]int32, a.Rows)
	for i := range natural {
		natural[i] = int32(i)
	}
	return map[string][]int32{"natural": natural, "amd": amd}
}

func TestAnAnalysisHasThePatternOfTheFactor(t *testing.T) {
	for _, m := range matrices(t) {
		if m.a.Rows > 1000 {
			continue
		}
		for name, perm := range orders(t, m.a) {
			s, err := Analyze(t.Context(), m.a, perm, nil, Cholesky, nil)
			require.NoError(t, err)
			want := filledPattern(m.a, perm)
			entries := 0
			for _, col := range want {
				entries += len(col)
			}
			require.EqualValues(t, entries, s.Entries(), "%s, %s: %d rows", m.name, name, m.a.Rows)
			full := filledPattern(m.a, s.perm) // the order within the analysis has the same fill
			for i, f := range s.front {
				have := map[int32]bool{}
				for j := range f.pivots {
					have[s.first[i]+int32(j)] = true
				}
				last := s.first[i+1] - 1
				for k := s.rowPtr[i]; k < s.rowPtr[i+1]; k++ {
					require.Greater(t, s.rows[k], last)
					last = s.rows[k]
					have[last] = true
				}
				for j := s.first[i]; j < s.first[i+1]; j++ {
					entries -= len(full[j])
					for r := range full[j] {
						require.True(t, have[r], "%s, %s: supernode %d has no row %d", m.name, name, i, r)
					}
				}
			}
			require.Zero(t, entries)
		}
	}
}

func solveAll(t testing.TB, m matrix, perm []int32, b []float64) (results [][]float64) {
	n := m.a.Rows
	into := func(solve func(x, work []float64), s *Analysis) {
		x := make([]float64, n)
		for i, k := range s.perm {
			x[i] = b[k]
		}
		work := make([]float64, s.Workspace(1))
		solve(x, work)
		y := make([]float64, n)
		for i, k := range s.perm {
			y[k] = x[i]
		}
		results = append(results, y)
	}
	s, err := Analyze(context.Background(), m.a, perm, nil, LU, nil)
	require.NoError(t, err)
	for _, tol := range []float64{0.1, 1} {
		f, err := s.FactorLU(context.Background(), m.a.Val, tol, 1e-200, nil)
		require.NoError(t, err)
		require.Zero(t, f.Replaced())
		into(func(x, w []float64) { f.Solve(1, x, w) }, s)
		into(func(x, w []float64) { f.SolveTransposed(1, x, w) }, s)
		f, err = s.FactorLU(context.Background(), m.a.Val, tol, 1e-200, f) // again, in the same memory
		require.NoError(t, err)
		into(func(x, w []float64) { f.Solve(1, x, w) }, s)
		require.Equal(t, results[len(results)-3], results[len(results)-1])
	}
	if m.spd {
		s, err := Analyze(context.Background(), m.a, perm, nil, Cholesky, nil)
		require.NoError(t, err)
		f, err := s.FactorCholesky(context.Background(), m.a.Val, nil)
		require.NoError(t, err)
		into(func(x, w []float64) { f.Solve(1, x, w) }, s)
	}
	return results
}

func TestSolutionsHaveASmallBackwardErrorAndTheSameBits(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, m := range matrices(t) {
		b := make([]float64, m.a.Rows)
		for i := range b {
			b[i] = rng.NormFloat64()
		}
		for name, perm := range orders(t, m.a) {
			if name == "natural" && m.a.Rows > 3000 {
				continue
			}
			var first [][]float64
			for _, procs := range []int{1, 2, 5} {
				before := runtime.GOMAXPROCS(procs)
				got := solveAll(t, m, perm, b)
				runtime.GOMAXPROCS(before)
				if first == nil {
					first = got
					for k, x := range got {
						require.Less(t, backward(m.a, x, b, k%3 == 1 && k < 6), 2e-14, "%s, %s: %d rows, solution %d", m.name, name, m.a.Rows, k)
					}
					continue
				}
				require.Equal(t, first, got, "%s, %s: %d rows, %d goroutines", m.name, name, m.a.Rows, procs)
			}
		}
	}
}

// A large dense front on one goroutine looks at its context as well.
func TestALargeFrontEndsWithItsContext(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // counted has no lock
	rng := rand.New(rand.NewPCG(9, 9))
	m := matrix{"dense", random(rng, 700, 3000, 700, true), true}
	natural := orders(t, m.a)["natural"]
	for _, kind := range []Kind{LU, Cholesky} {
		s, err := Analyze(t.Context(), m.a, natural, nil, kind, nil)
		require.NoError(t, err)
		require.Len(t, s.front, 1)
		for end := range 5 {
			ctx := &counted{t.Context(), 0, end}
			if kind == LU {
				_, err = s.FactorLU(ctx, m.a.Val, 1, 1e-200, nil)
			} else {
				_, err = s.FactorCholesky(ctx, m.a.Val, nil)
			}
			require.ErrorIs(t, err, context.Canceled)
			require.Less(t, ctx.asked, end+20)
		}
	}
}

// counted is a context that ends when it is asked for the time given.
type counted struct {
	context.Context
	asked, end int
}

func (c *counted) Err() error {
	if c.asked++; c.asked > c.end {
		return context.Canceled
	}
	return nil
}

// Several right-hand sides give the solutions of one, also where goroutines share a solve.
func TestSeveralRightHandSides(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, m := range matrices(t) {
		n, perm := m.a.Rows, orders(t, m.a)["amd"]
		s, err := Analyze(t.Context(), m.a, perm, nil, LU, nil)
		require.NoError(t, err)
		require.Equal(t, m.name == "shared grid", s.pieces != nil, m.name)
		f, err := s.FactorLU(t.Context(), m.a.Val, 1, 1e-200, nil)
		require.NoError(t, err)
		const count = 3
		b := make([]float64, n*count)
		for i := range b {
			b[i] = rng.NormFloat64()
		}
		for _, transposed := range []bool{false, true} {
			solve := f.Solve
			if transposed {
				solve = f.SolveTransposed
			}
			var first []float64
			for _, procs := range []int{1, 2, 5} {
				before := runtime.GOMAXPROCS(procs)
				x := append([]float64(nil), b...)
				solve(count, x, make([]float64, s.Workspace(count)))
				runtime.GOMAXPROCS(before)
				if first == nil {
					first = x
				}
				require.Equal(t, first, x)
			}
			for c := range count {
				x, v := make([]float64, n), make([]float64, n)
				for i, k := range s.perm {
					x[k], v[k] = first[c*n+i], b[c*n+i]
				}
				require.Less(t, backward(m.a, x, v, transposed), 2e-14, "%s, transposed %v", m.name, transposed)
			}
		}
	}
}

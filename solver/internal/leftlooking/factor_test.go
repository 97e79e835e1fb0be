package leftlooking

import (
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/sparse"
)

// requireFactors checks that f has the factors of a, P R A C Q = L U + F, entry by entry.
func requireFactors(t *testing.T, a *sparse.CSR[float64], f *LU) {
	t.Helper()
	n := a.Rows
	product, size := make([]float64, n), make([]float64, n)
	at := make([]int, n) // position of each row
	for k, i := range f.rows {
		at[i] = k
	}
	columns := sparse.ToCSC[float64](a)
	f.eachColumn(func(s *store, k int) {
		lo := int(f.sym.first[k])
		clear(product)
		clear(size)
		add := func(i int, v float64) {
			product[i] += v
			size[i] += math.Abs(v)
		}
		for p := f.sym.offPtr[k]; p < f.sym.offPtr[k+1]; p++ {
			if int(f.offRow[p]) >= lo {
				t.Fatalf("F has row %d in column %d", f.offRow[p], k)
			}
			add(int(f.offRow[p]), f.offVal[p])
		}
		column := func(m int, u float64) { // L(:, m) u
			add(m, u)
			rows, l := f.below(s, m)
			for p, i := range rows {
				if int(i) <= m-lo {
					t.Fatalf("L has row %d in column %d", lo+int(i), m)
				}
				add(lo+int(i), l[p]*u)
			}
		}
		for p := f.up[k]; p < f.up[k]+int(f.ulen[k]); p++ {
			if int(s.ui[p]) >= k-lo {
				t.Fatalf("U has row %d in column %d", lo+int(s.ui[p]), k)
			}
			column(lo+int(s.ui[p]), s.ux[p])
		}
		column(k, f.diag[k])
		j := f.sym.cols[k]
		for p := columns.ColPtr[j]; p < columns.ColPtr[j+1]; p++ {
			i := columns.RowIdx[p]
			product[at[i]] -= f.scale[i] * columns.Val[p] * f.colScale(j)
		}
		for i, v := range product {
			if bound := 1e-15*float64(n)*size[i] + 1e-290; !(math.Abs(v) <= bound) {
				t.Fatalf("row %d, column %d differs by %v, more than %v", i, k, v, bound)
			}
		}
	})
}

// requireSolves checks all kinds of solves of f.
func requireSolves(t *testing.T, a *sparse.CSR[float64], f *LU, bound float64) {
	t.Helper()
	n := a.Rows
	r := rand.New(rand.NewPCG(1, 2))
	const count = 6
	b := randomVector(r, count*n)
	x, many := make([]float64, n), make([]float64, count*n)
	f.SolveMany(b, many, count, make([]float64, 4*n))
	for c := range count {
		f.Solve(b[c*n:(c+1)*n], x, nil)
		require.LessOrEqual(t, backwardError(a, x, b[c*n:(c+1)*n], false), bound)
		require.LessOrEqual(t, backwardError(a, many[c*n:(c+1)*n], b[c*n:(c+1)*n], false), bound)
	}
	f.SolveTransposed(b[:n], x, make([]float64, n))
	require.LessOrEqual(t, backwardError(a, x, b[:n], true), bound)
	copy(x, b) // in place
	f.Solve(x, x, nil)
	require.LessOrEqual(t, backwardError(a, x, b[:n], false), bound)
}

// bits returns a hash of all numbers of the factors.
func bits(f *LU) uint64 {
	h := fnv.New64a()
	add := func(parts ...[]byte) {
		for _, b := range parts {
			_, _ = h.Write(b)
		}
	}
	add(mem.Bytes(f.rows), mem.Bytes(f.sym.cols), mem.Bytes(f.diag), mem.Bytes(f.llen), mem.Bytes(f.ulen),
		mem.Bytes(f.runLast), mem.Bytes(f.offRow), mem.Bytes(f.offVal))
	for g := range f.stores {
		s := &f.stores[g]
		add(mem.Bytes(s.li), mem.Bytes(s.ui), mem.Bytes(s.lx), mem.Bytes(s.ux))
	}
	_, _ = fmt.Fprint(h, f.lp, f.xp, f.up)
	return h.Sum64()
}

func TestRandomMatrices(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for i := range 400 {
		a := random(r, 1+r.IntN(60), 4*r.Float64())
		for _, tol := range []float64{0.001, 0.1, 1} {
			f, err := Factor(t.Context(), a, Options{Tolerance: tol})
			require.NoError(t, err, "matrix %d", i)
			requireFactors(t, a, f)
			if tol == 1 {
				requireSolves(t, a, f, 1e-10) // componentwise, and rows of x may cancel
			}
		}
	}
}

// TestRandomMatricesWithFill has runs that are multiplied as dense matrices, below and in
// which rows are exchanged.
func TestRandomMatricesWithFill(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	for i := range 12 {
		a := random(r, 150+r.IntN(150), 3+2*r.Float64())
		for _, tol := range []float64{0.1, 1} {
			f, err := Factor(t.Context(), a, Options{Tolerance: tol})
			require.NoError(t, err, "matrix %d", i)
			longest := int32(0)
			f.eachColumn(func(_ *store, k int) { longest = max(longest, f.runLast[k]+f.sym.first[k]-int32(k)) })
			require.Greater(t, int(longest), denseWidth)
			requireFactors(t, a, f)
			requireSolves(t, a, f, 1e-8)
			want := bits(f)
			require.NoError(t, f.Refactor(t.Context(), a))
			require.Equal(t, want, bits(f))
		}
	}
}

// TestDenseMatrices has runs of many columns, and blocks whose columns are in one run.
func TestDenseMatrices(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 30} {
		rows := make([][]float64, n)
		for i := range rows {
			rows[i] = randomVector(r, n)
		}
		a := matrix(rows...)
		f, err := Factor(t.Context(), a, Options{Tolerance: 1})
		require.NoError(t, err)
		requireFactors(t, a, f)
		requireSolves(t, a, f, 1e-12)
		require.EqualValues(t, n*(n+1)/2, f.Info().L)
	}
}

func TestShapes(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	n := 200
	build := func(f func(put func(i, j int))) *sparse.CSR[float64] {
		var rows, cols []int32
		var val []float64
		f(func(i, j int) {
			rows, cols, val = append(rows, int32(i)), append(cols, int32(j)), append(val, 1+r.Float64())
		})
		a, err := sparse.FromTriples(n, n, rows, cols, val)
		require.NoError(t, err)
		return a
	}
	p, q := r.Perm(n), r.Perm(n)
	for _, c := range []struct {
		name   string
		blocks int // -1: any
		a      *sparse.CSR[float64]
	}{
		{"permuted triangle", n, build(func(put func(i, j int)) {
			for i := range n {
				put(p[i], q[i])
				for range 5 {
					put(p[i], q[i+r.IntN(n-i)])
				}
			}
		})},
		{"permuted arrow", 1, build(func(put func(i, j int)) {
			for i := range n {
				put(p[i], q[i])
				put(p[0], q[i])
				put(p[i], q[0])
			}
		})},
		{"cycle without a diagonal", n / 4, build(func(put func(i, j int)) {
			for i := range n {
				put(i, i/4*4+(i+1)%4)
				put(i, i/4*4+(i+2)%4)
			}
		})},
		{"permutation", n, build(func(put func(i, j int)) {
			for i := range n {
				put(p[i], q[i])
			}
		})},
		{"dense row", n, build(func(put func(i, j int)) {
			for i := range n {
				put(p[i], q[i])
				put(p[0], i)
			}
		})},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := Factor(t.Context(), c.a, Options{})
			require.NoError(t, err)
			require.Equal(t, c.blocks, f.Info().Blocks)
			requireFactors(t, c.a, f)
			requireSolves(t, c.a, f, 1e-11)
		})
	}
}

func TestPivotsOffTheDiagonal(t *testing.T) {
	for _, c := range []struct {
		tolerance float64
		count     int64
	}{{0.001, 0}, {0.1, 1}, {1, 1}} { // the second column prefers the row that the first one leaves
		s, err := Analyze(t.Context(), matrix([]float64{2, 1}, []float64{1, 2}), Options{Tolerance: c.tolerance})
		require.NoError(t, err)
		f, err := s.Factor(t.Context(), matrix([]float64{0.01, 1}, []float64{1, 0.01}))
		require.NoError(t, err)
		require.Equal(t, c.count, f.Info().OffDiagonal)
	}
}

func TestEmptyMatrix(t *testing.T) {
	f, err := Factor(t.Context(), matrix(), Options{})
	require.NoError(t, err)
	f.Solve(nil, nil, nil)
	f.SolveTransposed(nil, nil, nil)
	f.SolveMany(nil, nil, 3, nil)
	require.NoError(t, f.Refactor(t.Context(), matrix()))
	require.Zero(t, f.Size())
}

func TestExtremeValues(t *testing.T) {
	for _, a := range []*sparse.CSR[float64]{
		matrix([]float64{1e308, 1e308}, []float64{1e-308, -1e-308}),
		matrix([]float64{5e-324}),
		matrix([]float64{0, math.MaxFloat64}, []float64{5e-324, 0}),
	} {
		f, err := Factor(t.Context(), a, Options{})
		require.NoError(t, err)
		x := make([]float64, a.Rows)
		b := multiply(a, []float64{1, 0.5}[:a.Rows], false)
		f.Solve(b, x, nil)
		require.InDelta(t, 1, x[0], 1e-15)
	}
}

func TestStructurallySingular(t *testing.T) {
	a := matrix([]float64{1, 2, 0, 0}, []float64{3, 4, 0, 0}, []float64{5, 6, 0, 0}, []float64{0, 0, 0, 7})
	_, err := Factor(t.Context(), a, Options{})
	var e *SingularError
	require.ErrorAs(t, err, &e)
	require.True(t, e.Structural)
	require.Equal(t, 3, e.Rank)
	require.Equal(t, []int{2}, e.Columns)
	require.Len(t, e.Rows, 1)
	require.Less(t, e.Rows[0], 3) // three rows have two columns
	require.EqualError(t, err, fmt.Sprintf("the matrix is structurally singular: 3 of 4 rows can be matched with columns; row %d and column 2 cannot", e.Rows[0]))
}

func TestNumericallySingular(t *testing.T) {
	// The third column is the sum of the others.
	a := matrix([]float64{1, 2, 3}, []float64{4, 1, 5}, []float64{2, 2, 4})
	_, err := Factor(t.Context(), a, Options{Tolerance: 1})
	var e *SingularError
	require.ErrorAs(t, err, &e)
	require.False(t, e.Structural)
	require.Equal(t, 2, e.Rank)
	require.Len(t, e.Columns, 1)

	// A stored zero is no entry that can be matched.
	zero := &sparse.CSR[float64]{Rows: 2, Cols: 2, RowPtr: []int64{0, 1, 2}, ColIdx: []int32{0, 1}, Val: []float64{1, 0}}
	_, err = Factor(t.Context(), zero, Options{})
	require.ErrorAs(t, err, &e)
	require.True(t, e.Structural)
	require.Equal(t, []int{1}, e.Columns)
	require.Equal(t, []int{1}, e.Rows)
}

func TestOverflow(t *testing.T) {
	// The row is scaled by its largest entry, so the pivots of the first columns underflow.
	a := matrix([]float64{1e-300, 1, 0}, []float64{1, 1e300, 1}, []float64{1, 1, 1e-300})
	f, err := Factor(t.Context(), a, Options{})
	if err == nil {
		requireSolves(t, a, f, 1e-12)
	}
	s, err := Analyze(t.Context(), matrix([]float64{2, 1}, []float64{1, 1}), Options{Tolerance: 1e-320})
	require.NoError(t, err)
	_, err = s.Factor(t.Context(), matrix([]float64{1e-310, 1}, []float64{1, 1}))
	var e *SingularError
	require.ErrorAs(t, err, &e)
	require.True(t, e.Overflow)
}

func TestBadArguments(t *testing.T) {
	good := matrix([]float64{1, 2}, []float64{3, 4})
	for _, c := range []struct {
		a    *sparse.CSR[float64]
		opt  Options
		text string
	}{
		{good, Options{Tolerance: 2}, "tolerance: 2 is not in (0, 1]"},
		{good, Options{Tolerance: -1}, "tolerance: -1 is not in (0, 1]"},
		{good, Options{Tolerance: math.NaN()}, "tolerance: NaN is not in (0, 1]"},
		{good, Options{MaxBytes: -1}, "memory limit: -1 bytes is negative"},
		{&sparse.CSR[float64]{Rows: 1, Cols: 2, RowPtr: []int64{0, 0}}, Options{}, "matrix: 1 rows and 2 columns: a factorisation needs a square matrix"},
		{matrix([]float64{1, 2}, []float64{3, math.NaN()}), Options{}, "matrix: row 1, column 1 is NaN: a factorisation needs finite values"},
		{matrix([]float64{1, math.Inf(-1)}, []float64{3, 4}), Options{}, "matrix: row 0, column 1 is -Inf: a factorisation needs finite values"},
	} {
		_, err := Factor(t.Context(), c.a, c.opt)
		require.EqualError(t, err, c.text)
		require.True(t, sparse.IsInput(err))
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	a := random(rand.New(rand.NewPCG(1, 1)), 50, 3)
	_, err := Factor(ctx, a, Options{})
	require.ErrorIs(t, err, context.Canceled)
	s, err := Analyze(t.Context(), a, Options{})
	require.NoError(t, err)
	_, err = s.Factor(ctx, a)
	require.ErrorIs(t, err, context.Canceled)
	f, err := s.Factor(t.Context(), a)
	require.NoError(t, err)
	require.ErrorIs(t, f.Refactor(ctx, a), context.Canceled)
}

// countdown is a context that is cancelled after a number of looks at it.
type countdown struct {
	context.Context
	left *atomic.Int64
}

func (c countdown) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

func TestCancelledWhileItRuns(t *testing.T) {
	a := random(rand.New(rand.NewPCG(1, 1)), 1000, 5) // one large block
	looks := func(n int64) int64 {
		var left atomic.Int64
		left.Store(n)
		f, err := Factor(countdown{t.Context(), &left}, a, Options{})
		if left.Load() < 0 {
			require.ErrorIs(t, err, context.Canceled)
			require.Nil(t, f)
		} else {
			require.NoError(t, err)
		}
		return n - left.Load()
	}
	all := looks(math.MaxInt64)
	require.Greater(t, all, int64(10))
	for n := range all {
		looks(n)
	}
}

func TestMemoryLimit(t *testing.T) {
	a := random(rand.New(rand.NewPCG(1, 1)), 400, 4)
	f, err := Factor(t.Context(), a, Options{})
	require.NoError(t, err)
	need := f.Info().Bytes
	_, err = Factor(t.Context(), a, Options{MaxBytes: 3 * need})
	require.NoError(t, err)
	for _, most := range []int64{1, need / 8, need / 2, need * 3 / 4} {
		_, err = Factor(t.Context(), a, Options{MaxBytes: most})
		var e *MemoryError
		require.ErrorAs(t, err, &e, "%d of %d", most, need)
		require.Equal(t, most, e.Have)
		require.Greater(t, e.Need, most)
	}
}

func TestMemoryThatIsNotThere(t *testing.T) {
	a := random(rand.New(rand.NewPCG(1, 1)), 50_000, 0.5)
	s, err := Analyze(t.Context(), a, Options{})
	require.NoError(t, err)
	defer mem.SetAvailable(1000)()
	_, err = s.Factor(t.Context(), a)
	var e *MemoryError
	require.ErrorAs(t, err, &e)
	require.EqualValues(t, 1000, e.Have)
	require.Greater(t, e.Need, e.Have)
}

func TestSameBitsForAnyNumberOfGoroutines(t *testing.T) {
	// Many blocks of very different sizes.
	r := rand.New(rand.NewPCG(9, 9))
	n := 3000
	var rows, cols []int32
	var val []float64
	for lo := 0; lo < n; {
		hi := min(lo+1+r.IntN(600), n)
		for i := lo; i < hi; i++ {
			for range 5 {
				rows, cols, val = append(rows, int32(i)), append(cols, int32(lo+r.IntN(hi-lo))), append(val, r.NormFloat64())
			}
			rows, cols, val = append(rows, int32(i)), append(cols, int32(lo+r.IntN(n-lo))), append(val, r.NormFloat64())
			rows, cols, val = append(rows, int32(i)), append(cols, int32(lo+(i+1-lo)%(hi-lo))), append(val, r.NormFloat64())
		}
		lo = hi
	}
	a, err := sparse.FromTriples(n, n, rows, cols, val)
	require.NoError(t, err)
	var want uint64
	for _, procs := range []int{1, 2, 5} {
		before := runtime.GOMAXPROCS(procs)
		f, err := Factor(t.Context(), a, Options{})
		runtime.GOMAXPROCS(before)
		require.NoError(t, err)
		require.Greater(t, len(f.stores), 2)
		if want == 0 {
			want = bits(f)
			requireSolves(t, a, f, 1e-9)
		}
		require.Equal(t, want, bits(f))
	}
}

func TestRefactor(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for range 100 {
		a := random(r, 1+r.IntN(80), 3*r.Float64())
		f, err := Factor(t.Context(), a, Options{})
		require.NoError(t, err)
		want, info := bits(f), f.Info()
		require.NoError(t, f.Refactor(t.Context(), a))
		require.Equal(t, want, bits(f), "the same values give the same bits")
		require.Equal(t, info, f.Info())

		other := *a
		other.Val = make([]float64, len(a.Val))
		for k, v := range a.Val {
			other.Val[k] = v * (1 + r.Float64()) * 1e5
		}
		require.NoError(t, f.Refactor(t.Context(), &other))
		requireFactors(t, &other, f)
	}
}

func TestRefactorReportsGrowth(t *testing.T) {
	a := matrix([]float64{2, 1}, []float64{1, 2})
	f, err := Factor(t.Context(), a, Options{})
	require.NoError(t, err)
	require.InDelta(t, 1, f.Info().Growth, 0.5)
	require.NoError(t, f.Refactor(t.Context(), matrix([]float64{1e-9, 1}, []float64{1, 2})))
	require.Greater(t, f.Info().Growth, 1e8)

	var singular *SingularError
	zero := matrix([]float64{1, 1}, []float64{1, 1})
	require.ErrorAs(t, f.Refactor(t.Context(), zero), &singular)
	require.True(t, sparse.IsInput(f.Refactor(t.Context(), matrix([]float64{1, 0}, []float64{1, 1}))))
	require.True(t, sparse.IsInput(f.Refactor(t.Context(), matrix([]float64{1, math.NaN()}, []float64{1, 1}))))
	require.NoError(t, f.Refactor(t.Context(), a))
	requireFactors(t, a, f)
}

// TestSystems solves the systems of the collection by partial pivoting.
func TestSystems(t *testing.T) {
	most := 6000
	if testing.Short() {
		most = 1000
	}
	systems(t, most, func(t *testing.T, a *sparse.CSR[float64], _ map[string]string) {
		f, err := Factor(t.Context(), a, Options{Tolerance: 1})
		require.NoError(t, err)
		x := randomVector(rand.New(rand.NewPCG(1, 2)), a.Rows)
		b := multiply(a, x, false)
		f.Solve(b, x, nil)
		require.LessOrEqual(t, normwiseError(a, x, b), 1e-14)
		transposed := sparse.ToCSR[float64](a.Transpose())
		f.SolveTransposed(b, x, nil)
		require.LessOrEqual(t, normwiseError(transposed, x, b), 1e-12)
		want := bits(f)
		require.NoError(t, f.Refactor(t.Context(), a))
		require.Equal(t, want, bits(f), "the same values give the same bits")
	})
}

// TestMemplus has the fill that the diagonal gives: SuperLU's default order fills memplus in
// 30 times as much.
func TestMemplus(t *testing.T) {
	a := readMatrix(t, "memplus")
	f, err := Factor(t.Context(), a, Options{})
	require.NoError(t, err)
	i := f.Info()
	require.Less(t, i.L+i.U, int64(1.2*float64(a.NNZ())))
	requireSolves(t, a, f, 1e-10)
}

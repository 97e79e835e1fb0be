package factor_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/corpus"
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/solver/factor"
	"github.com/msrep-go/msrep/sparse"
)

var luKinds = []factor.LUKind{factor.Auto, factor.Multifrontal, factor.LeftLooking}

// backwardError returns the largest |b - A x| / (|A| |x| + |b| + m/1000) of an equation, where m is the sum of the
// magnitudes of its row times the largest |x|: zeros of x are rounding errors.
func backwardError(a *sparse.CSR[float64], transposed bool, x, b []float64) float64 {
	y, size := multiply(a, transposed, x)
	largest := 0.0
	for _, v := range x {
		largest = math.Max(largest, math.Abs(v))
	}
	_, row := multiply(a, transposed, ones(len(x)))
	worst := 0.0
	for i := range b {
		if r := math.Abs(b[i] - y[i]); r != 0 {
			worst = math.Max(worst, r/(size[i]+math.Abs(b[i])+row[i]*largest/1000))
		}
	}
	return worst
}

func relativeResidual(a *sparse.CSR[float64], b, x []float64) float64 {
	y, _ := multiply(a, false, x)
	var r, size float64
	for i := range b {
		r, size = math.Hypot(r, b[i]-y[i]), math.Hypot(size, b[i])
	}
	return r / size
}

func ones(n int) []float64 {
	b := make([]float64, n)
	for i := range b {
		b[i] = 1
	}
	return b
}

// fromRows returns a matrix with all entries of its rows that are not 0.
func fromRows(rows ...[]float64) *sparse.CSR[float64] {
	a := &sparse.CSR[float64]{Rows: len(rows), Cols: len(rows), RowPtr: []int64{0}}
	for _, row := range rows {
		for j, v := range row {
			if v != 0 {
				a.ColIdx, a.Val = append(a.ColIdx, int32(j)), append(a.Val, v)
			}
		}
		a.RowPtr = append(a.RowPtr, int64(len(a.Val)))
	}
	return a
}

// definite returns M M' + I for a sparse random M, with duplicates and columns in no order.
func definite(r *rand.Rand, n int) *sparse.CSR[float64] {
	var rows, cols []int32
	var vals []float64
	add := func(i, j int, v float64) {
		rows, cols, vals = append(rows, int32(i)), append(cols, int32(j)), append(vals, v)
	}
	for i := range n {
		add(i, i, 1)
		v := r.NormFloat64()
		for range 2 { // the square of a column of M with two entries
			j, w := r.IntN(n), r.NormFloat64()
			add(i, i, v*v)
			add(j, j, w*w)
			add(i, j, v*w)
			add(j, i, v*w)
		}
	}
	a := &sparse.CSR[float64]{Rows: n, Cols: n, RowPtr: make([]int64, n+1)}
	for i := range n {
		for k, row := range rows {
			if int(row) == i {
				a.ColIdx, a.Val = append(a.ColIdx, cols[k]), append(a.Val, vals[k])
			}
		}
		a.RowPtr[i+1] = int64(len(a.Val))
	}
	return a
}

func arrow(n int) *sparse.CSR[float64] {
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = make([]float64, n)
		rows[i][0], rows[i][i], rows[0][i] = 1, float64(n), 1
	}
	rows[0][0] = float64(n)
	return fromRows(rows...)
}

// The solutions of one factorisation, and all that can be done with it.
func solutions(t *testing.T, a *sparse.CSR[float64], kind factor.LUKind) (x [][]float64) {
	t.Helper()
	r := rand.New(rand.NewPCG(7, 8))
	f, err := factor.NewLU(t.Context(), a, factor.LUOptions{Kind: kind})
	require.NoError(t, err)
	require.Equal(t, a.Rows, f.Size())
	var b [][]float64
	for range 19 {
		b, x = append(b, randomVector(r, a.Rows)), append(x, make([]float64, a.Rows))
	}
	require.NoError(t, f.ApplyMany(b, x))
	one, transposed := make([]float64, a.Rows), make([]float64, a.Rows)
	require.NoError(t, f.Apply(b[0], one))
	require.NoError(t, f.ApplyTransposed(b[1], transposed))
	for k := range x {
		require.LessOrEqual(t, backwardError(a, false, x[k], b[k]), 1e-10, "%v, right-hand side %d", kind, k)
	}
	require.LessOrEqual(t, backwardError(a, false, one, b[0]), 1e-10)
	require.LessOrEqual(t, backwardError(a, true, transposed, b[1]), 1e-10, "%v, transposed", kind)
	require.NoError(t, f.Refactor(t.Context(), a))
	again := make([]float64, a.Rows)
	require.NoError(t, f.Apply(b[0], again))
	require.Equal(t, one, again, "%v: the same matrix again", kind)
	return append(x, one, transposed)
}

func TestCompleteFactorsSolveRandomSystemsWithTheSameBits(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	systems := map[string]*sparse.CSR[float64]{
		"empty": fromRows(), "one": fromRows([]float64{-3}), "diagonal": fromRows([]float64{1e-9, 0}, []float64{0, 1e9}),
		"exchange": fromRows([]float64{0, 2}, []float64{3, 0}), "arrow": arrow(200), "grid": laplacian(40), "large grid": laplacian(110),
	}
	for i := range 30 {
		systems["random "+strconv.Itoa(i)] = randomMatrix(t, r, 1+r.IntN(60))
	}
	systems["dense"] = fromRows(make([][]float64, 0)...)
	rows := make([][]float64, 90)
	for i := range rows {
		rows[i] = randomVector(r, len(rows))
	}
	systems["dense"] = fromRows(rows...)
	for name, a := range systems {
		kinds := luKinds
		if name[0] == 'r' { // fronts may need pivots that are replaced
			kinds = []factor.LUKind{factor.Auto, factor.LeftLooking}
		}
		t.Run(name, func(t *testing.T) {
			for _, kind := range kinds {
				var first [][]float64
				for _, procs := range []int{1, 2, 5} {
					before := runtime.GOMAXPROCS(procs)
					x := solutions(t, a, kind)
					runtime.GOMAXPROCS(before)
					if first == nil {
						first = x
					}
					require.Equal(t, first, x, "%v, %d goroutines", kind, procs)
				}
			}
		})
	}
}

// Fronts solve most systems without large entries on the diagonal. They say so where they do not.
func TestInaccurateSolutionsAreReported(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	inaccurate := 0
	for range 300 {
		a := randomMatrix(t, r, 30+r.IntN(60))
		f, err := factor.NewLU(t.Context(), a, factor.LUOptions{Kind: factor.Multifrontal})
		require.NoError(t, err)
		b, x := randomVector(r, a.Rows), make([]float64, a.Rows)
		err = f.Apply(b, x)
		var e *factor.AccuracyError
		if errors.As(err, &e) {
			inaccurate++
			require.Contains(t, err.Error(), "backward error")
			continue
		}
		require.NoError(t, err)
		require.LessOrEqual(t, backwardError(a, false, x, b), 1e-10)
	}
	require.Less(t, inaccurate, 30)
}

func TestCholeskySolvesDefiniteSystems(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	systems := []*sparse.CSR[float64]{fromRows(), fromRows([]float64{4}), laplacian(30), laplacian(110), arrow(150)}
	for range 20 {
		systems = append(systems, definite(r, 1+r.IntN(200)))
	}
	for _, a := range systems {
		var first [][]float64
		for _, procs := range []int{1, 2, 5} {
			before := runtime.GOMAXPROCS(procs)
			f, err := factor.NewCholesky(t.Context(), a, factor.CholeskyOptions{})
			runtime.GOMAXPROCS(before)
			require.NoError(t, err)
			r := rand.New(rand.NewPCG(3, 3))
			var b, x [][]float64
			for range 18 {
				b, x = append(b, randomVector(r, a.Rows)), append(x, make([]float64, a.Rows))
			}
			require.NoError(t, f.ApplyMany(b, x))
			one := make([]float64, a.Rows)
			require.NoError(t, f.Apply(b[0], one))
			x = append(x, one)
			for k := range b {
				require.LessOrEqual(t, backwardError(a, false, x[k], b[k]), 1e-10)
			}
			require.LessOrEqual(t, backwardError(a, false, one, b[0]), 1e-10)
			require.NoError(t, f.Refactor(t.Context(), a))
			again := make([]float64, a.Rows)
			require.NoError(t, f.Apply(b[0], again))
			require.Equal(t, one, again)
			if first == nil {
				first = x
			}
			require.Equal(t, first, x)
		}
	}
}

func TestRefactorTakesNewValues(t *testing.T) {
	a := laplacian(30)
	scaled := *a
	scaled.Val = make([]float64, len(a.Val))
	for k, v := range a.Val {
		scaled.Val[k] = v * (1 + 0.3*math.Sin(float64(k)))
	}
	b := ones(a.Rows)
	for _, kind := range luKinds {
		f, err := factor.NewLU(t.Context(), a, factor.LUOptions{Kind: kind})
		require.NoError(t, err)
		require.NoError(t, f.Refactor(t.Context(), &scaled))
		x := make([]float64, a.Rows)
		require.NoError(t, f.Apply(b, x))
		require.LessOrEqual(t, backwardError(&scaled, false, x, b), 1e-14)
		other := laplacian(30)
		other.ColIdx[len(other.ColIdx)-2] = 5
		require.True(t, sparse.IsInput(f.Refactor(t.Context(), other)), "another pattern")
		require.True(t, sparse.IsInput(f.Refactor(t.Context(), laplacian(29))))
		x2 := make([]float64, a.Rows)
		require.NoError(t, f.Apply(b, x2))
		require.Equal(t, x, x2, "the factors stay")
	}
	c, err := factor.NewCholesky(t.Context(), a, factor.CholeskyOptions{})
	require.NoError(t, err)
	for k, v := range a.Val {
		scaled.Val[k] = 2 * v
	}
	require.NoError(t, c.Refactor(t.Context(), &scaled))
	x := make([]float64, a.Rows)
	require.NoError(t, c.Apply(b, x))
	require.LessOrEqual(t, backwardError(&scaled, false, x, b), 1e-13)
	require.True(t, sparse.IsInput(c.Refactor(t.Context(), laplacian(29))))
}

// Solves return the error of the last Refactor.
func TestFactorsAreNotUsedAfterRefactorFailed(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // laterEnded counts without a lock
	a, b := laplacian(20), ones(400)
	x := make([]float64, 400)
	for _, kind := range luKinds {
		f, err := factor.NewLU(t.Context(), a, factor.LUOptions{Kind: kind})
		require.NoError(t, err)
		want := f.Refactor(&laterEnded{t.Context(), 0, 1}, a)
		require.ErrorIs(t, want, context.Canceled, "%v", kind)
		require.Equal(t, want, f.Apply(b, x))
		require.Equal(t, want, f.ApplyMany([][]float64{b}, [][]float64{x}))
		require.True(t, math.IsInf(f.Condition(), 1))
		require.NoError(t, f.Refactor(t.Context(), a))
		require.NoError(t, f.Apply(b, x))
	}
	c, err := factor.NewCholesky(t.Context(), a, factor.CholeskyOptions{})
	require.NoError(t, err)
	indefinite := laplacian(20)
	for k, v := range indefinite.Val {
		if v == 4 {
			indefinite.Val[k] = 1
		}
	}
	require.ErrorIs(t, c.Refactor(t.Context(), indefinite), factor.ErrNotPositiveDefinite)
	require.ErrorIs(t, c.Apply(b, x), factor.ErrNotPositiveDefinite)
	require.ErrorIs(t, c.ApplyMany([][]float64{b}, [][]float64{x}), factor.ErrNotPositiveDefinite)
	require.NoError(t, c.Refactor(t.Context(), a))
	require.NoError(t, c.Apply(b, x))
}

// Values for which fronts are inaccurate change the kind.
func TestRefactorChangesTheKindWhereFrontsAreInaccurate(t *testing.T) {
	n := 300
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = make([]float64, n)
		rows[i][i], rows[i][(i+1)%n], rows[i][(i+n-1)%n] = 4, -1, -1
	}
	f, err := factor.NewLU(t.Context(), fromRows(rows...), factor.LUOptions{})
	require.NoError(t, err)
	require.Equal(t, factor.Multifrontal, f.Info().Kind)
	for i := range rows {
		rows[i][i], rows[i][(i+1)%n], rows[i][(i+n-1)%n] = 1e-12, float64(2+i%3), -1
	}
	a := fromRows(rows...)
	require.NoError(t, f.Refactor(t.Context(), a))
	b, x := ones(n), make([]float64, n)
	require.NoError(t, f.Apply(b, x))
	require.LessOrEqual(t, backwardError(a, false, x, b), 1e-10)
	require.Equal(t, factor.LeftLooking, f.Info().Kind)
}

func TestSingularMatricesAreRefused(t *testing.T) {
	for _, kind := range luKinds {
		_, err := factor.NewLU(t.Context(), fromRows([]float64{1, 2, 0}, []float64{0, 0, 0}, []float64{0, 3, 4}), factor.LUOptions{Kind: kind})
		var e *factor.SingularError
		require.ErrorAs(t, err, &e)
		require.True(t, e.Structural)
		require.Equal(t, []int{1}, e.Rows)
	}
	a := fromRows([]float64{1, 2, 3}, []float64{2, 4, 6}, []float64{1, 1, 1})
	_, err := factor.NewLU(t.Context(), a, factor.LUOptions{Kind: factor.LeftLooking})
	var e *factor.SingularError
	require.ErrorAs(t, err, &e)
	require.False(t, e.Structural)
	require.Len(t, e.Columns, 1)
	require.Contains(t, err.Error(), "no nonzero pivot")

	f, err := factor.NewLU(t.Context(), a, factor.LUOptions{Kind: factor.Multifrontal})
	require.NoError(t, err)
	require.Equal(t, 1, f.Info().Replaced)
	require.Greater(t, f.Condition(), 1e14)
}

func TestMatricesThatAreNotDefiniteAreRefused(t *testing.T) {
	for _, c := range []struct {
		a        *sparse.CSR[float64]
		row      string
		definite bool // false if that is the reason
	}{
		{fromRows([]float64{1, 2}, []float64{2, 1}), "", false},
		{fromRows([]float64{1, 0}, []float64{0, -1}), "row 1", false},
		{fromRows([]float64{1, 0}, []float64{0, 0}), "row 1", false},
		{fromRows([]float64{1, 1}, []float64{0, 1}), "", true},
		{fromRows([]float64{1, 0}, []float64{1, 1}), "", true},
		{fromRows([]float64{2, 1}, []float64{0.5, 2}), "", true},
	} {
		_, err := factor.NewCholesky(t.Context(), c.a, factor.CholeskyOptions{})
		require.True(t, sparse.IsInput(err))
		require.Equal(t, !c.definite, errors.Is(err, factor.ErrNotPositiveDefinite), "%v", err)
		require.ErrorContains(t, err, c.row)
	}
	a := laplacian(50)
	for k := range a.Val {
		if a.Val[k] == 4 {
			a.Val[k] = 3.9
		}
	}
	_, err := factor.NewCholesky(t.Context(), a, factor.CholeskyOptions{})
	require.ErrorIs(t, err, factor.ErrNotPositiveDefinite)
}

func TestConditionIsNearTheTrueOne(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for n := range 40 {
		a := randomMatrix(t, r, n)
		f, err := factor.NewLU(t.Context(), a, factor.LUOptions{Kind: factor.LeftLooking})
		require.NoError(t, err)
		// The inverse, column by column.
		inverse := 0.0
		for j := range n {
			e, x := make([]float64, n), make([]float64, n)
			e[j] = 1
			require.NoError(t, f.Apply(e, x))
			sum := 0.0
			for _, v := range x {
				sum += math.Abs(v)
			}
			inverse = math.Max(inverse, sum)
		}
		sums := make([]float64, n)
		norm := 0.0
		for i := range n { // duplicates are added
			row := make([]float64, n)
			for k := a.RowPtr[i]; k < a.RowPtr[i+1]; k++ {
				row[a.ColIdx[k]] += a.Val[k]
			}
			for j, v := range row {
				sums[j] += math.Abs(v)
				norm = math.Max(norm, sums[j])
			}
		}
		condition := f.Condition()
		require.LessOrEqual(t, condition, 1.01*norm*inverse)
		require.GreaterOrEqual(t, condition, norm*inverse/10)
	}
	c, err := factor.NewCholesky(t.Context(), fromRows([]float64{1, 0, 0}, []float64{0, 1e-8, 0}, []float64{0, 0, 5}), factor.CholeskyOptions{})
	require.NoError(t, err)
	require.InDelta(t, 5e8, c.Condition(), 1)
}

func TestKindsAreChosenByTheMatrix(t *testing.T) {
	for _, c := range []struct {
		a    *sparse.CSR[float64]
		want factor.LUKind
	}{
		{laplacian(20), factor.Multifrontal},
		{fromRows([]float64{1, 0}, []float64{0, 1}), factor.LeftLooking},
		{fromRows([]float64{0, 1, 0}, []float64{1, 0, 1}, []float64{1, 0, 0}), factor.LeftLooking},
	} {
		f, err := factor.NewLU(t.Context(), c.a, factor.LUOptions{})
		require.NoError(t, err)
		require.Equal(t, c.want, f.Info().Kind)
	}
	require.Equal(t, "auto multifrontal left-looking unknown", fmt.Sprint(factor.Auto, " ", factor.Multifrontal, " ", factor.LeftLooking, " ", factor.LUKind(9)))
}

func TestCompleteFactorsRefuseBadArguments(t *testing.T) {
	good := laplacian(3)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		ctx context.Context
		a   *sparse.CSR[float64]
		lu  factor.LUOptions
	}{
		"no matrix":  {t.Context(), nil, factor.LUOptions{}},
		"no context": {nil, good, factor.LUOptions{}},
		"rectangle":  {t.Context(), &sparse.CSR[float64]{Rows: 1, Cols: 2, RowPtr: []int64{0, 0}}, factor.LUOptions{}},
		"invalid":    {t.Context(), &sparse.CSR[float64]{Rows: 2, Cols: 2, RowPtr: []int64{0, 0}}, factor.LUOptions{}},
		"NaN":        {t.Context(), fromRows([]float64{1, math.NaN()}, []float64{0, 1}), factor.LUOptions{}},
		"Inf":        {t.Context(), fromRows([]float64{1, math.Inf(-1)}, []float64{0, 1}), factor.LUOptions{}},
		"kind":       {t.Context(), good, factor.LUOptions{Kind: 5}},
		"limit":      {t.Context(), good, factor.LUOptions{MaxBytes: -1}},
		"order":      {t.Context(), good, factor.LUOptions{Order: func(*sparse.CSR[float64]) ([]int32, error) { return []int32{0, 0, 1, 2, 3, 4, 5, 6, 7}, nil }}},
	} {
		_, err := factor.NewLU(c.ctx, c.a, c.lu)
		require.True(t, sparse.IsInput(err), "%s: %v", name, err)
		if name != "kind" {
			_, err = factor.NewCholesky(c.ctx, c.a, factor.CholeskyOptions{Order: c.lu.Order, MaxBytes: c.lu.MaxBytes})
			require.True(t, sparse.IsInput(err), "%s: %v", name, err)
		}
	}
	_, err := factor.NewLU(ended, good, factor.LUOptions{})
	require.ErrorIs(t, err, context.Canceled)
	_, err = factor.NewCholesky(ended, good, factor.CholeskyOptions{})
	require.ErrorIs(t, err, context.Canceled)

	f, err := factor.NewLU(t.Context(), good, factor.LUOptions{})
	require.NoError(t, err)
	c, err := factor.NewCholesky(t.Context(), good, factor.CholeskyOptions{})
	require.NoError(t, err)
	v := make([]float64, 9)
	for _, apply := range []func(b, x []float64) error{f.Apply, f.ApplyTransposed, c.Apply} {
		require.True(t, sparse.IsInput(apply(v, v)))
		require.True(t, sparse.IsInput(apply(v[:8], make([]float64, 9))))
		require.True(t, sparse.IsInput(apply(v, nil)))
	}
	for _, many := range []func(b, x [][]float64) error{f.ApplyMany, c.ApplyMany} {
		require.NoError(t, many(nil, nil))
		require.True(t, sparse.IsInput(many([][]float64{v}, nil)))
		x := make([]float64, 9)
		require.True(t, sparse.IsInput(many([][]float64{v, v}, [][]float64{x, x})))
		require.True(t, sparse.IsInput(many([][]float64{v}, [][]float64{v[:3]})))
	}
	v[4] = math.NaN()
	require.True(t, sparse.IsInput(f.Apply(v, make([]float64, 9))))
}

// laterEnded is a context that ends when it is asked for the time given.
type laterEnded struct {
	context.Context
	asked, end int
}

func (c *laterEnded) Err() error {
	if c.asked++; c.asked > c.end {
		return context.Canceled
	}
	return nil
}

func TestAFactorisationEndsWithItsContext(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // laterEnded counts without a lock
	a := laplacian(60)
	for end := range 60 {
		_, err := factor.NewLU(&laterEnded{t.Context(), 0, end}, a, factor.LUOptions{})
		require.ErrorIs(t, err, context.Canceled)
		_, err = factor.NewCholesky(&laterEnded{t.Context(), 0, end}, a, factor.CholeskyOptions{})
		require.ErrorIs(t, err, context.Canceled)
	}
}

func TestFactorsThatDoNotFitAreRefusedBeforeTheyAreComputed(t *testing.T) {
	a := laplacian(60)
	for _, kind := range luKinds {
		_, err := factor.NewLU(t.Context(), a, factor.LUOptions{Kind: kind, MaxBytes: 100_000})
		var e *factor.MemoryError
		require.ErrorAs(t, err, &e, "%v", kind)
		require.True(t, sparse.IsInput(err))
		require.EqualValues(t, 100_000, e.Have)
		require.Greater(t, e.Need, e.Have)
	}
	_, err := factor.NewCholesky(t.Context(), a, factor.CholeskyOptions{MaxBytes: 100_000})
	var e *factor.MemoryError
	require.ErrorAs(t, err, &e)
	have := e.Need
	_, err = factor.NewCholesky(t.Context(), a, factor.CholeskyOptions{MaxBytes: have})
	require.NoError(t, err)

	large := laplacian(250)
	defer mem.SetAvailable(8 << 20)()
	_, err = factor.NewLU(t.Context(), large, factor.LUOptions{Kind: factor.Multifrontal})
	require.ErrorAs(t, err, &e)
	_, err = factor.NewCholesky(t.Context(), large, factor.CholeskyOptions{})
	require.ErrorAs(t, err, &e)
}

// Every system that SuperLU solves is solved by complete factors about as accurately. MSREP_FACTOR_ROWS is the number of
// rows up to which they are tried.
func TestRealSystemsAreSolvedCompletely(t *testing.T) {
	most := corpus.EnvInt(t, "MSREP_FACTOR_ROWS", 5000)
	solved, definite := 0, 0
	for _, row := range corpus.Table(t, corpus.Shared(t, "expected", "systems.tsv")) {
		if rows, err := strconv.Atoi(row["rows"]); err != nil || rows > most {
			continue
		}
		a := systemOf(t, row["name"])
		superLU, err := strconv.ParseFloat(row["lu_residual"], 64)
		require.NoError(t, err, row["name"])
		enough := math.Max(1e-12, 100*superLU)
		b, x := ones(a.Rows), make([]float64, a.Rows)
		f, err := factor.NewLU(t.Context(), a, factor.LUOptions{})
		require.NoError(t, err, row["name"])
		require.NoError(t, f.Apply(b, x), row["name"])
		require.LessOrEqual(t, relativeResidual(a, b, x), enough, "%s, %v", row["name"], f.Info().Kind)
		require.LessOrEqual(t, backwardError(a, false, x, b), 1e-10, row["name"])
		solved++

		c, err := factor.NewCholesky(t.Context(), a, factor.CholeskyOptions{})
		if err != nil {
			require.True(t, sparse.IsInput(err))
			continue
		}
		require.NoError(t, c.Apply(b, x))
		require.LessOrEqual(t, relativeResidual(a, b, x), enough, "%s, Cholesky", row["name"])
		definite++
	}
	t.Logf("%d systems, %d of them definite", solved, definite)
	require.Greater(t, solved, 100)
	require.Greater(t, definite, 30)
}

func TestSeveralGoroutinesSolveAtOnce(t *testing.T) {
	a := laplacian(60)
	b := randomVector(rand.New(rand.NewPCG(8, 8)), a.Rows)
	for _, kind := range luKinds {
		f, err := factor.NewLU(t.Context(), a, factor.LUOptions{Kind: kind})
		require.NoError(t, err)
		want := make([]float64, a.Rows)
		require.NoError(t, f.Apply(b, want))
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				x := make([]float64, a.Rows)
				for range 5 {
					if err := f.Apply(b, x); err != nil {
						t.Error(err)
					}
				}
				if !slices.Equal(want, x) {
					t.Errorf("%v: another solution", kind)
				}
			})
		}
		group.Wait()
	}
}

package factor_test

import (
	"context"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/solver/factor"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/order"
)

// Without drops and bounds, ILUT is a complete LU: its solutions have a small backward error.
func TestCompleteILUTSolves(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 60 {
		a := randomMatrix(t, r, n)
		opt := complete
		opt.Unmatched = n%3 == 0
		if n%4 == 1 {
			opt.Order = factor.Natural
		}
		opt.Pivot = 1
		f, err := factor.NewILUT(t.Context(), a, opt)
		require.NoError(t, err)
		require.Equal(t, n, f.Size())
		if !opt.Unmatched {
			require.Zero(t, f.Info().Replaced)
		}
		for _, transposed := range []bool{false, true} {
			b, x := randomVector(r, n), make([]float64, n)
			if transposed {
				require.NoError(t, f.ApplyTransposed(b, x))
			} else {
				require.NoError(t, f.Apply(b, x))
			}
			y, size := multiply(a, transposed, x)
			norm, worst := 0.0, 0.0
			for i := range y {
				norm = max(norm, size[i]+math.Abs(b[i]))
				worst = max(worst, math.Abs(y[i]-b[i]))
			}
			require.LessOrEqual(t, worst, 1e-8*norm, "n = %d, transposed %v", n, transposed)
		}
	}
}

// L U z[q] = r[p] with the matrices and orders that the accessors give.
func TestTrianglesAndOrdersAreThoseOfApply(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for name, build := range kinds {
		for _, n := range []int{0, 1, 2, 17, 64} {
			a := laplacian(int(math.Sqrt(float64(n))))
			if name != "ic0" {
				a = randomMatrix(t, r, n)
			}
			n := a.Rows
			f, err := build(t.Context(), a)
			require.NoError(t, err)
			l, u := f.Lower(), f.Upper()
			require.NoError(t, l.Validate())
			require.NoError(t, u.Validate())
			require.Equal(t, f.Info().NNZ, l.NNZ()+u.NNZ()-int64(n))
			for i := range n {
				last := l.RowPtr[i+1] - 1
				require.Equal(t, int32(i), l.ColIdx[last])
				require.Equal(t, 1.0, l.Val[last])
				require.Equal(t, int32(i), u.ColIdx[u.RowPtr[i]])
			}
			b, z := randomVector(r, n), make([]float64, n)
			require.NoError(t, f.Apply(b, z))
			inner := make([]float64, n)
			for i := range inner {
				inner[i] = z[place(f.Cols(), i)]
			}
			uz, uzSize := multiply(u, false, inner)
			luz, _ := multiply(l, false, uz)
			_, size := multiply(l, false, uzSize)
			for i := range luz {
				want := b[place(f.Rows(), i)]
				require.InDelta(t, want, luz[i], 1e-13*(size[i]+math.Abs(want)), "%s, n = %d", name, n)
			}
		}
	}
}

func place(p []int32, i int) int {
	if p == nil {
		return i
	}
	return int(p[i])
}

func TestTheTransposedPreconditionerIsTheTranspose(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for name, build := range kinds {
		a := laplacian(9)
		if name != "ic0" {
			a = randomMatrix(t, r, 81)
		}
		f, err := build(t.Context(), a)
		require.NoError(t, err)
		n := f.Size()
		for range 5 {
			x, y := randomVector(r, n), randomVector(r, n)
			mx, my := make([]float64, n), make([]float64, n)
			require.NoError(t, f.Apply(x, mx))
			require.NoError(t, f.ApplyTransposed(y, my))
			left, right, size := 0.0, 0.0, 0.0
			for i := range x {
				left += y[i] * mx[i]
				right += my[i] * x[i]
				size += math.Abs(y[i]*mx[i]) + math.Abs(my[i]*x[i])
			}
			require.InDelta(t, left, right, 1e-10*size, name)
		}
	}
}

// Scales of rows and columns do not change what the factors do.
func TestScalingTheMatrixScalesThePreconditioner(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	a := randomMatrix(t, r, 80)
	left, right := make([]float64, 80), make([]float64, 80)
	for i := range left {
		left[i], right[i] = math.Ldexp(1, r.IntN(81)-40), math.Ldexp(1, r.IntN(81)-40)
	}
	scaled, err := sparse.Scale(a, left, right)
	require.NoError(t, err)
	opt := complete
	f, err := factor.NewILUT(t.Context(), a, opt)
	require.NoError(t, err)
	g, err := factor.NewILUT(t.Context(), scaled, opt)
	require.NoError(t, err)
	b := randomVector(r, 80)
	x, y := make([]float64, 80), make([]float64, 80)
	require.NoError(t, f.Apply(b, x))
	for i := range b {
		b[i] *= left[i]
	}
	require.NoError(t, g.Apply(b, y))
	for i := range y {
		require.InEpsilon(t, x[i], y[i]*right[i], 1e-6)
	}
}

func TestRefactorGivesTheFactorsOfANewMatrix(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for name, build := range kinds {
		a, other := laplacian(8), laplacian(8)
		for k, v := range other.Val {
			other.Val[k] = v * 3
		}
		if name != "ic0" {
			a, other = randomMatrix(t, r, 64), randomMatrix(t, r, 64)
		}
		f, err := build(t.Context(), a)
		require.NoError(t, err)
		b, before, x, y := randomVector(r, 64), make([]float64, 64), make([]float64, 64), make([]float64, 64)
		require.NoError(t, f.Apply(b, before))
		require.NoError(t, f.Refactor(t.Context(), other))
		require.NoError(t, f.Apply(b, x))
		require.NotEqual(t, before, x)
		if name != "ilut" { // ILUT has another order than for a
			g, err := build(t.Context(), other)
			require.NoError(t, err)
			require.NoError(t, g.Apply(b, y))
			require.Equal(t, y, x, name)
		}
		require.NoError(t, f.Refactor(t.Context(), a))
		require.NoError(t, f.Apply(b, x))
		require.Equal(t, before, x, name)

		bad := laplacian(8)
		bad.Val[7] = math.NaN()
		require.Error(t, f.Refactor(t.Context(), bad))
		err = f.Refactor(t.Context(), laplacian(7))
		require.EqualError(t, err, "matrix: 49 rows: the factors have 64")
		require.NoError(t, f.Apply(b, x))
		require.Equal(t, before, x, "a refactorisation that fails changes nothing")
	}
}

func TestFactorsHaveTheSameBitsOnAnyNumberOfGoroutines(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	a := randomMatrix(t, rand.New(rand.NewPCG(11, 12)), 3000)
	elements := randomVector(rand.New(rand.NewPCG(13, 14)), 3600)
	for name, build := range kinds {
		a := a
		if name == "ic0" {
			a = laplacian(60)
		}
		b := elements[:a.Rows]
		var want, transposed []float64
		for _, p := range []int{1, 2, 5} {
			runtime.GOMAXPROCS(p)
			f, err := build(t.Context(), a)
			require.NoError(t, err)
			x, y := make([]float64, a.Rows), make([]float64, a.Rows)
			require.NoError(t, f.Apply(b, x))
			require.NoError(t, f.ApplyTransposed(b, y))
			if want == nil {
				want, transposed = x, y
			}
			require.Equal(t, want, x, "%s, %d", name, p)
			require.Equal(t, transposed, y, "%s, %d", name, p)
		}
	}
}

func TestSeveralGoroutinesMayApply(t *testing.T) {
	f, err := factor.NewILUT(t.Context(), laplacian(20), factor.ILUTOptions{})
	require.NoError(t, err)
	b, want := randomVector(rand.New(rand.NewPCG(1, 1)), 400), make([]float64, 400)
	require.NoError(t, f.Apply(b, want))
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			x := make([]float64, 400)
			for range 50 {
				if err := f.Apply(b, x); err != nil {
					t.Error(err)
				}
			}
			for i := range x {
				if x[i] != want[i] {
					t.Errorf("element %d differs", i)
					return
				}
			}
		})
	}
	group.Wait()
}

func TestMatricesThatCannotBeFactored(t *testing.T) {
	valid := func() *sparse.CSR[float64] { return laplacian(3) }
	column := valid() // column 4 has no entries
	for k, j := range column.ColIdx {
		if j == 4 {
			column.ColIdx[k] = 3
		}
	}
	nan, inf, wide := valid(), valid(), valid()
	nan.Val[3], inf.Val[3], wide.Cols = math.NaN(), math.Inf(-1), 10
	broken := valid()
	broken.ColIdx[3] = 9
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, build := range kinds {
		if name != "ic0" {
			_, err := build(t.Context(), column)
			var singular *factor.SingularError
			require.ErrorAs(t, err, &singular, name)
			require.True(t, singular.Structural)
			require.Equal(t, []int{4}, singular.Columns)
			require.Len(t, singular.Rows, 1)
		}
		for _, c := range []struct {
			a    *sparse.CSR[float64]
			text string
		}{
			{nil, "matrix: is nil"},
			{nan, "matrix: row 1, column 0: NaN is not finite"},
			{inf, "matrix: row 1, column 0: -Inf is not finite"},
			{wide, "matrix: 9 x 10: factors need a square one"},
			{broken, ""},
		} {
			f, err := build(t.Context(), c.a)
			require.Nil(t, f)
			require.True(t, sparse.IsInput(err), "%s: %v", name, err)
			if c.text != "" {
				require.EqualError(t, err, c.text)
			}
		}
		_, err := build(ended, valid())
		require.ErrorIs(t, err, context.Canceled)
		_, err = build(nil, valid()) //nolint:staticcheck // a nil context is the case
		require.True(t, sparse.IsInput(err))
	}
}

func TestOptionsOutOfRange(t *testing.T) {
	for text, opt := range map[string]factor.ILUTOptions{
		"drop: -1: use a number from 0 to 1":   {Drop: -1},
		"drop: 2: use a number from 0 to 1":    {Drop: 2},
		"fill: -3: use a positive number":      {Fill: -3},
		"fill: NaN: use a positive number":     {Fill: math.NaN()},
		"pivot: 1.5: use a number from 0 to 1": {Pivot: 1.5},
	} {
		_, err := factor.NewILUT(t.Context(), laplacian(3), opt)
		require.EqualError(t, err, text)
		require.True(t, sparse.IsInput(err))
	}
	short := func(*sparse.CSR[float64]) ([]int32, error) { return []int32{1, 0}, nil }
	_, err := factor.NewILU0(t.Context(), laplacian(3), factor.ILU0Options{Order: short})
	require.EqualError(t, err, "order: a permutation of 9 elements has 2")
	panics := func(*sparse.CSR[float64]) ([]int32, error) { panic("no order") }
	_, err = factor.NewILU0(t.Context(), laplacian(3), factor.ILU0Options{Order: panics})
	require.ErrorContains(t, err, "no order")
}

func TestApplyChecksItsVectors(t *testing.T) {
	f, err := factor.NewILU0(t.Context(), laplacian(3), factor.ILU0Options{})
	require.NoError(t, err)
	v, w := make([]float64, 9), make([]float64, 9)
	require.EqualError(t, f.Apply(v[:8], w), "r: 8 elements: the factors have 9 rows")
	require.EqualError(t, f.ApplyTransposed(v, w[:8]), "z: 8 elements: the factors have 9 rows")
	require.EqualError(t, f.Apply(v, v), "z: shares memory with r")
}

func TestFactorsThatDoNotFitAreAnError(t *testing.T) {
	a := laplacian(150)
	opt := complete
	opt.Order = factor.Natural
	for _, have := range []int64{2_000_000, 12_000_000} { // before the factorisation, and during it
		func() {
			defer mem.SetAvailable(have)()
			_, err := factor.NewILUT(t.Context(), a, opt)
			require.True(t, sparse.IsInput(err), "%v", err)
			require.ErrorContains(t, err, "22500 rows, 111900 entries: its incomplete factors take")
		}()
	}
	_, err := factor.NewILUT(t.Context(), a, opt)
	require.NoError(t, err)
}

func TestFactorsThatOverflowAreAnError(t *testing.T) {
	a, err := sparse.FromTriples(2, 2, []int32{0, 0, 1, 1}, []int32{0, 1, 0, 1}, []float64{1e-150, 1e-150, 1e200, -1e200})
	require.NoError(t, err)
	for _, unmatched := range []bool{false, true} {
		_, err = factor.NewILU0(t.Context(), a, factor.ILU0Options{Unmatched: unmatched})
		require.EqualError(t, err, "matrix: its incomplete factors overflow: scale it, or drop less")
		require.True(t, sparse.IsInput(err))
	}
}

// An order changes the factors, not what a complete factorisation solves.
func TestOrdersOfILU0(t *testing.T) {
	a := laplacian(12)
	shuffled := make([]int32, a.Rows)
	for i, k := range rand.New(rand.NewPCG(3, 3)).Perm(a.Rows) {
		shuffled[i] = int32(k)
	}
	for name, by := range map[string]factor.Order{
		"natural":  factor.Natural,
		"amd":      order.AMD[float64],
		"shuffled": func(*sparse.CSR[float64]) ([]int32, error) { return shuffled, nil },
	} {
		f, err := factor.NewILU0(t.Context(), a, factor.ILU0Options{Order: by})
		require.NoError(t, err)
		require.Equal(t, a.NNZ(), f.Info().NNZ)
		require.Equal(t, f.Rows(), f.Cols(), name)
		if name == "shuffled" {
			require.Equal(t, shuffled, f.Cols())
		}
	}
}

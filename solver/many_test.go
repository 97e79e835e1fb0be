package solver

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/solver/internal/space"
	"github.com/msrep-go/msrep/sparse"
)

// counting counts the products of a plan.
type counting struct {
	*msrep.Plan[float64]
	one, many int
	left      int // products of several vectors before they fail
	err       error
}

func (c *counting) SpMV(ctx context.Context, op msrep.Transpose, alpha float64, x []float64, beta float64, y []float64) error {
	c.one++
	return c.Plan.SpMV(ctx, op, alpha, x, beta, y)
}

func (c *counting) SpMM(ctx context.Context, op msrep.Transpose, alpha float64, x msrep.MultiVector[float64], beta float64, y msrep.MultiVector[float64]) error {
	if c.many++; c.err != nil && c.many > c.left {
		return c.err
	}
	return c.Plan.SpMM(ctx, op, alpha, x, beta, y)
}

func TestCGManyFindsTheSolutionsOfCG(t *testing.T) {
	// Enough rows that the sums of 9 systems have two chunks.
	a := laplacian(t, "stencil:n=32,points=5")
	for i := range a.Rows { // so that Jacobi has something to do
		for k := a.RowPtr[i]; k < a.RowPtr[i+1]; k++ {
			a.Val[k] *= (1 + float64(i%5)) * (1 + float64(a.ColIdx[k]%5))
		}
	}
	jacobi, err := Jacobi(a)
	require.NoError(t, err)
	n := a.Rows
	plan := planOn(t, "cpu:2", a)
	rapid.Check(t, func(t *rapid.T) {
		count := rapid.IntRange(1, 9).Draw(t, "systems")
		block := func(name string) msrep.MultiVector[float64] {
			b := msrep.MultiVector[float64]{Count: count, Stride: count + 1, ByColumn: rapid.Bool().Draw(t, name+" by column")}
			b.Val = make([]float64, n*b.Stride)
			if b.ByColumn {
				b.Stride = n + 3
				b.Val = make([]float64, count*b.Stride)
			}
			return b
		}
		b, x := block("b"), block("x")
		opt := Options{Precond: []Preconditioner{nil, jacobi, identity{n}}[rapid.IntRange(0, 2).Draw(t, "precond")]}
		rhs := make([][]float64, count)
		for j := range count {
			rhs[j] = make([]float64, n)
			exp := rapid.SampledFrom([]int{0, 0, -900, 900}).Draw(t, "exponent")
			for i := range rhs[j] {
				rhs[j][i] = math.Ldexp(math.Sin(float64(i*(j+1))), exp)
			}
			if rapid.IntRange(0, 5).Draw(t, "zero") == 0 {
				clear(rhs[j])
			}
			b.Set(j, rhs[j])
		}
		op := &counting{Plan: plan}
		most := 0
		opt.Progress = func(i int, _ float64) { most = i }
		res, err := CGMany(context.Background(), op, b, x, opt)
		require.NoError(t, err)
		require.Len(t, res, count)
		longest := 0
		got := make([]float64, n)
		for j, r := range res {
			require.True(t, r.Converged)
			want := make([]float64, n)
			alone, err := CG(context.Background(), plan, rhs[j], want, Options{Precond: opt.Precond})
			require.NoError(t, err)
			require.InDelta(t, alone.Iterations, r.Iterations, 2)
			require.Len(t, r.History, r.Iterations+1)
			longest = max(longest, r.Iterations)
			x.Get(j, got)
			size := space.LargestOf(want)
			for i := range got {
				require.LessOrEqual(t, math.Abs(got[i]-want[i]), 1e-6*size)
			}
		}
		require.Equal(t, longest, most)
		require.LessOrEqual(t, op.many, longest+1, "one for all systems in an iteration")
		require.LessOrEqual(t, op.one, 3*count, "and one to see that a system is solved")
	})
}

// lying is a plan with one wrong product: number at of the products with beta = 0. For several vectors only one is wrong.
type lying struct {
	*msrep.Plan[float64]
	at, calls, vector int
}

// lies reports whether this product is the wrong one.
func (l *lying) lies(beta float64) bool {
	if beta == 0 {
		l.calls++
	}
	return beta == 0 && l.calls == l.at
}

func (l *lying) SpMV(ctx context.Context, op msrep.Transpose, alpha float64, x []float64, beta float64, y []float64) error {
	if l.lies(beta) {
		alpha *= 1.01
	}
	return l.Plan.SpMV(ctx, op, alpha, x, beta, y)
}

func (l *lying) SpMM(ctx context.Context, op msrep.Transpose, alpha float64, x msrep.MultiVector[float64], beta float64, y msrep.MultiVector[float64]) error {
	lies := l.lies(beta)
	err := l.Plan.SpMM(ctx, op, alpha, x, beta, y)
	for i := 0; lies && i < len(y.Val); i += y.Stride {
		y.Val[i+l.vector] *= 1.01
	}
	return err
}

func TestSystemsThatRestartContinueLikeCG(t *testing.T) {
	const count, at, wrong = 3, 5, 1
	a := laplacian(t, "stencil:n=20,points=5")
	for i := range a.Rows { // for Jacobi
		for k := a.RowPtr[i]; k < a.RowPtr[i+1]; k++ {
			a.Val[k] *= (1 + float64(i%5)) * (1 + float64(a.ColIdx[k]%5))
		}
	}
	jacobi, err := Jacobi(a)
	require.NoError(t, err)
	plan := planOn(t, "cpu:1", a)
	for _, precond := range []Preconditioner{nil, jacobi, identity{a.Rows}} {
		b, x := msrep.MultiVectorByRow(sines(count*a.Rows), count), msrep.MultiVectorByRow(make([]float64, count*a.Rows), count)
		res, err := CGMany(t.Context(), &lying{Plan: plan, at: at, vector: wrong}, b, x, Options{Precond: precond})
		require.NoError(t, err)
		for j, r := range res {
			op := &lying{Plan: plan}
			if j == wrong {
				op.at = at
			}
			right, got, want := make([]float64, a.Rows), make([]float64, a.Rows), make([]float64, a.Rows)
			b.Get(j, right)
			x.Get(j, got)
			alone, err := CG(t.Context(), op, right, want, Options{Precond: precond})
			require.NoError(t, err)
			require.Equal(t, j == wrong, alone.Products > alone.Iterations+2, "it restarted")
			require.InDelta(t, alone.Products, r.Products, 3)
			require.InDeltaSlice(t, want, got, 1e-7*space.LargestOf(want))
		}
	}
}

func TestFirstGuessesThatOverflowWhenScaledAreDropped(t *testing.T) {
	a := laplacian(t, "stencil:n=8,points=5")
	b := msrep.MultiVectorByRow(scaledBy(sines(a.Rows), -900), 1)
	x := msrep.MultiVectorByRow(slices.Repeat([]float64{1e305}, a.Rows), 1)
	res, err := CGMany(t.Context(), planOn(t, "cpu:1", a), b, x, Options{})
	require.NoError(t, err)
	require.InDelta(t, 1, res[0].History[0], 1e-15)
}

func TestSystemsThatFailDoNotStopOthers(t *testing.T) {
	// The block of b_0 is positive definite, that of b_1 is not.
	a := dense(t, []float64{4, 1, 0, 0}, []float64{1, 3, 0, 0}, []float64{0, 0, -1, 0}, []float64{0, 0, 0, -2})
	b := msrep.MultiVectorByRow([]float64{1, 0, 2, 0, 0, 1, 0, 1}, 2)
	x := msrep.MultiVectorByRow(make([]float64, 8), 2)
	res, err := CGMany(t.Context(), planOn(t, "cpu:1", a), b, x, Options{})
	require.ErrorIs(t, err, ErrBreakdown)
	require.ErrorContains(t, err, "system 1: cg: breakdown")
	require.True(t, res[0].Converged)
	require.False(t, res[1].Converged)
	require.InDelta(t, 1.0/11, x.Val[0], 1e-9)
	require.InDelta(t, 7.0/11, x.Val[2], 1e-9)
	require.Equal(t, []float64{0, 0}, []float64{x.Val[5], x.Val[7]}, "the other stays where it was")

	l := laplacian(t, "stencil:n=20,points=5")
	many := msrep.MultiVectorByRow(make([]float64, 3*l.Rows), 3)
	for i := range many.Val {
		many.Val[i] = math.Cos(float64(i))
	}
	res, err = CGMany(t.Context(), planOn(t, "cpu:1", l), many, msrep.MultiVectorByRow(make([]float64, 3*l.Rows), 3), Options{MaxIter: 4})
	require.ErrorIs(t, err, ErrNotConverged)
	for _, r := range res {
		require.Equal(t, 4, r.Iterations)
		require.Less(t, r.Residual, 1.0)
	}
}

func TestFailuresEndAllSystems(t *testing.T) {
	a := laplacian(t, "stencil:n=20,points=5")
	broken := errors.New("device lost")
	b, x := msrep.MultiVectorByRow(sines(2*a.Rows), 2), msrep.MultiVectorByRow(make([]float64, 2*a.Rows), 2)
	for left := range 4 {
		res, err := CGMany(t.Context(), &counting{Plan: planOn(t, "cpu:1", a), err: broken, left: left}, b, x, Options{})
		require.ErrorIs(t, err, broken)
		require.Nil(t, res)
	}
	_, err := CGMany(t.Context(), planOn(t, "cpu:1", a), b, x, Options{Precond: &fragile{n: a.Rows, left: 3, err: broken}})
	require.ErrorIs(t, err, broken)
	ctx, cancel := context.WithCancel(t.Context())
	_, err = CGMany(ctx, planOn(t, "cpu:1", a), b, x, Options{Progress: func(int, float64) { cancel() }})
	require.ErrorIs(t, err, context.Canceled)
}

func TestSystemsWhoseGuessIsTheSolutionAreDoneAtOnce(t *testing.T) {
	a := laplacian(t, "stencil:n=8,points=5")
	plan := planOn(t, "cpu:1", a)
	want, b := sines(a.Rows), make([]float64, a.Rows)
	err := plan.SpMV(t.Context(), msrep.NoTrans, 1, want, 0, b)
	require.NoError(t, err)
	block := func(v []float64) msrep.MultiVector[float64] {
		return msrep.MultiVector[float64]{Val: slices.Concat(v, scaledBy(v, 900)), Count: 2, Stride: len(v), ByColumn: true}
	}
	x := block(want)
	res, err := CGMany(t.Context(), plan, block(b), x, Options{})
	require.NoError(t, err)
	require.Equal(t, block(want).Val, x.Val)
	for _, r := range res {
		require.Zero(t, r.Iterations)
		require.Len(t, r.History, 1)
	}
	require.Equal(t, res[0].Products+1, res[1].Products, "one to see that it is solved in its own units")
}

func TestBadMultiVectorsOfSystemsAreRefused(t *testing.T) {
	a := dense(t, []float64{2, 1}, []float64{1, 2})
	plan := planOn(t, "cpu:1", a)
	good := func() msrep.MultiVector[float64] { return msrep.MultiVectorByRow([]float64{1, 2, 3, 4}, 2) }
	same := good()
	for _, c := range []struct {
		b, x msrep.MultiVector[float64]
		opt  Options
		says string
	}{
		{msrep.MultiVectorByRow([]float64{1, 2}, 1), good(), Options{}, "x: 2 vectors: b has 1"},
		{msrep.MultiVectorByRow([]float64{1, 2}, 2), good(), Options{}, "b: 2 elements"},
		{msrep.MultiVectorByRow([]float64{1, 2, math.NaN(), 4}, 2), good(), Options{}, "b: element 1 of vector 0 is NaN"},
		{same, same, Options{}, "x: shares memory"},
		{good(), good(), Options{Tol: 3}, "tolerance"},
		{good(), good(), Options{Precond: identity{3}}, "preconditioner"},
	} {
		_, err := CGMany(t.Context(), plan, c.b, c.x, c.opt)
		require.True(t, sparse.IsInput(err), "%v", err)
		require.ErrorContains(t, err, c.says)
	}
	_, err := CGMany(t.Context(), nil, good(), good(), Options{})
	require.True(t, sparse.IsInput(err))
	empty := planOn(t, "cpu:1", dense(t))
	res, err := CGMany(t.Context(), empty, msrep.MultiVectorByRow([]float64{}, 3), msrep.MultiVectorByRow([]float64{}, 3), Options{})
	require.NoError(t, err)
	require.Len(t, res, 3)
}

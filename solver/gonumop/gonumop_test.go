package gonumop_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/exp/linsolve"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/solver"
	"github.com/msrep-go/msrep/solver/gonumop"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/gen"
)

func planOf(t testing.TB, spec string) (*sparse.CSR[float64], *msrep.Plan[float64]) {
	a, _, err := gen.Generate(spec)
	require.NoError(t, err)
	sys, err := msrep.Open(msrep.Config{Devices: "cpu:1"})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, sys.Close()) })
	plan, err := msrep.NewPlan(context.Background(), sys, a, msrep.PlanOptions{Storage: msrep.Storage{Format: sparse.FormatCSR}})
	require.NoError(t, err)
	return a, plan
}

func TestMethodsOfGonumFindTheSolutionsOfOurs(t *testing.T) {
	a, plan := planOf(t, "stencil:n=40,points=5")
	b := make([]float64, a.Rows)
	for i := range b {
		b[i] = math.Sin(float64(i + 1))
	}
	want := make([]float64, a.Rows)
	_, err := solver.CG(t.Context(), plan, b, want, solver.Options{Tol: 1e-12})
	require.NoError(t, err)
	for name, method := range map[string]linsolve.Method{
		"CG": &linsolve.CG{}, "BiCG": &linsolve.BiCG{}, "BiCGStab": &linsolve.BiCGStab{}, "GMRES": &linsolve.GMRES{Restart: 100},
	} {
		op := gonumop.New(t.Context(), plan)
		res, err := linsolve.Iterative(op, mat.NewVecDense(a.Rows, b), method, &linsolve.Settings{Tolerance: 1e-11})
		require.NoError(t, err, name)
		require.NoError(t, op.Err())
		require.InDeltaSlice(t, want, res.X.RawVector().Data, 1e-7, name)
	}
}

func TestVectorsOfAnyKindMultiply(t *testing.T) {
	a, plan := planOf(t, "random:rows=20,cols=30,nnz=100")
	d, err := gonumop.ToDense(a, 600)
	require.NoError(t, err)
	r := rand.New(rand.NewPCG(1, 1))
	for _, trans := range []bool{false, true} {
		rows, cols := 20, 30
		var m mat.Matrix = d
		if trans {
			rows, cols, m = 30, 20, d.T()
		}
		many := mat.NewDense(cols, 3, nil)
		for i := range cols {
			many.Set(i, 1, r.NormFloat64())
		}
		x := many.ColView(1)
		var want mat.VecDense
		want.MulVec(m, x)
		op := gonumop.New(t.Context(), plan)
		stride := mat.NewDense(rows, 2, nil).ColView(1).(*mat.VecDense)
		for _, dst := range []*mat.VecDense{new(mat.VecDense), mat.NewVecDense(rows, nil), stride} {
			op.MulVecTo(dst, trans, x)
			require.NoError(t, op.Err())
			require.True(t, mat.EqualApprox(&want, dst, 1e-12))
		}
	}
}

func TestFailedProductsAreNaNFromThenOn(t *testing.T) {
	_, plan := planOf(t, "diag:n=3")
	op := gonumop.New(t.Context(), plan)
	dst := mat.NewVecDense(3, nil)
	op.MulVecTo(dst, false, mat.NewVecDense(2, nil))
	require.True(t, sparse.IsInput(op.Err()))
	require.True(t, math.IsNaN(dst.AtVec(2)))
	op.MulVecTo(dst, false, mat.NewVecDense(3, nil))
	require.True(t, math.IsNaN(dst.AtVec(0)))

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	op = gonumop.New(ctx, plan)
	_, err := linsolve.Iterative(op, mat.NewVecDense(3, []float64{1, 1, 1}), &linsolve.CG{}, nil)
	require.Error(t, errors.Join(err, op.Err()))
	require.ErrorIs(t, op.Err(), context.Canceled)
}

func TestAPlanIsAMatrixOfGonum(t *testing.T) {
	a, plan := planOf(t, "random:rows=7,cols=5,nnz=12")
	d, err := gonumop.ToDense(a, 35)
	require.NoError(t, err)
	op := gonumop.New(t.Context(), plan)
	require.True(t, mat.Equal(d, op))
	require.True(t, mat.Equal(d.T(), op.T()))
	require.Equal(t, fmt.Sprint(mat.Formatted(d)), fmt.Sprint(mat.Formatted(op)))
	var want, got mat.Dense
	want.Mul(d.T(), d)
	got.Mul(op.T(), op)
	require.True(t, mat.EqualApprox(&want, &got, 1e-14))
	require.NoError(t, op.Err())
	require.Panics(t, func() { op.At(7, 0) })
	require.Panics(t, func() { op.At(0, -1) })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	op = gonumop.New(ctx, plan)
	require.True(t, math.IsNaN(op.At(6, 4)))
	require.ErrorIs(t, op.Err(), context.Canceled)
}

func TestVectorsOfASystemAreVectorsOfGonum(t *testing.T) {
	a, plan := planOf(t, "random:rows=20,cols=30,nnz=100")
	x, err := plan.ColumnVector()
	require.NoError(t, err)
	require.NoError(t, x.Fill(2))
	vec, err := gonumop.VecOf(x)
	require.NoError(t, err)
	require.Equal(t, 30, vec.Len())
	require.Equal(t, 60.0, mat.Sum(vec))
	vec.SetVec(29, 5)
	host := make([]float64, 30)
	require.NoError(t, x.Read(host))
	require.Equal(t, 5.0, host[29], "it is the same memory")
	var want, got mat.VecDense
	want.MulVec(gonumop.Matrix{A: a}, vec)
	op := gonumop.New(t.Context(), plan)
	op.MulVecTo(&got, false, vec)
	require.NoError(t, op.Err())
	require.True(t, mat.EqualApprox(&want, &got, 1e-13))
	require.NoError(t, x.Close())

	_, err = gonumop.VecOf(nil)
	require.True(t, sparse.IsInput(err))
	_, err = gonumop.VecOf(x)
	require.Error(t, err, "it is closed")
	sys, err := msrep.Open(msrep.Config{Devices: "sim:1"})
	require.NoError(t, err)
	defer sys.Close()
	far, err := msrep.NewVector[float64](sys, 3)
	require.NoError(t, err)
	_, err = gonumop.VecOf(far)
	require.ErrorContains(t, err, "vector: is not in host memory")
	none, err := msrep.NewVector[float64](sys, 0)
	require.NoError(t, err)
	_, err = gonumop.VecOf(none)
	require.ErrorContains(t, err, "has no elements")
}

func TestDenseMatricesGoBothWays(t *testing.T) {
	a, _ := planOf(t, "random:rows=7,cols=5,nnz=12")
	d, err := gonumop.ToDense(a, 35)
	require.NoError(t, err)
	require.True(t, mat.Equal(d, gonumop.Matrix{A: a}))
	require.True(t, mat.Equal(d.T(), gonumop.Matrix{A: a}.T()))
	back, err := gonumop.FromDense(d)
	require.NoError(t, err)
	require.Equal(t, a, back)
	_, err = gonumop.ToDense(a, 34)
	require.ErrorContains(t, err, "more than the 34 elements")
	_, err = gonumop.ToDense(nil, 34)
	require.True(t, sparse.IsInput(err))
	empty, err := sparse.NewCSR[float64](0, 3, []int64{0}, nil, nil)
	require.NoError(t, err)
	_, err = gonumop.ToDense(empty, 34)
	require.True(t, sparse.IsInput(err))
	require.Panics(t, func() { gonumop.Matrix{A: a}.At(7, 0) })
	require.Panics(t, func() { gonumop.Matrix{A: a}.At(0, -1) })
}

// A method of gonum multiplies on the devices of a plan.
func ExampleNew() {
	ctx := context.Background()
	a, err := sparse.NewCSR(2, 2, []int64{0, 2, 4}, []int32{0, 1, 0, 1}, []float64{4, 1, 1, 3})
	if err != nil {
		log.Fatal(err)
	}
	sys, err := msrep.Open(msrep.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer sys.Close()
	plan, err := msrep.NewPlan(ctx, sys, a, msrep.PlanOptions{})
	if err != nil {
		log.Fatal(err)
	}
	op := gonumop.New(ctx, plan)
	res, err := linsolve.Iterative(op, mat.NewVecDense(2, []float64{1, 2}), &linsolve.CG{}, nil)
	if err = errors.Join(err, op.Err()); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.4f\n", mat.Formatted(res.X))
	// Output:
	// ⎡0.0909⎤
	// ⎣0.6364⎦
}

func TestGonumUsesOurPreconditioners(t *testing.T) {
	a, plan := planOf(t, "stencil:n=30,points=5")
	for i := range a.Rows { // rows of different sizes
		for k := a.RowPtr[i]; k < a.RowPtr[i+1]; k++ {
			a.Val[k] *= (1 + float64(i%5)) * (1 + float64(a.ColIdx[k]%5))
		}
	}
	require.NoError(t, plan.UpdateValues(t.Context(), a.Val))
	jacobi, err := solver.Jacobi(a)
	require.NoError(t, err)
	b := mat.NewVecDense(a.Rows, nil)
	for i := range a.Rows {
		b.SetVec(i, math.Sin(float64(i+1)))
	}
	solve := func(m linsolve.Method, precond func(*mat.VecDense, bool, mat.Vector) error) (*linsolve.Result, error) {
		return linsolve.Iterative(gonumop.New(t.Context(), plan), b, m, &linsolve.Settings{PreconSolve: precond})
	}
	plain, err := solve(&linsolve.CG{}, nil)
	require.NoError(t, err)
	none, err := solve(&linsolve.CG{}, gonumop.PreconSolve(nil))
	require.NoError(t, err)
	require.Equal(t, plain.X.RawVector().Data, none.X.RawVector().Data)
	with, err := solve(&linsolve.CG{}, gonumop.PreconSolve(jacobi))
	require.NoError(t, err)
	require.Less(t, with.Stats.Iterations, plain.Stats.Iterations)
	require.InDeltaSlice(t, plain.X.RawVector().Data, with.X.RawVector().Data, 1e-5)
	_, err = solve(&linsolve.BiCG{}, gonumop.PreconSolve(jacobi))
	require.ErrorContains(t, err, "no transpose")
	_, err = solve(&linsolve.BiCG{}, gonumop.PreconSolve(nil))
	require.NoError(t, err)

	strided, dst := mat.NewDense(a.Rows, 2, nil), mat.NewDense(a.Rows, 3, nil)
	strided.SetCol(1, b.RawVector().Data)
	require.NoError(t, gonumop.PreconSolve(jacobi)(dst.ColView(2).(*mat.VecDense), false, strided.ColView(1)))
	want := mat.NewVecDense(a.Rows, nil)
	require.NoError(t, jacobi.Apply(b.RawVector().Data, want.RawVector().Data))
	require.True(t, mat.Equal(want, dst.ColView(2)))
}

// BenchmarkCG times 20 iterations of gonum's CG over a plan and 20 of ours, alternately, for a million unknowns
// on one CPU device. It reports our median time and, for each way to run gonum, our time divided by gonum's.
// With GOMAXPROCS=1 all use one thread.
//
//	parallel  with PreconSolve and ParallelBLAS
//	gonum     with PreconSolve
//	default   with neither
func BenchmarkCG(b *testing.B) {
	const iterations = 20
	for _, spec := range []string{"stencil:n=1000,points=5", "stencil:dims=3,n=100,points=27"} {
		a, plan := planOf(b, spec)
		rhs := make([]float64, a.Rows)
		for i := range rhs {
			rhs[i] = math.Sin(float64(i + 1))
		}
		gonum := func(blas blas.Float64, precond func(*mat.VecDense, bool, mat.Vector) error) {
			was := blas64.Implementation()
			blas64.Use(blas)
			defer blas64.Use(was)
			op := gonumop.New(b.Context(), plan)
			_, err := linsolve.Iterative(op, mat.NewVecDense(a.Rows, rhs), &linsolve.CG{},
				&linsolve.Settings{MaxIterations: iterations, Tolerance: 1e-14, PreconSolve: precond})
			require.ErrorIs(b, err, linsolve.ErrIterationLimit)
			require.NoError(b, op.Err())
		}
		one := blas64.Implementation()
		all := gonumop.ParallelBLAS(one)
		runs := []struct {
			name  string
			solve func()
		}{
			{"ours", func() {
				_, err := solver.CG(b.Context(), plan, rhs, make([]float64, a.Rows), solver.Options{MaxIter: iterations, Tol: 1e-14})
				require.ErrorIs(b, err, solver.ErrNotConverged)
			}},
			{"parallel", func() { gonum(all, gonumop.PreconSolve(nil)) }},
			{"gonum", func() { gonum(one, gonumop.PreconSolve(nil)) }},
			{"default", func() { gonum(one, nil) }},
		}
		b.Run(spec, func(b *testing.B) {
			times := make([][]float64, len(runs))
			for b.Loop() {
				for i, r := range runs {
					t := time.Now()
					r.solve()
					times[i] = append(times[i], time.Since(t).Seconds())
				}
			}
			for i, r := range runs {
				slices.Sort(times[i])
				median := times[i][len(times[i])/2]
				if i == 0 {
					b.ReportMetric(median/iterations*1e3, "ms/iteration")
					continue
				}
				b.ReportMetric(times[0][len(times[0])/2]/median, r.name+"_of_ours")
			}
		})
	}
}

func TestOperatorsWithNilArgumentsHaveAnErrorAndGiveNaN(t *testing.T) {
	_, plan := planOf(t, "diag:n=2")
	var noCtx context.Context
	for message, o := range map[string]*gonumop.Operator{
		"matrix: is nil":  gonumop.New(t.Context(), nil),
		"matrix: is nil ": gonumop.New(t.Context(), (*msrep.Plan[float64])(nil)),
		"ctx: is nil":     gonumop.New(noCtx, plan),
	} {
		require.ErrorContains(t, o.Err(), strings.TrimSpace(message))
		require.True(t, sparse.IsInput(o.Err()))
		o.Dims()
		y := mat.NewVecDense(2, nil)
		o.MulVecTo(y, false, mat.NewVecDense(2, nil))
		require.True(t, math.IsNaN(y.AtVec(0)) && math.IsNaN(y.AtVec(1)))
	}
	require.Nil(t, gonumop.ParallelBLAS(nil))
}

func TestFromDenseRefusesNilPointers(t *testing.T) {
	for _, d := range []mat.Matrix{nil, (*mat.Dense)(nil), (*mat.VecDense)(nil)} {
		_, err := gonumop.FromDense(d)
		require.True(t, sparse.IsInput(err), "%v", err)
	}
}

// longer is a vector whose array goes on behind its elements.
type longer struct{ mat.Vector }

func (v longer) RawVector() blas64.Vector {
	data := make([]float64, v.Len()+3)
	for i := range v.Len() {
		data[i] = v.AtVec(i)
	}
	return blas64.Vector{N: v.Len(), Data: data, Inc: 1}
}

func TestVectorsInLongerArraysMultiply(t *testing.T) {
	sys, err := msrep.Open(msrep.Config{Devices: "cpu:1"})
	require.NoError(t, err)
	defer sys.Close()
	a, err := sparse.NewCSR(2, 2, []int64{0, 1, 2}, []int32{0, 1}, []float64{2, 3})
	require.NoError(t, err)
	plan, err := msrep.NewPlan[float64](t.Context(), sys, a, msrep.PlanOptions{})
	require.NoError(t, err)
	o := gonumop.New(t.Context(), plan)
	var y mat.VecDense
	o.MulVecTo(&y, false, longer{mat.NewVecDense(2, []float64{1, 1})})
	require.NoError(t, o.Err())
	require.Equal(t, []float64{2, 3}, y.RawVector().Data)
}

package solver

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/msrep-go/msrep/internal/vec"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
)

// scattered returns a matrix of random elements, about 4 in each row. Every column has one where rows >= cols.
func scattered(t require.TestingT, rows, cols int) *sparse.CSR[float64] {
	random := rand.New(rand.NewPCG(uint64(rows), uint64(cols)))
	ptr, idx, val := []int64{0}, []int32{}, []float64{}
	for i := range rows {
		taken := map[int]bool{i % cols: true, random.IntN(cols): true, random.IntN(cols): true, random.IntN(cols): true}
		for j := range cols {
			if taken[j] {
				idx, val = append(idx, int32(j)), append(val, (random.Float64()-0.3)*(1+float64(j%5)))
			}
		}
		ptr = append(ptr, int64(len(idx)))
	}
	a, err := sparse.NewCSR(rows, cols, ptr, idx, val)
	require.NoError(t, err)
	return a
}

// shortest returns the shortest x that minimises |b - A x|^2 + d^2*|x|^2, by the singular values of A.
func shortest(a *sparse.CSR[float64], b []float64, d float64) []float64 {
	m := mat.NewDense(a.Rows, a.Cols, nil)
	for i := range a.Rows {
		for k := a.RowPtr[i]; k < a.RowPtr[i+1]; k++ {
			m.Set(i, int(a.ColIdx[k]), a.Val[k])
		}
	}
	var svd mat.SVD
	if !svd.Factorize(m, mat.SVDThin) {
		panic("no singular values")
	}
	var u, v mat.Dense
	svd.UTo(&u)
	svd.VTo(&v)
	x := mat.NewVecDense(a.Cols, nil)
	for j, s := range svd.Values(nil) {
		if s > 1e-10*svd.Values(nil)[0] {
			x.AddScaledVec(x, mat.Dot(u.ColView(j), mat.NewVecDense(a.Rows, b))*s/(s*s+d*d), v.ColView(j))
		}
	}
	return x.RawVector().Data
}

// lsmrCases are matrices of all shapes and ranks.
func lsmrCases(t require.TestingT) map[string]*sparse.CSR[float64] {
	deficient := scattered(t, 30, 12)
	for k, j := range deficient.ColIdx {
		if j == 1 {
			deficient.Val[k] = 0
		}
	}
	return map[string]*sparse.CSR[float64]{
		"square": scattered(t, 25, 25), "tall": scattered(t, 40, 15), "wide": scattered(t, 15, 40), "deficient": deficient,
		"singular": path(t, 20), "one column": scattered(t, 9, 1), "one row": scattered(t, 1, 9),
	}
}

func TestLSMRFindsTheShortestLeastSquaresSolution(t *testing.T) {
	for name, a := range lsmrCases(t) {
		b := sines(a.Rows)
		want := shortest(a, b, 0)
		devicesOf := []string{"cpu:1", "cpu:3", "sim:1", "sim:2", "sim:6"}
		if name != "tall" && name != "wide" {
			devicesOf = devicesOf[:2]
		}
		for _, devices := range devicesOf {
			x := make([]float64, a.Cols)
			res, err := LSMR(t.Context(), planOn(t, devices, a), b, x, Options{Tol: 1e-12})
			require.NoError(t, err, "%s on %s", name, devices)
			require.True(t, res.Converged)
			require.InDeltaSlice(t, want, x, 1e-8, "%s on %s", name, devices)
			require.InDelta(t, res.Residual, trueResidual(t, a, b, x), 1e-12)
			require.Equal(t, res.Residual > 1e-12, res.LeastSquares, name)
			if name == "tall" || name == "deficient" || name == "singular" {
				require.True(t, res.LeastSquares, name)
			}
			if name == "square" || name == "wide" {
				require.False(t, res.LeastSquares, name)
			}
			require.InDelta(t, res.Residual, res.History[res.Iterations], 1e-9, "%s: the recurrence gives the residual", name)
			require.GreaterOrEqual(t, res.Products, 2*res.Iterations+2, "two for each iteration")
		}
	}
}

func TestLSMRDampsTheSolution(t *testing.T) {
	for name, a := range lsmrCases(t) {
		for _, d := range []float64{1e-3, 0.5, 30} {
			b, first := sines(a.Rows), make([]float64, a.Cols)
			for j := range first {
				first[j] = math.Cos(float64(j))
			}
			plan := planOn(t, "cpu:2", a)
			rest := slices.Clone(b)
			require.NoError(t, plan.SpMV(t.Context(), msrep.NoTrans, -1, first, 1, rest))
			want := shortest(a, rest, d)
			vec.Axpy(1, first, want)
			x := slices.Clone(first)
			res, err := LSMR(t.Context(), plan, b, x, Options{Tol: 1e-12, Damping: d})
			require.NoError(t, err, "%s, %g", name, d)
			require.InDeltaSlice(t, want, x, 1e-7, "%s, %g", name, d)
			require.True(t, res.LeastSquares, "%s, %g", name, d)
		}
	}
}

func TestColumnScalingSavesIterationsOfLSMR(t *testing.T) {
	for _, devices := range []string{"cpu:2", "sim:2"} {
		a := scattered(t, 60, 30)
		for k, j := range a.ColIdx {
			a.Val[k] *= math.Pow(10, float64(j%5)-2)
		}
		scale, err := ColumnScaling(a)
		require.NoError(t, err)
		require.Equal(t, 30, scale.Size())
		plan, b := planOn(t, devices, a), sines(a.Rows)
		want := shortest(a, b, 0)
		var iterations []int
		for _, m := range []Preconditioner{nil, scale, wrapped{scale}} {
			x := make([]float64, a.Cols)
			res, err := LSMR(t.Context(), plan, b, x, Options{Tol: 1e-10, Precond: m})
			require.NoError(t, err)
			require.True(t, res.LeastSquares)
			for j := range x {
				require.InEpsilon(t, want[j], x[j], 1e-4)
			}
			iterations = append(iterations, res.Iterations)
		}
		t.Log(devices, iterations)
		require.Less(t, 2*iterations[1], iterations[0], devices)
		require.InDelta(t, iterations[1], iterations[2], 3)
	}
}

// wrapped hides that a preconditioner is a diagonal.
type wrapped struct{ Preconditioner }

func TestColumnScalingRefusesColumnsThatItCannotInvert(t *testing.T) {
	m, err := ColumnScaling(dense(t, []float64{3, 0, 0}, []float64{4, 0, 0}, []float64{0, 0, 2}))
	require.NoError(t, err)
	z := make([]float64, 3)
	require.NoError(t, m.Apply([]float64{1, 1, 1}, z))
	require.InDeltaSlice(t, []float64{0.2, 1, 0.5}, z, 1e-16)
	for _, v := range []float64{math.NaN(), math.Inf(1), 5e-324} {
		_, err := ColumnScaling(dense(t, []float64{v}))
		require.True(t, sparse.IsInput(err), "%g", v)
		require.ErrorContains(t, err, "column 0")
	}
}

func TestLSMRNamesWhatItCannotSolve(t *testing.T) {
	a := scattered(t, 6, 4)
	for k := range a.Val {
		a.Val[k] *= 1e200
	}
	_, err := LSMR(t.Context(), planOn(t, "cpu:1", a), sines(6), make([]float64, 4), Options{})
	require.ErrorIs(t, err, ErrBreakdown)
	require.ErrorContains(t, err, "scale the matrix")
	_, err = LSMR(t.Context(), planOn(t, "cpu:1", scattered(t, 6, 4)), sines(6), make([]float64, 4), Options{Precond: constant{4, 0}})
	require.ErrorIs(t, err, ErrBreakdown)
	require.ErrorContains(t, err, "the preconditioner is singular")
	_, err = LSMR(t.Context(), planOn(t, "cpu:1", scattered(t, 6, 4)), sines(6), make([]float64, 6), Options{})
	require.ErrorContains(t, err, "x: 6 elements: the matrix has 4 columns")
	_, err = LSMR(t.Context(), planOn(t, "cpu:1", scattered(t, 6, 4)), sines(4), make([]float64, 4), Options{})
	require.ErrorContains(t, err, "b: 4 elements: the matrix has 6 rows")
	_, err = LSMR(t.Context(), planOn(t, "cpu:1", scattered(t, 6, 4)), sines(6), make([]float64, 4), Options{Precond: identity{6}})
	require.ErrorContains(t, err, "made for 6 equations: the system has 4")
	_, err = CG(t.Context(), planOn(t, "cpu:1", scattered(t, 6, 4)), sines(6), make([]float64, 4), Options{})
	require.ErrorContains(t, err, "matrix: 6 x 4: a system that is solved by cg is square")
	wide := rectangular{members(t, path(t, 8), false, 4)[0]}
	_, err = LSMR(context.Background(), wide, sines(4), make([]float64, 8), Options{})
	require.True(t, sparse.IsInput(err), "%v", err)
}

// rectangular is a Distributed operator with more columns than rows in this process.
type rectangular struct{ *member }

func (r rectangular) Dims() (int, int) { return r.n, 2 * r.n }

func (r rectangular) Max(context.Context, []float64) error { return nil }

// A zero matrix, and a first guess that is a least squares solution.
func TestLSMREndsWhereNothingIsToBeDone(t *testing.T) {
	a := dense(t, []float64{0, 0}, []float64{0, 0})
	x := []float64{1, 2}
	res, err := LSMR(t.Context(), planOn(t, "cpu:1", a), []float64{1, 2}, x, Options{})
	require.NoError(t, err)
	require.True(t, res.LeastSquares)
	require.Equal(t, []float64{1, 2}, x)
	require.Zero(t, res.Iterations)

	tall := scattered(t, 40, 15)
	x = shortest(tall, sines(40), 0)
	want := slices.Clone(x)
	res, err = LSMR(t.Context(), planOn(t, "cpu:1", tall), sines(40), x, Options{})
	require.NoError(t, err)
	require.True(t, res.LeastSquares)
	require.LessOrEqual(t, res.Iterations, 2)
	require.InDeltaSlice(t, want, x, 1e-12)
}

func TestLSMRAtAnyScaleOfTheRightHandSide(t *testing.T) {
	a := scattered(t, 40, 15)
	want := shortest(a, sines(40), 0)
	for _, devices := range []string{"cpu:2", "sim:2"} {
		plan := planOn(t, devices, a)
		for _, exp := range []int{-1000, -600, 600, 1000} {
			x := make([]float64, 15)
			res, err := LSMR(t.Context(), plan, scaledBy(sines(40), exp), x, Options{Tol: 1e-10})
			require.NoError(t, err, "2^%d on %s", exp, devices)
			require.True(t, res.Converged && res.LeastSquares)
			require.InDeltaSlice(t, want, scaledBy(x, -exp), 1e-6)
		}
	}
}

func TestDeterministicLSMRHasTheSameBitsOnAllDevices(t *testing.T) {
	a := scattered(t, 9000, 5000) // several chunks of both lengths
	var first []float64
	for _, c := range []msrep.Config{{Devices: "cpu:1", Threads: 1}, {Devices: "cpu:1", Threads: 4}, {Devices: "cpu:3"}} {
		plan := planOf(t, openAs(t, c), a, msrep.PlanOptions{Deterministic: true})
		x := make([]float64, a.Cols)
		_, err := LSMR(t.Context(), plan, sines(a.Rows), x, Options{Tol: 1e-3})
		require.NoError(t, err)
		if first == nil {
			first = x
		}
		require.True(t, slices.Equal(first, x), "%+v", c)
	}
}

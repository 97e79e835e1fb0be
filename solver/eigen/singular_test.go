package eigen

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/msrep-go/msrep/sparse"
)

// denseSingularValues returns all singular values, the largest first.
func denseSingularValues(t testing.TB, a *sparse.CSR[float64]) []float64 {
	t.Helper()
	d := mat.NewDense(a.Rows, a.Cols, nil)
	for i := range a.Rows {
		for k := a.RowPtr[i]; k < a.RowPtr[i+1]; k++ {
			j := int(a.ColIdx[k])
			d.Set(i, j, d.At(i, j)+a.Val[k])
		}
	}
	var s mat.SVD
	require.True(t, s.Factorize(d, mat.SVDNone))
	return s.Values(nil)
}

// requireTriples checks a result: the values, and vectors and residuals computed here.
func requireTriples(t testing.TB, a *sparse.CSR[float64], want []float64, res *SVD, tol float64) {
	t.Helper()
	require.True(t, res.Converged)
	require.Len(t, res.Values, len(want))
	bound := tol*res.Norm + 1e-300
	transposed := sparse.ToCSR[float64](a.Transpose())
	for i, sigma := range res.Values {
		require.InDelta(t, want[i], sigma, bound, "value %d of %v, want %v", i, res.Values, want)
		u, v := make([]float64, a.Rows), make([]float64, a.Cols)
		multiply(a, res.V[i], u)
		multiply(transposed, res.U[i], v)
		residual := max(misfit(u, sigma, res.U[i]), misfit(v, sigma, res.V[i]))
		require.LessOrEqual(t, residual, bound, "residual of value %d", i)
		require.InDelta(t, residual, res.Residuals[i], 1e-13*res.Norm+1e-300)
		for j := range i + 1 {
			want := 0.0
			if i == j {
				want = 1
			}
			require.InDelta(t, want, dotOf(res.U[i], res.U[j]), 1e-9, "left vectors %d and %d", i, j)
			require.InDelta(t, want, dotOf(res.V[i], res.V[j]), 1e-9, "right vectors %d and %d", i, j)
		}
	}
}

func dotOf(x, y []float64) (sum float64) {
	for i, v := range x {
		sum += v * y[i]
	}
	return sum
}

// randomMatrix returns a matrix with about three entries in each row.
func randomMatrix(rows, cols int, seed uint64) *sparse.CSR[float64] {
	state := seed*2654435761 + 12345
	next := func() float64 {
		state = state*6364136223846793005 + 1442695040888963407
		return float64(state>>11) / (1 << 53)
	}
	var i, j []int32
	var val []float64
	for r := range rows {
		for range 3 {
			i, j, val = append(i, int32(r)), append(j, int32(next()*float64(cols))), append(val, 2*next()-1)
		}
	}
	m, err := sparse.FromTriples(rows, cols, i, j, val)
	if err != nil {
		panic(err)
	}
	return m
}

func TestSingularFindsTheLargestSingularValues(t *testing.T) {
	for _, shape := range [][2]int{{100, 100}, {200, 60}, {60, 200}, {1, 1}, {1, 9}, {9, 1}, {30, 5}} {
		a := randomMatrix(shape[0], shape[1], 7)
		want := denseSingularValues(t, a)
		for _, k := range []int{1, 6, len(want)} {
			if k > len(want) {
				continue
			}
			res, err := Singular(t.Context(), planOf(t, "cpu:1", a), Options{Count: k})
			require.NoError(t, err, "%v, %d", shape, k)
			requireTriples(t, a, want[:k], res, 1e-10)
		}
	}
}

func TestSingularFindsMultipleValuesAndZeros(t *testing.T) {
	// Five copies of a 4 x 3 block, and a zero block: multiplicities of 5 or more.
	var i, j []int32
	var val []float64
	for b := range int32(5) {
		for k, v := range []float64{1, 2, 0, -1, 1, 1, 0, 3, 1, 1, 0, 2} {
			i, j, val = append(i, 4*b+int32(k)/3), append(j, 3*b+int32(k)%3), append(val, v)
		}
	}
	a, err := sparse.FromTriples(60, 50, i, j, val)
	require.NoError(t, err)
	want := denseSingularValues(t, a)
	for _, k := range []int{3, 5, 8, 20, 50} {
		res, err := Singular(t.Context(), planOf(t, "cpu:1", a), Options{Count: k})
		require.NoError(t, err)
		requireTriples(t, a, want[:k], res, 1e-10)
	}
	zero := &sparse.CSR[float64]{Rows: 30, Cols: 20, RowPtr: make([]int64, 31)}
	res, err := Singular(t.Context(), planOf(t, "cpu:1", zero), Options{Count: 4})
	require.NoError(t, err)
	requireTriples(t, zero, make([]float64, 4), res, 1e-10)
}

// The left vectors stay orthogonal over many restarts, although most of them are not made so.
func TestLeftVectorsStayOrthogonalOverManyRestarts(t *testing.T) {
	const n = 1200
	gradient := &sparse.CSR[float64]{Rows: n + 1, Cols: n, RowPtr: make([]int64, 1, n+2)} // differences of neighbours: singular values are close
	for i := range gradient.Rows {
		if i > 0 {
			gradient.ColIdx, gradient.Val = append(gradient.ColIdx, int32(i-1)), append(gradient.Val, -1)
		}
		if i < n {
			gradient.ColIdx, gradient.Val = append(gradient.ColIdx, int32(i)), append(gradient.Val, 1)
		}
		gradient.RowPtr = append(gradient.RowPtr, int64(len(gradient.Val)))
	}
	want := make([]float64, 6)
	for i := range want {
		want[i] = 2 * math.Cos(float64(i+1)*math.Pi/(2*(n+1)))
	}
	for _, a := range []*sparse.CSR[float64]{gradient, sparse.ToCSR[float64](gradient.Transpose())} {
		res, err := Singular(t.Context(), planOf(t, "cpu:1", a), Options{Tol: 1e-11})
		require.NoError(t, err)
		require.Greater(t, res.Restarts, 10)
		requireTriples(t, a, want, res, 1e-11)
		for i := range want {
			for j := range i {
				require.Less(t, math.Abs(dotOf(res.U[i], res.U[j])), 1e-9)
			}
		}
	}
}

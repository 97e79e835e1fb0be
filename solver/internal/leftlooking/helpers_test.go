package leftlooking

import (
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/corpus"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/matio"
)

// readMatrix reads a matrix of testdata or of the large collection.
func readMatrix(t testing.TB, name string) *sparse.CSR[float64] {
	t.Helper()
	path := corpus.Testdata(name + ".mtx.gz")
	if _, err := os.Stat(path); err != nil {
		path = corpus.Shared(t, "matrices", name+".mtx.gz")
	}
	m, err := matio.Read(t.Context(), path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, m.Close()) })
	return m.CSR
}

// systems calls f for each system of the collection with at most the given rows.
func systems(t *testing.T, rows int, f func(t *testing.T, a *sparse.CSR[float64], entry map[string]string)) {
	for _, entry := range corpus.Table(t, corpus.Shared(t, "expected", "systems.tsv")) {
		n, err := strconv.Atoi(entry["rows"])
		require.NoError(t, err)
		if n <= rows {
			t.Run(entry["name"], func(t *testing.T) { f(t, readMatrix(t, entry["name"]), entry) })
		}
	}
}

// multiply returns A x, or A' x.
func multiply(a *sparse.CSR[float64], x []float64, transposed bool) []float64 {
	y := make([]float64, a.Rows)
	for i := range a.Rows {
		for p := a.RowPtr[i]; p < a.RowPtr[i+1]; p++ {
			if j := a.ColIdx[p]; transposed {
				y[j] += a.Val[p] * x[i]
			} else {
				y[i] += a.Val[p] * x[j]
			}
		}
	}
	return y
}

// backwardError returns max_i |b - A x|_i / (|A| |x| + |b|)_i, Oettli and Prager's
// componentwise relative backward error.
func backwardError(a *sparse.CSR[float64], x, b []float64, transposed bool) (worst float64) {
	y := multiply(a, x, transposed)
	size := make([]float64, a.Rows)
	for i := range a.Rows {
		for p := a.RowPtr[i]; p < a.RowPtr[i+1]; p++ {
			if j := a.ColIdx[p]; transposed {
				size[j] += math.Abs(a.Val[p] * x[i])
			} else {
				size[i] += math.Abs(a.Val[p] * x[j])
			}
		}
	}
	for i, v := range y {
		if r := math.Abs(b[i]-v) / (size[i] + math.Abs(b[i])); r > worst || r != r && size[i] > 0 {
			worst = r
		}
	}
	return worst
}

// normwiseError returns max|b - A x| / (|A| max|x| + max|b|), with the largest sum of
// magnitudes of a row as |A|.
func normwiseError(a *sparse.CSR[float64], x, b []float64) float64 {
	y := multiply(a, x, false)
	norm, most, residual := 0.0, largestOf(x), 0.0
	for i, v := range y {
		sum := 0.0
		for _, v := range a.Val[a.RowPtr[i]:a.RowPtr[i+1]] {
			sum += math.Abs(v)
		}
		norm = max(norm, sum)
		residual = max(residual, math.Abs(b[i]-v))
	}
	return residual / (norm*most + largestOf(b))
}

func randomVector(r *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = r.NormFloat64()
	}
	return x
}

// matrix returns the nonzero entries of the rows as a matrix.
func matrix(rows ...[]float64) *sparse.CSR[float64] {
	a := &sparse.CSR[float64]{Rows: len(rows), Cols: len(rows), RowPtr: []int64{0}}
	for _, row := range rows {
		for j, v := range row {
			if v != 0 {
				a.ColIdx = append(a.ColIdx, int32(j))
				a.Val = append(a.Val, v)
			}
		}
		a.RowPtr = append(a.RowPtr, int64(len(a.Val)))
	}
	return a
}

// random returns a matrix with about each entries per row at random places, and one in each
// row and column such that it is structurally nonsingular.
func random(r *rand.Rand, n int, each float64) *sparse.CSR[float64] {
	var rows, cols []int32
	var val []float64
	put := func(i, j int) {
		rows, cols, val = append(rows, int32(i)), append(cols, int32(j)), append(val, r.NormFloat64())
	}
	for i, j := range r.Perm(n) {
		put(i, j)
	}
	for range int(each * float64(n)) {
		put(r.IntN(n), r.IntN(n))
	}
	a, err := sparse.FromTriples(n, n, rows, cols, val)
	if err != nil {
		panic(err)
	}
	return a
}

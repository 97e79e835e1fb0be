package order

import (
	"math"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/cases"
	"github.com/msrep-go/msrep/internal/corpus"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/gen"
	"github.com/msrep-go/msrep/sparse/matio"
)

func TestMain(m *testing.M) { cases.Main(m, "300") }

// generate returns a generated matrix.
func generate(t testing.TB, spec string) *sparse.CSR[float64] {
	t.Helper()
	a, _, err := gen.Generate(spec)
	require.NoError(t, err)
	return a
}

// matrix returns a matrix of the places where rows, such as "1.2", have no point. The
// digits are the values.
func matrix(rows ...string) *sparse.CSR[float64] {
	a := &sparse.CSR[float64]{Rows: len(rows), RowPtr: []int64{0}}
	for _, r := range rows {
		a.Cols = len(r)
		for j, c := range r {
			if c != '.' {
				a.ColIdx, a.Val = append(a.ColIdx, int32(j)), append(a.Val, float64(c-'0'))
			}
		}
		a.RowPtr = append(a.RowPtr, int64(len(a.Val)))
	}
	return a
}

// drawMatrix draws a matrix of at most most rows and columns with unsorted rows and
// duplicates, some values of which are zero.
func drawMatrix(t *rapid.T, most int, square bool) *sparse.CSR[float64] {
	rows := rapid.IntRange(0, most).Draw(t, "rows")
	cols := rows
	if !square {
		cols = rapid.IntRange(0, most).Draw(t, "cols")
	}
	coo := &sparse.COO[float64]{Rows: rows, Cols: cols}
	if rows > 0 && cols > 0 {
		for range rapid.IntRange(0, 4*most).Draw(t, "entries") {
			coo.RowIdx = append(coo.RowIdx, int32(rapid.IntRange(0, rows-1).Draw(t, "i")))
			coo.ColIdx = append(coo.ColIdx, int32(rapid.IntRange(0, cols-1).Draw(t, "j")))
			coo.Val = append(coo.Val, float64(rapid.IntRange(-3, 6).Draw(t, "v")))
		}
	}
	return sparse.ToCSR(coo)
}

// requirePermutation requires that p is a permutation of 0 to n-1.
func requirePermutation(t require.TestingT, p []int32, n int) {
	_, err := sparse.Inverse("p", p, n)
	require.NoError(t, err)
}

// squareMatrices calls f for every square real matrix of the collection with at most most
// rows.
func squareMatrices(t *testing.T, most int, f func(t *testing.T, name string, a *sparse.CSR[float64])) {
	for _, row := range corpus.Table(t, corpus.Shared(t, "matrices", "INDEX.tsv")) {
		rows, err := strconv.Atoi(row["rows"])
		require.NoError(t, err)
		if row["rows"] == row["cols"] && rows <= most && row["field"] != "complex" {
			name := filepath.Base(row["file"])
			f(t, name, readMatrix(t, name))
		}
	}
}

// readMatrix reads a matrix of the collection.
func readMatrix(t *testing.T, name string) *sparse.CSR[float64] {
	t.Helper()
	a, err := matio.Read(t.Context(), corpus.Shared(t, "matrices", name))
	require.NoError(t, err)
	return a.CSR
}

// fill returns the number of entries of the Cholesky factor of the pattern of PAP' + its
// transpose, with the diagonal, and the sum of the squares of its column lengths.
func fill(t require.TestingT, a *sparse.CSR[float64], p []int32) (entries int64, work float64) {
	b, err := sparse.Permute(a, p, p)
	require.NoError(t, err)
	g, err := symmetricGraph(b)
	require.NoError(t, err)
	n := g.nodes()
	parent, top := filled(n, none), filled(n, none) // elimination tree; compressed paths
	for k := range int32(n) {
		for _, i := range g.neighbours(k) {
			for i != none && i < k {
				up := top[i]
				top[i] = k
				if up == none {
					parent[i] = k
				}
				i = up
			}
		}
	}
	count, seen := filled(n, 1), filled(n, none)
	for k := range int32(n) {
		seen[k] = k
		for _, i := range g.neighbours(k) {
			for ; i < k && seen[i] != k; i = parent[i] {
				count[i]++
				seen[i] = k
			}
		}
	}
	for _, c := range count {
		entries += int64(c)
		work += float64(c) * float64(c)
	}
	return entries, work
}

// geometricMean returns exp of the mean of the logarithms.
func geometricMean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += math.Log(v)
	}
	return math.Exp(sum / float64(len(values)))
}

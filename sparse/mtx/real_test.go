package mtx_test

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/corpus"
	"github.com/msrep-go/msrep/internal/fileio"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/mtx"
)

func TestRealMatricesHaveTheShapeThatSciPyFinds(t *testing.T) {
	folder := corpus.Shared(t, "matrices")
	products := map[string]map[string]string{}
	for _, row := range corpus.Table(t, corpus.Shared(t, "expected", "products.tsv")) {
		products[row["name"]] = row
	}
	index := corpus.Table(t, filepath.Join(folder, "INDEX.tsv"))
	require.NotEmpty(t, index)
	number := func(s string) int64 {
		n, err := strconv.ParseInt(s, 10, 64)
		require.NoError(t, err)
		return n
	}
	for _, row := range index {
		t.Run(row["name"], func(t *testing.T) {
			if testing.Short() && number(row["stored"]) > 20_000 {
				t.Skip("too large for a short test")
			}
			f, err := fileio.Open(filepath.Join(folder, row["file"]))
			require.NoError(t, err)
			defer f.Close()
			m, src, err := mtx.Read(context.Background(), f, f.Name, sparse.Limits{})
			if row["field"] == "complex" {
				require.True(t, sparse.IsInput(err))
				require.ErrorContains(t, err, "complex values are not supported")
				return
			}
			require.NoError(t, err)
			want := products[row["name"]]
			require.EqualValues(t, number(want["rows"]), m.Rows)
			require.EqualValues(t, number(want["cols"]), m.Cols)
			require.EqualValues(t, number(want["nnz"]), m.NNZ())
			require.Equal(t, sparse.Source{Field: sparse.Field(row["field"]), Symmetry: sparse.Symmetry(row["symmetry"]), Stored: number(row["stored"])}, src)
			var sum, norm float64 // of y = A x with x[j] = sin(j+1)
			for i := range m.Rows {
				var y float64
				for k := m.RowPtr[i]; k < m.RowPtr[i+1]; k++ {
					y += m.Val[k] * math.Sin(float64(m.ColIdx[k]+1))
				}
				sum += y
				norm += math.Abs(y)
			}
			near(t, want["y_norm1"], norm, norm)
			near(t, want["y_sum"], sum, norm)
		})
	}
}

func near(t *testing.T, want string, got, norm float64) {
	t.Helper()
	w, err := strconv.ParseFloat(want, 64)
	require.NoError(t, err)
	require.InDelta(t, w, got, 1e-12*norm)
}

func TestHalfAGzippedFileIsCalledTruncated(t *testing.T) {
	whole, err := os.ReadFile(corpus.Shared(t, "matrices", "bcsstk14.mtx.gz"))
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "half.mtx.gz")
	require.NoError(t, os.WriteFile(path, whole[:len(whole)/2], 0o600))
	f, err := fileio.Open(path)
	require.NoError(t, err)
	defer f.Close()
	_, _, err = mtx.Read(context.Background(), f, path, sparse.Limits{})
	require.True(t, sparse.IsInput(err))
	require.ErrorContains(t, err, "truncated")
}

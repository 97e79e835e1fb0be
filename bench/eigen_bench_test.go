package bench

import (
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/corpus"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/solver/eigen"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/matio"
)

// raced is the number of matrices of each of the two benchmarks below.
const raced = 30

// eigenMatrices returns the names of matrices of the collection for which suits is true, evenly spaced in alphabetic order;
// or those of MSREP_EIGEN, separated by commas.
func eigenMatrices(b *testing.B, suits func(rows, cols int, symmetry string) bool) (names []string) {
	if list := os.Getenv("MSREP_EIGEN"); list != "" {
		return strings.Split(list, ",")
	}
	var all []string
	for _, row := range corpus.Table(b, corpus.Shared(b, "matrices", "INDEX.tsv")) {
		rows, err := strconv.Atoi(row["rows"])
		require.NoError(b, err)
		cols, err := strconv.Atoi(row["cols"])
		require.NoError(b, err)
		if suits(rows, cols, row["symmetry"]) {
			all = append(all, row["name"])
		}
	}
	slices.Sort(all)
	for i := range min(raced, len(all)) {
		names = append(names, all[i*len(all)/min(raced, len(all))])
	}
	return names
}

// eachMatrix runs a benchmark of find, which returns the relative residual, for each matrix.
func eachMatrix(b *testing.B, names []string, find func(sys *msrep.System, a *sparse.CSR[float64]) eigen.Info) {
	sys, err := msrep.Open(msrep.Config{Devices: "cpu:1"})
	require.NoError(b, err)
	defer func() { require.NoError(b, sys.Close()) }()
	for _, name := range names {
		b.Run(name, func(b *testing.B) {
			m, err := matio.Read(b.Context(), corpus.Shared(b, "matrices", name+".mtx.gz"))
			require.NoError(b, err)
			defer func() { require.NoError(b, m.Close()) }()
			var info eigen.Info
			for b.Loop() {
				info = find(sys, m.CSR)
			}
			b.ReportMetric(-math.Log10(max(slices.Max(info.Residuals)/info.Norm, 1e-17)), "digits")
			b.ReportMetric(float64(info.Products), "products")
		})
	}
}

// BenchmarkEigen times eigen.Solve, set-up included, for the six eigenvalues of largest magnitude of symmetric matrices with
// at least 1,000 rows. scripts/race-eig runs it beside SciPy.
func BenchmarkEigen(b *testing.B) {
	names := eigenMatrices(b, func(rows, _ int, symmetry string) bool { return rows >= 1000 && symmetry == "symmetric" })
	eachMatrix(b, names, func(sys *msrep.System, a *sparse.CSR[float64]) eigen.Info {
		res, err := eigen.Solve(b.Context(), sys, a, eigen.Options{Which: eigen.Magnitude, Tol: 1e-9})
		require.NoError(b, err)
		return res.Info
	})
}

// BenchmarkSingular times eigen.SolveSingular, set-up included, for the six largest singular values of rectangular matrices
// with at least 200 rows and columns. scripts/race-eig runs it beside SciPy.
func BenchmarkSingular(b *testing.B) {
	names := eigenMatrices(b, func(rows, cols int, _ string) bool { return rows != cols && min(rows, cols) >= 200 })
	eachMatrix(b, names, func(sys *msrep.System, a *sparse.CSR[float64]) eigen.Info {
		res, err := eigen.SolveSingular(b.Context(), sys, a, eigen.Options{Tol: 1e-9})
		require.NoError(b, err)
		return res.Info
	})
}

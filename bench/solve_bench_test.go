package bench

import (
	"math"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/corpus"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/solver"
	"github.com/msrep-go/msrep/sparse/matio"
)

// BenchmarkSolve times solver.Solve without a choice, set-up included, on the systems of the collection with more than
// 2,000 rows. scripts/race-solve runs it beside SciPy.
func BenchmarkSolve(b *testing.B) {
	sys, err := msrep.Open(msrep.Config{Devices: "cpu:1"})
	require.NoError(b, err)
	defer func() { require.NoError(b, sys.Close()) }()
	for _, row := range corpus.Table(b, corpus.Shared(b, "expected", "systems.tsv")) {
		if n, err := strconv.Atoi(row["rows"]); err != nil || n <= 2000 {
			require.NoError(b, err)
			continue
		}
		b.Run(row["name"], func(b *testing.B) {
			m, err := matio.Read(b.Context(), corpus.Shared(b, "matrices", row["name"]+".mtx.gz"))
			require.NoError(b, err)
			defer func() { require.NoError(b, m.Close()) }()
			rhs, x := make([]float64, m.Rows), make([]float64, m.Rows)
			for i := range rhs {
				rhs[i] = 1
			}
			var residual float64
			for b.Loop() {
				clear(x)
				s, err := solver.Solve(b.Context(), sys, m.CSR, rhs, x, solver.SolveOptions{})
				require.NotNil(b, s, err)
				residual = s.Residual
			}
			b.ReportMetric(-math.Log10(residual), "digits")
		})
	}
}

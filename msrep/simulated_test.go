package msrep

import (
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/corpus"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/matio"
)

func TestSimulatedGPUsAgreeWithTheReference(t *testing.T) {
	systems := map[string]*System{}
	for _, devices := range []string{"sim:1", "sim:2", "sim:6"} {
		systems[devices] = openCPU(t, devices)
	}
	left := 150 // an interpreted case takes as long as dozens on the CPU
	if testing.Short() {
		left = 30
	}
	rapid.Check(t, func(t *rapid.T) {
		if left--; left < 0 {
			return
		}
		sys := systems[rapid.SampledFrom([]string{"sim:1", "sim:2", "sim:6"}).Draw(t, "devices")]
		if rapid.Bool().Draw(t, "single precision") {
			checkSimulated[float32](t, sys)
		} else {
			checkSimulated[float64](t, sys)
		}
	})
}

func checkSimulated[V sparse.Value](t *rapid.T, sys *System) {
	a := randomMatrix[V](t)
	plan, err := NewPlan(ctx, sys, a, PlanOptions{
		Storage: Storage{Format: rapid.SampledFrom([]sparse.Format{"", sparse.FormatCSR, sparse.FormatCSC, sparse.FormatCOO}).Draw(t, "format")},
		Variant: Variant{Strategy: rapid.SampledFrom([]Strategy{Optimized, Partial, Baseline}).Draw(t, "strategy"), Split: rapid.SampledFrom([]partition.Rule{"", partition.RuleNNZ, partition.RuleMergePath}).Draw(t, "split")},
	})
	require.NoError(t, err)
	defer plan.Close()
	scalar := rapid.SampledFrom([]V{0, 1, 0.37, -2.5})
	checkRandomProduct(t, plan, a, scalar.Draw(t, "alpha"), scalar.Draw(t, "beta"))
}

func TestSimulatedGPUsAgreeWithSciPyOnRealMatrices(t *testing.T) {
	if testing.Short() {
		t.Skip("-short")
	}
	sys := openCPU(t, "sim:4")
	dir := corpus.Shared(t, "matrices")
	checked := 0
	for _, row := range corpus.Table(t, corpus.Shared(t, "expected", "products.tsv")) {
		nnz, err := strconv.Atoi(row["nnz"])
		require.NoError(t, err)
		if row["y_norm1"] == "complex" || nnz < 500 || nnz > 4000 || checked == 64 {
			continue
		}
		m, err := matio.Read(ctx, filepath.Join(dir, row["name"]+".mtx.gz"))
		require.NoError(t, err)
		for _, f := range []sparse.Format{sparse.FormatCSR, sparse.FormatCSC, sparse.FormatCOO} {
			checkProducts(t, sys, m, Form(f), sines(max(m.Rows, m.Cols)), row)
		}
		checked++
	}
	require.GreaterOrEqual(t, checked, 60)
}

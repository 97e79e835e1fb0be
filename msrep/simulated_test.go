package msrep

import (
	"fmt"
	"math"
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
	sys := openCPU(t, "sim:4")
	onRealMatrices(t, func(m *matio.Matrix, row map[string]string) {
		for _, f := range []sparse.Format{sparse.FormatCSR, sparse.FormatCSC, sparse.FormatCOO} {
			checkProducts(t, sys, m, Form(f), sines(max(m.Rows, m.Cols)), row)
		}
	})
}

// TestExchangesOfSimulatedGPUsAgreeWithSciPyOnRealMatrices multiplies vectors that stay on the devices. Simulated GPUs report
// reads that do not wait for writes of another device, and the reverse.
func TestExchangesOfSimulatedGPUsAgreeWithSciPyOnRealMatrices(t *testing.T) {
	var systems []*System
	for _, devices := range []string{"sim:8", "sim:dgx1"} {
		systems = append(systems, openCPU(t, devices))
	}
	onRealMatrices(t, func(m *matio.Matrix, row map[string]string) {
		x := sines(max(m.Rows, m.Cols))
		var bits [2][]uint64 // of both products
		for _, sys := range systems {
			for _, copies := range []bool{false, true} {
				plan := planOf(t, sys, sparse.Matrix[float64](m.CSR), PlanOptions{copies: copies})
				for k, op := range []Transpose{NoTrans, Trans} {
					y := applyTo(t, plan, op, x)
					checkResult(t, y, op, row, fmt.Sprintf("%s %v copies %v", row["name"], op, copies))
					got := make([]uint64, len(y))
					for i, v := range y {
						got[i] = math.Float64bits(v)
					}
					if bits[k] == nil {
						bits[k] = got
					}
					require.Equal(t, bits[k], got, "%s %v copies %v", row["name"], op, copies)
				}
				require.NoError(t, plan.Close())
			}
		}
	})
}

// applyTo returns op(A)*x, computed with vectors on the devices. x has as many elements as the product needs, or more.
func applyTo(t *testing.T, plan *Plan[float64], op Transpose, x []float64) []float64 {
	xOf, yOf := plan.ColumnVector, plan.RowVector
	if op == Trans {
		xOf, yOf = yOf, xOf
	}
	vx, err := xOf()
	require.NoError(t, err)
	onDevices(t, vx, err, x[:vx.Len()])
	vy, err := yOf()
	require.NoError(t, err)
	require.NoError(t, plan.Apply(ctx, op, 1, vx, 0, vy))
	y := elements(t, vy)
	require.NoError(t, vx.Close())
	require.NoError(t, vy.Close())
	return y
}

// onRealMatrices calls f for 64 real matrices of 500 to 4000 entries and their rows in the table of products.
func onRealMatrices(t *testing.T, f func(m *matio.Matrix, row map[string]string)) {
	if testing.Short() {
		t.Skip("-short")
	}
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
		f(m, row)
		checked++
	}
	require.GreaterOrEqual(t, checked, 64)
}

package msrep

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/corpus"
	"github.com/msrep-go/msrep/kernels/cpu"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/matio"
)

func TestProductsOfTheMatricesInTestdataAgreeWithSciPy(t *testing.T) {
	checkExpected(t, corpus.Testdata(), corpus.Testdata("products.tsv"), 8)
}

func TestProductsOfAllRealMatricesAgreeWithSciPy(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("-short")
	}
	checkExpected(t, corpus.Shared(t, "matrices"), corpus.Shared(t, "expected", "products.tsv"), 400)
}

// checkExpected multiplies each matrix of a table and its transpose in every format on 1, 2, 3 and 8 devices, and
// compares norms and sums.
func checkExpected(t *testing.T, dir, table string, atLeast int) {
	var systems []*System
	for _, n := range []int{1, 2, 3, 8} {
		sys := open(t, Config{Devices: fmt.Sprintf("cpu:%d", n), Threads: 8})
		systems = append(systems, sys)
	}
	checked := 0
	for _, row := range corpus.Table(t, table) {
		path := filepath.Join(dir, row["name"]+".mtx.gz")
		m, err := matio.Read(context.Background(), path)
		if row["y_norm1"] == "complex" {
			require.ErrorContains(t, err, "complex", row["name"])
			continue
		}
		require.NoError(t, err)
		require.Equal(t, row["nnz"], strconv.FormatInt(m.NNZ(), 10), row["name"])
		checked++
		x := sines(max(m.Rows, m.Cols))
		for _, sys := range systems {
			for _, f := range []sparse.Format{sparse.FormatCSR, sparse.FormatCSC, sparse.FormatCOO} {
				checkProducts(t, sys, m, Form(f), x, row)
			}
		}
	}
	require.GreaterOrEqual(t, checked, atLeast)
}

// TestEveryFormOfRealMatricesAgreesWithSciPy uses the matrices with up to 100,000 entries.
func TestEveryFormOfRealMatricesAgreesWithSciPy(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("-short")
	}
	dir := corpus.Shared(t, "matrices")
	systems := []*System{openCPU(t, "cpu:1"), openCPU(t, "cpu:3")}
	forms := append(cpu.Forms(), Form(FormatAuto))
	checked := map[Form]int{}
	for _, row := range corpus.Table(t, corpus.Shared(t, "expected", "products.tsv")) {
		nnz, err := strconv.Atoi(row["nnz"])
		require.NoError(t, err)
		if row["y_norm1"] == "complex" || nnz > 100_000 {
			continue
		}
		m, err := matio.Read(context.Background(), filepath.Join(dir, row["name"]+".mtx.gz"))
		require.NoError(t, err)
		x := sines(max(m.Rows, m.Cols))
		for _, f := range forms {
			plan, err := NewPlan(context.Background(), systems[0], m.CSR, PlanOptions{Storage: NamedStorage(string(f)), Expected: Expected{Transposed: 2}})
			if limitedForms[f] && sparse.IsInput(err) {
				continue
			}
			require.NoError(t, err)
			checkPlan(t, plan, m, f, x, row)
			checkProducts(t, systems[1], m, f, x, row)
			checked[f]++
		}
	}
	for _, f := range forms {
		if limitedForms[f] && f != "ell" {
			require.NotZero(t, checked[f], f)
			continue
		}
		require.GreaterOrEqual(t, checked[f], 100, f)
	}
}

// sines returns the vector of the table, x[j] = sin(j+1).
func sines(n int) []float64 {
	x := make([]float64, n)
	for j := range x {
		x[j] = math.Sin(float64(j + 1))
	}
	return x
}

// checkProducts compares the products of a plan in form f with a row of the table. x is sines of the larger dimension.
func checkProducts(t *testing.T, sys *System, m *matio.Matrix, f Form, x []float64, row map[string]string) {
	plan, err := NewPlan(context.Background(), sys, m.CSR, PlanOptions{Storage: NamedStorage(string(f)), Expected: Expected{Transposed: 2}})
	if limitedForms[f] && sparse.IsInput(err) { // the form does not suit a part of the matrix
		return
	}
	require.NoError(t, err)
	checkPlan(t, plan, m, f, x, row)
}

// checkPlan compares the products of a plan with a row of the table, and closes the plan.
func checkPlan(t *testing.T, plan *Plan[float64], m *matio.Matrix, f Form, x []float64, row map[string]string) {
	defer func() { require.NoError(t, plan.Close()) }()
	for _, op := range []Transpose{NoTrans, Trans} {
		n, k := m.Rows, m.Cols
		if op == Trans {
			n, k = k, n
		}
		y := make([]float64, n)
		multiply(t, plan, op, 1, x[:k], 0, y)
		checkResult(t, y, op, row, fmt.Sprintf("%s %s %d devices", row["name"], f, len(plan.sys.devices().List)))
	}
}

// checkResult compares a product with a row of the table.
func checkResult(t *testing.T, y []float64, op Transpose, row map[string]string, where string) {
	prefix := "y_"
	if op == Trans {
		prefix = "z_"
	}
	want := func(column string) float64 {
		v, err := strconv.ParseFloat(row[prefix+column], 64)
		require.NoError(t, err)
		return v
	}
	norm1 := total(y, math.Abs)
	squares := total(y, func(v float64) float64 { return v * v })
	sum := total(y, func(v float64) float64 { return v })
	tol := 1e-12 * want("norm1")
	require.InDelta(t, want("norm1"), norm1, tol, where+prefix)
	require.InDelta(t, want("norm2"), math.Sqrt(squares), tol, where+prefix)
	require.InDelta(t, want("sum"), sum, tol, where+prefix)
}

// total returns the sum of f of all elements, by pairwise summation.
func total(v []float64, f func(float64) float64) float64 {
	if len(v) <= 8 {
		sum := 0.0
		for _, e := range v {
			sum += f(e)
		}
		return sum
	}
	return total(v[:len(v)/2], f) + total(v[len(v)/2:], f)
}

package solver

import (
	"cmp"
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/corpus"
	"github.com/msrep-go/msrep/internal/reference"
	"github.com/msrep-go/msrep/internal/vec"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/matio"
)

// system is one of testdata/scipy.json, which testdata/make.py writes.
type system struct {
	Name      string
	N         int
	Jacobi    bool
	Methods   []string
	Condition float64
	Norm      float64
	Places    []int
	X         []float64
}

var methods = map[string]Method{"cg": CG, "minres": MINRES, "bicgstab": BiCGSTAB, "gmres": GMRES, "fgmres": FGMRES, "idr": IDR, "lsmr": LSMR}

// like names, for methods that testdata/make.py does not run, one that it runs and whose systems they solve as well.
var like = map[string]string{"minres": "cg", "fgmres": "gmres", "idr": "bicgstab"}

func systems(t *testing.T) (out []system) {
	text, err := os.ReadFile(filepath.Join("testdata", "scipy.json"))
	require.NoError(t, err)
	var file struct{ Systems []system }
	require.NoError(t, json.Unmarshal(text, &file))
	return file.Systems
}

// readMatrix reads a matrix of testdata or of the large collection.
func readMatrix(t *testing.T, name string) *matio.Matrix {
	t.Helper()
	path := corpus.Testdata(name + ".mtx.gz")
	if _, err := os.Stat(path); err != nil {
		path = corpus.Shared(t, "matrices", name+".mtx.gz")
	}
	m, err := matio.Read(t.Context(), path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, m.Close()) })
	return m
}

func planOn(t *testing.T, devices string, a *sparse.CSR[float64]) *msrep.Plan[float64] {
	t.Helper()
	return planOf(t, openAs(t, msrep.Config{Devices: devices}), a, msrep.PlanOptions{})
}

// planOf is a plan of a matrix, which its System closes.
func planOf[V sparse.Value](t *testing.T, sys *msrep.System, a sparse.Matrix[V], o msrep.PlanOptions) *msrep.Plan[V] {
	t.Helper()
	plan, err := msrep.NewPlan(context.Background(), sys, a, o)
	require.NoError(t, err)
	return plan
}

// trueResidual is |b - A x|/|b|, with the products of the reference.
func trueResidual(t *testing.T, a *sparse.CSR[float64], b, x []float64) float64 {
	t.Helper()
	y := reference.Multiply(false, -1, a, x, 1, b).Y
	return math.Sqrt(vec.Dot(y, y) / vec.Dot(b, b))
}

// normalResidual is |A'r| / (|A| |r|) with r = b - A x and the Frobenius norm of A.
func normalResidual(a *sparse.CSR[float64], b, x []float64) float64 {
	r := reference.Multiply(false, -1, a, x, 1, b).Y
	n := reference.Multiply(true, 1, a, r, 0, make([]float64, a.Cols)).Y
	return math.Sqrt(vec.Dot(n, n) / vec.Dot(a.Val, a.Val) / vec.Dot(r, r))
}

func sines(n int) []float64 {
	b := make([]float64, n)
	for i := range b {
		b[i] = math.Sin(float64(i + 1))
	}
	return b
}

func TestRealSystemsHaveTheSolutionsOfSciPy(t *testing.T) {
	count := map[string]int{}
	for _, s := range systems(t) {
		t.Run(s.Name, func(t *testing.T) {
			m := readMatrix(t, s.Name)
			plan := planOn(t, "cpu:2", m.CSR)
			var opt Options
			if s.Jacobi {
				var err error
				opt.Precond, err = Jacobi(m.CSR)
				require.NoError(t, err)
			}
			b := sines(s.N)
			for name := range methods {
				if name != "lsmr" && !slices.Contains(s.Methods, cmp.Or(like[name], name)) {
					continue
				}
				x := make([]float64, s.N)
				res, err := methods[name](t.Context(), plan, b, x, opt)
				if name == "lsmr" && err != nil { // the condition of A'A is too large
					continue
				}
				require.NoError(t, err, name)
				require.True(t, res.Converged)
				require.False(t, res.LeastSquares)
				require.LessOrEqual(t, res.Residual, 1e-8)
				require.LessOrEqual(t, trueResidual(t, m.CSR, b, x), 1.001e-8, name)
				require.Len(t, res.History, res.Iterations+1)
				diff := 0.0
				for i, at := range s.Places {
					diff = math.Hypot(diff, x[at]-s.X[i])
				}
				require.LessOrEqual(t, diff, min(1e-8*s.Condition, 1e-5)*s.Norm, "%s: away from SciPy's direct solution", name)
				count[name]++
			}
		})
	}
	t.Logf("systems solved: %v", count)
	if corpus.Shared(t, "matrices") != "" {
		for name := range methods {
			require.GreaterOrEqual(t, count[name], 20, name)
		}
	}
}

// Whatever the matrix is, a solve either reaches the tolerance or says why not.
func TestConvergedIsTrueOnlyWithinTheTolerance(t *testing.T) {
	count := map[string]int{}
	index := corpus.Shared(t, "matrices", "INDEX.tsv")
	for _, row := range corpus.Table(t, index) {
		if row["rows"] != row["cols"] || row["field"] == "complex" {
			continue
		}
		m, err := matio.Read(t.Context(), filepath.Join(filepath.Dir(index), row["file"]))
		require.NoError(t, err)
		if m.Rows > 1500 || m.NNZ() > 50_000 {
			require.NoError(t, m.Close())
			continue
		}
		sys := openAs(t, msrep.Config{Devices: "cpu:1", Threads: 1})
		plan := planOf(t, sys, m.CSR, msrep.PlanOptions{Expected: msrep.Expected{Products: 1}})
		b := sines(m.Rows)
		for name, method := range methods {
			x := make([]float64, m.Rows)
			res, err := method(t.Context(), plan, b, x, Options{MaxIter: 300})
			require.NotNil(t, res, "%s by %s: %v", row["name"], name, err)
			if err == nil {
				require.True(t, res.Converged)
				if res.LeastSquares {
					require.Equal(t, "lsmr", name)
					require.Greater(t, res.Residual, 1e-8)
					require.LessOrEqual(t, normalResidual(m.CSR, b, x), 2.01*leastTol, row["name"])
					count["least squares"]++
					continue
				}
				require.LessOrEqual(t, trueResidual(t, m.CSR, b, x), 1.01e-8, "%s by %s", row["name"], name)
				count["converged"]++
				continue
			}
			var failed *ConvergenceError
			require.ErrorAs(t, err, &failed, "%s by %s", row["name"], name)
			require.False(t, res.Converged)
			require.False(t, res.Residual <= 1e-8)
			if res.LeastSquares {
				require.ErrorIs(t, err, ErrInconsistent)
				require.LessOrEqual(t, normalResidual(m.CSR, b, x), 2*nearNull, "%s by %s", row["name"], name)
			}
			count[failed.Err.Error()]++
		}
		require.NoError(t, sys.Close())
		require.NoError(t, m.Close())
	}
	t.Log(count)
	for _, reason := range []error{ErrBreakdown, ErrStagnation, ErrNotConverged} {
		require.NotZero(t, count[reason.Error()], reason)
	}
}

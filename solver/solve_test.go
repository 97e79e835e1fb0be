package solver

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/corpus"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/gen"
)

func ones(n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = 1
	}
	return v
}

// Eight of the 167 systems that SuperLU solves to 1e-6 have no solution in float64 with a residual of 1e-8 that is known:
// the exact solution, rounded, is above it.
func TestSolveWithoutAChoiceSolvesTheSystemsOfTheCollection(t *testing.T) {
	sys := open(t, "cpu:1")
	solved, count := 0, 0
	for _, row := range corpus.Table(t, corpus.Shared(t, "expected", "systems.tsv")) {
		m := readMatrix(t, row["name"])
		b, x := ones(m.Rows), make([]float64, m.Rows)
		s, err := Solve(t.Context(), sys, m.CSR, b, x, SolveOptions{})
		require.NotNil(t, s, "%s: %v", row["name"], err)
		count++
		require.LessOrEqual(t, exactResidual(m.CSR, b, x), 1.1*s.Residual+1e-9, row["name"])
		if err == nil {
			solved++
			require.True(t, s.Converged)
			require.LessOrEqual(t, exactResidual(m.CSR, b, x), 1.1e-8, row["name"])
			continue
		}
		require.NotNil(t, s.Diagnosis, row["name"])
		require.Equal(t, Singular, s.Diagnosis.Kind, row["name"])
		require.Contains(t, s.Diagnosis.Text, "singular to working precision", row["name"])
	}
	require.Equal(t, 167, count)
	require.GreaterOrEqual(t, solved, 158)
}

// matrixOf returns a matrix of rows.
func matrixOf(rows ...[]float64) *sparse.CSR[float64] {
	m := &sparse.CSR[float64]{Rows: len(rows), Cols: len(rows[0]), RowPtr: []int64{0}, ColIdx: []int32{}, Val: []float64{}}
	for _, r := range rows {
		for j, v := range r {
			if v != 0 {
				m.ColIdx, m.Val = append(m.ColIdx, int32(j)), append(m.Val, v)
			}
		}
		m.RowPtr = append(m.RowPtr, int64(len(m.Val)))
	}
	return m
}

func TestSolveChoosesByTheMatrix(t *testing.T) {
	sys := open(t, "cpu:1")
	random := rand.New(rand.NewPCG(3, 4))
	saddle := laplacian(t, "stencil:n=12,points=5") // zeros on the diagonal, indefinite
	for i := range saddle.Rows {
		for k := saddle.RowPtr[i]; k < saddle.RowPtr[i+1]; k++ {
			if int(saddle.ColIdx[k]) == i && i%3 == 0 {
				saddle.Val[k] = 0
			}
		}
	}
	shifted := laplacian(t, "stencil:n=30,points=5")
	for i := range shifted.Rows {
		for k := shifted.RowPtr[i]; k < shifted.RowPtr[i+1]; k++ {
			if int(shifted.ColIdx[k]) == i {
				shifted.Val[k] += 4
			}
		}
	}
	for _, c := range []struct {
		name   string
		a      *sparse.CSR[float64]
		method string
	}{
		{"well conditioned", shifted, "cg"},
		{"ill conditioned", readMatrix(t, "1138_bus").CSR, "direct"},
		{"zeros on the diagonal", saddle, "direct"},
		{"symmetric and indefinite", matrixOf([]float64{1, 2, 0}, []float64{2, 1, 3}, []float64{0, 3, 1}), "direct"},
		{"dominant", matrixOf([]float64{9, 1, 0}, []float64{2, 9, 1}, []float64{0, 3, 9}), "bicgstab"},
		{"wide", matrixOf([]float64{1, 2, 0}, []float64{2, 1, 3}), "lsmr"},
		{"tall", matrixOf([]float64{1, 2}, []float64{2, 1}, []float64{3, 3}), "lsmr"},
	} {
		want := make([]float64, c.a.Cols)
		for j := range want {
			want[j] = random.Float64() - 0.5
		}
		b := make([]float64, c.a.Rows)
		for i := range b {
			for k := c.a.RowPtr[i]; k < c.a.RowPtr[i+1]; k++ {
				b[i] += c.a.Val[k] * want[c.a.ColIdx[k]]
			}
		}
		x := make([]float64, c.a.Cols)
		s, err := Solve(t.Context(), sys, c.a, b, x, SolveOptions{Tol: 1e-10})
		require.NoError(t, err, c.name)
		require.LessOrEqual(t, exactResidual(c.a, b, x), 1.1e-10, c.name)
		require.Equal(t, c.method, s.Method, c.name)
		last := s.Attempts[len(s.Attempts)-1]
		require.NoError(t, last.Err)
		for _, a := range s.Attempts {
			require.NotEmpty(t, a.Why, c.name)
		}
	}
}

func TestSolveFactorsNearlyTriangularSystemsAtOnce(t *testing.T) {
	a := matrixOf([]float64{2, 1, 0, 0}, []float64{0, 3, 0, 1}, []float64{0, 0, 1, 5}, []float64{0, 0, 0, 2})
	b, x := ones(4), make([]float64, 4)
	s, err := Solve(t.Context(), open(t, "cpu:1"), a, b, x, SolveOptions{})
	require.NoError(t, err)
	require.Len(t, s.Attempts, 1)
	require.Equal(t, "direct", s.Method)
	require.LessOrEqual(t, exactResidual(a, b, x), 1e-15)
}

func TestSolveSaysWhatIsWrongWithASystem(t *testing.T) {
	sys := open(t, "cpu:1")
	for _, c := range []struct {
		name string
		a    *sparse.CSR[float64]
		b    []float64
		kind DiagnosisKind
		says string
	}{
		{"a zero row", matrixOf([]float64{1, 2, 0}, []float64{0, 0, 0}, []float64{0, 3, 1}), []float64{1, 1, 1}, StructurallySingular, "1 of its rows: 1"},
		{"two rows with one column", matrixOf([]float64{0, 2, 0}, []float64{0, 1, 0}, []float64{4, 3, 1}), []float64{1, 2, 3}, StructurallySingular, "1 of its rows"},
		{"equal rows", matrixOf([]float64{1, 2, 3}, []float64{1, 2, 3}, []float64{0, 3, 1}), []float64{1, 2, 1}, Singular, "singular"},
		{"more rows than columns", matrixOf([]float64{1, 2}, []float64{2, 1}, []float64{1, 1}), []float64{1, 1, 5}, Inconsistent, "no x satisfies all equations"},
	} {
		x := make([]float64, c.a.Cols)
		s, err := Solve(t.Context(), sys, c.a, c.b, x, SolveOptions{})
		var unsolved *SystemError
		require.ErrorAs(t, err, &unsolved, c.name)
		require.Equal(t, c.kind, unsolved.Kind, "%s: %v", c.name, err)
		require.Contains(t, err.Error(), c.says, c.name)
		require.Equal(t, unsolved.Diagnosis, *s.Diagnosis)
		require.False(t, s.Converged)
		require.InDelta(t, s.Residual, exactResidual(c.a, c.b, x), 1e-6, c.name)
	}
}

func TestSolveFindsSolutionsOfSingularSystems(t *testing.T) {
	sys := open(t, "cpu:1")
	const n = 50
	rows := make([][]float64, n)
	b := make([]float64, n)
	for i := range rows { // Neumann problem: constants are the null space
		rows[i] = make([]float64, n)
		for _, j := range []int{i - 1, i + 1} {
			if j >= 0 && j < n {
				rows[i][j], rows[i][i] = -1, rows[i][i]+1
			}
		}
		b[i] = float64(2*i - n + 1)
	}
	a, x := matrixOf(rows...), make([]float64, n)
	_, err := Solve(t.Context(), sys, a, b, x, SolveOptions{})
	require.NoError(t, err)
	require.LessOrEqual(t, exactResidual(a, b, x), 1.1e-8)
	b[0]++
	s, err := Solve(t.Context(), sys, a, b, x, SolveOptions{})
	require.Error(t, err)
	require.NotNil(t, s.Diagnosis)
	require.Equal(t, Singular, s.Diagnosis.Kind)
}

func TestSolveRefusesBadInput(t *testing.T) {
	sys := open(t, "cpu:1")
	a := laplacian(t, "stencil:n=4,points=5")
	bad := laplacian(t, "stencil:n=4,points=5")
	bad.Val[3] = math.NaN()
	b, x := ones(16), make([]float64, 16)
	infinite := ones(16)
	infinite[2] = math.Inf(1)
	for _, c := range []struct {
		says string
		err  func() error
	}{
		{"b: 15 elements", func() error { _, err := Solve(t.Context(), sys, a, b[:15], x, SolveOptions{}); return err }},
		{"x: 3 elements", func() error { _, err := Solve(t.Context(), sys, a, b, x[:3], SolveOptions{}); return err }},
		{"x: shares memory", func() error { _, err := Solve(t.Context(), sys, a, b, b, SolveOptions{}); return err }},
		{"b: element 2 is +Inf", func() error { _, err := Solve(t.Context(), sys, a, infinite, x, SolveOptions{}); return err }},
		{"row 1, column 0 is NaN", func() error { _, err := Solve(t.Context(), sys, bad, b, x, SolveOptions{}); return err }},
		{"matrix: is nil", func() error { _, err := Solve(t.Context(), sys, nil, b, x, SolveOptions{}); return err }},
		{"system: is nil", func() error { _, err := Solve(t.Context(), nil, a, b, x, SolveOptions{}); return err }},
		{"method: \"luck\"", func() error {
			_, err := Solve(t.Context(), sys, a, b, x, SolveOptions{Choice: Choice{Method: "luck"}})
			return err
		}},
		{"order: \"amd\": cg has no factors", func() error {
			_, err := Solve(t.Context(), sys, a, b, x, SolveOptions{Choice: Choice{Method: "cg", Order: "amd"}})
			return err
		}},
		{"precond: \"ilu\": direct takes no", func() error {
			_, err := Solve(t.Context(), sys, a, b, x, SolveOptions{Choice: Choice{Method: "direct", Precond: "ilu"}})
			return err
		}},
		{"tolerance: 2", func() error { _, err := Solve(t.Context(), sys, a, b, x, SolveOptions{Tol: 2}); return err }},
		{"needs a square matrix", func() error {
			_, err := Solve(t.Context(), sys, matrixOf([]float64{1, 2}), b[:1], x[:2], SolveOptions{Choice: Choice{Method: "cg"}})
			return err
		}},
	} {
		err := c.err()
		require.True(t, sparse.IsInput(err), "%s: %v", c.says, err)
		require.Contains(t, err.Error(), c.says)
	}
}

func TestSolveKeepsToItsLimits(t *testing.T) {
	sys := open(t, "cpu:1")
	a := laplacian(t, "stencil:n=300,points=5")
	b, x := ones(a.Rows), make([]float64, a.Rows)
	s, err := Solve(t.Context(), sys, a, b, x, SolveOptions{Choice: Choice{Method: "cg"}, Tol: 1e-15, Time: time.Millisecond})
	var unsolved *SystemError
	require.ErrorAs(t, err, &unsolved)
	require.Equal(t, Limit, unsolved.Kind)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.NotNil(t, s.Diagnosis)

	s, err = Solve(t.Context(), sys, a, b, x, SolveOptions{MaxBytes: 1000})
	require.NoError(t, err)
	require.NotEqual(t, "direct", s.Method)
	require.LessOrEqual(t, exactResidual(a, b, x), 1.1e-8)

	clear(x) // else it is the first guess
	ctx, cancel := context.WithCancel(t.Context())
	_, err = Solve(ctx, sys, a, b, x, SolveOptions{Progress: func(s Step) {
		if s.Iteration == 3 {
			cancel()
		}
	}})
	require.ErrorIs(t, err, context.Canceled)
	require.False(t, errors.As(err, &unsolved))
	require.Less(t, exactResidual(a, b, x), 1.0, "x is the last iterate")
}

func TestSolveWithAChoiceMakesOneAttempt(t *testing.T) {
	sys := open(t, "cpu:1")
	a := laplacian(t, "stencil:n=20,points=5")
	b, x := ones(a.Rows), make([]float64, a.Rows)
	for _, c := range []Choice{
		{Method: "cg"}, {Method: "cg", Precond: "ic"}, {Method: "minres", Precond: "jacobi"}, {Method: "bicgstab", Precond: "ilu", Order: "rcm"},
		{Method: "gmres", Precond: "ilut"}, {Method: "fgmres", Precond: "block-jacobi:5"}, {Method: "idr"}, {Method: "lsmr"}, {Method: "direct"},
		{Method: "direct", Order: "rcm"}, {Precond: "ilu"}, {Precond: "ic"}, {Precond: "none"}, {Order: "none"},
		{Precond: "amg"}, {Method: "gmres", Precond: "amg"}, {Precond: "chebyshev"},
	} {
		s, err := Solve(t.Context(), sys, a, b, x, SolveOptions{Choice: c})
		require.NoError(t, err, c)
		require.Len(t, s.Attempts, 1)
		if c.Method != "" {
			require.Equal(t, c.Method, s.Method)
		}
		if c.Precond != "" {
			require.Equal(t, c.Precond, s.Precond)
		}
		require.LessOrEqual(t, exactResidual(a, b, x), 1.1e-8, c)
	}
	indefinite := matrixOf([]float64{1, 0}, []float64{0, -2})
	_, err := Solve(t.Context(), sys, indefinite, b[:2], x[:2], SolveOptions{Choice: Choice{Method: "cg"}})
	require.ErrorIs(t, err, ErrBreakdown)
}

func TestSolveGivesTheSameBitsOnAnyDevices(t *testing.T) {
	for _, spec := range []string{"stencil:n=16,points=5", "stencil:n=5,dims=3"} {
		a := laplacian(t, spec)
		for k := range a.Val {
			a.Val[k] *= 1 + float64(k%7)/100
		}
		b := make([]float64, a.Rows)
		for i := range b {
			b[i] = math.Sin(float64(i + 1))
		}
		for _, c := range []Choice{{}, {Method: "gmres", Precond: "ilut"}, {Precond: "amg"}, {Method: "direct"}, {Method: "lsmr"}} {
			var first []float64
			for _, devices := range []string{"cpu:1", "cpu:3", "sim:1", "sim:6"} {
				x := make([]float64, a.Rows)
				_, err := Solve(t.Context(), open(t, devices), a, b, x, SolveOptions{Choice: c, Deterministic: true})
				require.NoError(t, err, "%v on %s", c, devices)
				if first == nil {
					first = x
				}
				require.Equal(t, first, x, fmt.Sprint(c, devices))
			}
		}
	}
}

func TestSolveOnDevicesWithTheirOwnMemory(t *testing.T) {
	a := laplacian(t, "stencil:n=12,points=5")
	b := ones(a.Rows)
	for _, devices := range []string{"sim:1", "sim:2", "sim:6"} {
		for _, c := range []Choice{{}, {Method: "minres"}, {Method: "idr"}, {Method: "fgmres", Precond: "ilu"}, {Method: "lsmr"}} {
			x := make([]float64, a.Rows)
			_, err := Solve(t.Context(), open(t, devices), a, b, x, SolveOptions{Choice: c})
			require.NoError(t, err, "%v on %s", c, devices)
			require.LessOrEqual(t, exactResidual(a, b, x), 1.1e-8)
		}
	}
}

func TestAPanicInTheProgressOfSolveReachesTheCaller(t *testing.T) {
	sys := open(t, "cpu:1")
	a := laplacian(t, "stencil:n=20,points=5")
	b, x := ones(a.Rows), make([]float64, a.Rows)
	require.PanicsWithValue(t, "no", func() {
		_, _ = Solve(t.Context(), sys, a, b, x, SolveOptions{Progress: func(Step) { panic("no") }})
	})
	_, err := Solve(t.Context(), sys, a, b, x, SolveOptions{})
	require.NoError(t, err)
}

// For a large mesh in two dimensions, multigrid cycles are expected to take less time than factors.
func TestSolveChoosesMultigridForLargeMeshes(t *testing.T) {
	sys := open(t, "cpu:1")
	a, _, err := gen.Generate("stencil:n=300,points=5")
	require.NoError(t, err)
	b, x := ones(a.Rows), make([]float64, a.Rows)
	s, err := Solve(t.Context(), sys, a, b, x, SolveOptions{})
	require.NoError(t, err)
	require.Equal(t, Choice{Method: "cg", Precond: "amg"}, s.Choice)
	require.Len(t, s.Attempts, 2)
	require.Contains(t, s.Attempts[1].Why, "multigrid cycles: about 0.0")
	require.LessOrEqual(t, s.Iterations, 18)

	for i := range a.Rows { // convection
		for k := a.RowPtr[i]; k < a.RowPtr[i+1]; k++ {
			if j := int(a.ColIdx[k]); j == i-1 {
				a.Val[k] -= 0.1
			} else if j == i {
				a.Val[k] += 0.1
			}
		}
	}
	clear(x)
	s, err = Solve(t.Context(), sys, a, b, x, SolveOptions{Choice: Choice{Precond: "amg"}})
	require.NoError(t, err)
	require.Equal(t, "gmres", s.Method)
	clear(x)
	s, err = Solve(t.Context(), sys, a, b, x, SolveOptions{})
	require.NoError(t, err)
	require.Equal(t, Choice{Method: "bicgstab", Precond: "amg"}, s.Choice)
}

// A hierarchy for a matrix with a zero on its diagonal is an error that names the row.
func TestSolveWithMultigridNamesAZeroOnTheDiagonal(t *testing.T) {
	a := laplacian(t, "stencil:n=30,points=5")
	for k := a.RowPtr[7]; k < a.RowPtr[8]; k++ {
		if a.ColIdx[k] == 7 {
			a.Val[k] = 0
		}
	}
	_, err := Solve(t.Context(), open(t, "cpu:1"), a, ones(a.Rows), make([]float64, a.Rows), SolveOptions{Choice: Choice{Precond: "amg"}})
	require.ErrorContains(t, err, "matrix: its diagonal element in row 7 is zero")
}

// Solve stores a basis beyond the caches in 32 bits, on CPU devices, unless the options name another one.
func TestSolveChoosesTheBasisBySize(t *testing.T) {
	a := laplacian(t, "stencil:n=530,points=5") // 67 MB for 30 vectors
	for _, c := range []struct {
		restart     int
		basis, want Basis
	}{{0, "", BasisInt32}, {20, "", BasisFloat64}, {0, BasisFloat64, BasisFloat64}, {20, BasisInt32, BasisInt32}} {
		s, err := Solve(t.Context(), open(t, "cpu:2"), a, ones(a.Rows), make([]float64, a.Rows), SolveOptions{
			Choice: Choice{Method: "gmres"}, Restart: c.restart, Basis: c.basis, Tol: 1e-3})
		require.NoError(t, err)
		require.Equal(t, c.want, s.Basis)
	}
	_, err := Solve(t.Context(), open(t, "cpu:1"), a, ones(a.Rows), make([]float64, a.Rows), SolveOptions{Basis: "half"})
	require.ErrorContains(t, err, `basis: "half" is not known`)
}

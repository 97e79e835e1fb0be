package solver

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/vec"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/solver/internal/space"
	"github.com/msrep-go/msrep/sparse"
)

// With vectors in 32 bits, A q_j is the given combination of the stored vectors up to the rounding of the last one, also where
// products are almost in the span of the basis.
func TestACompactBasisKeepsTheArnoldiRelation(t *testing.T) {
	const n, m = SumChunk + 904, 40
	for name, a := range map[string]*sparse.CSR[float64]{
		"condition 1e14":         diagonalOf(n, func(x float64) float64 { return math.Pow(10, -14*x) }),
		"almost the unit matrix": diagonalOf(n, func(x float64) float64 { return 1 + 1e-6*x }),
		"stencil":                laplacian(t, "stencil:n=100,points=5"),
	} {
		t.Run(name, func(t *testing.T) {
			s := space.NewHost(t.Context(), planOn(t, "cpu:2", a), nil, nil)
			r, _ := s.Load(sines(a.Rows), make([]float64, a.Rows))
			norm := math.Sqrt(s.Dot(r, r))
			k := &krylov{task: &task{Space: s}, v: []space.Vector{r}, g: []float64{norm}, compact: &compactBasis{in: true}}
			k.beginCompact(r)
			for j := range m {
				require.False(t, k.extend(j), "vector %d", j)
			}
			q := make([]space.Vector, m+1)
			for i := range q {
				q[i] = k.Zero()
				k.compact.v.Combine(unitVector(i, 1/k.size[i]), q[i])
			}
			w := k.Zero()
			for j, col := range k.a {
				k.Product(1, q[j], 0, w)
				largest := math.Sqrt(k.Dot(w, w))
				k.Add(-1, col, q[:j+2], w)
				require.LessOrEqual(t, math.Sqrt(k.Dot(w, w)), math.Ldexp(largest, -24), "column %d", j)
				require.InDelta(t, 1, k.Dot(q[j], q[j]), 1e-12)
				for i := range j {
					require.InDelta(t, 0, k.Dot(q[i], q[j]), 1e-6, "%d, %d", i, j)
				}
			}
			require.NoError(t, s.Failed())
		})
	}
}

// unitVector returns i zeros and then v.
func unitVector(i int, v float64) []float64 { return append(make([]float64, i), v) }

// diagonalOf returns the diagonal matrix with elements at(0) to at(1).
func diagonalOf(n int, at func(x float64) float64) *sparse.CSR[float64] {
	a := &sparse.CSR[float64]{Rows: n, Cols: n, RowPtr: make([]int64, n+1)}
	for i := range n {
		a.ColIdx, a.Val = append(a.ColIdx, int32(i)), append(a.Val, at(float64(i)/float64(n-1)))
		a.RowPtr[i+1] = int64(i + 1)
	}
	return a
}

// A compact basis takes as many iterations as one in float64, within 10 %, and about half of its bytes.
func TestGMRESWithACompactBasisReachesTheTolerance(t *testing.T) {
	a := laplacian(t, "stencil:n=100,points=5")
	for i := range a.Rows { // nearly the discrete Laplacian, which takes many cycles, and not symmetric
		for k := a.RowPtr[i]; k < a.RowPtr[i+1]; k++ {
			switch {
			case int(a.ColIdx[k]) > i:
				a.Val[k] *= 1.01
			case int(a.ColIdx[k]) == i:
				a.Val[k] = 4.022
			}
		}
	}
	b := ones(a.Rows)
	jacobi, err := Jacobi(a)
	require.NoError(t, err)
	for name, method := range map[string]Method{"gmres": GMRES, "fgmres": FGMRES} {
		for precond, m := range map[string]Preconditioner{"none": nil, "jacobi": jacobi} {
			t.Run(name+" "+precond, func(t *testing.T) {
				opt := Options{Restart: 20, Precond: m, Tol: 1e-10}
				wide, err := method(t.Context(), planOn(t, "cpu:2", a), b, make([]float64, a.Rows), opt)
				require.NoError(t, err)
				require.Equal(t, BasisFloat64, wide.Basis)
				require.Greater(t, wide.Iterations, 200, "many cycles")
				opt.Basis = BasisInt32
				for _, devices := range []string{"cpu:1", "cpu:2"} {
					x := make([]float64, a.Rows)
					res, err := method(t.Context(), planOn(t, devices, a), b, x, opt)
					require.NoError(t, err)
					require.Equal(t, BasisInt32, res.Basis)
					require.Zero(t, res.WidenedAt)
					require.LessOrEqual(t, trueResidual(t, a, b, x), 1.01e-10)
					require.InEpsilon(t, wide.Iterations, res.Iterations, 0.1)
					perIteration := func(r *Result) float64 { return float64(r.BasisBytes) / float64(r.Iterations) }
					t.Log(wide.Iterations, res.Iterations, perIteration(res)/perIteration(wide))
					require.Less(t, perIteration(res), 0.65*perIteration(wide))
				}
			})
		}
	}
}

func TestACompactBasisGivesTheSameBitsOnAnyNumberOfThreads(t *testing.T) {
	a := unsymmetric(t, "stencil:n=100,points=5")
	var first []float64
	for _, devices := range []string{"cpu:1", "cpu:2", "cpu:3"} {
		x := make([]float64, a.Rows)
		plan := planOf(t, openAs(t, msrep.Config{Devices: devices}), a, msrep.PlanOptions{Deterministic: true})
		_, err := GMRES(t.Context(), plan, sines(a.Rows), x, Options{Restart: 10, Basis: BasisInt32})
		require.NoError(t, err)
		if first == nil {
			first = x
		}
		require.Equal(t, first, x, devices)
	}
}

// The rounding of a compact basis hides what a float64 basis finds: the residual of x shows it, and the basis becomes float64.
func TestACompactBasisBecomesFloat64WhereRoundingMatters(t *testing.T) {
	a := diagonalOf(301, func(x float64) float64 {
		if x < 0.5 {
			return 1e-9 * (1 + 5*x)
		}
		return 1 + 5*x
	})
	b := sines(a.Rows)
	x := make([]float64, a.Rows)
	res, err := GMRES(t.Context(), planOn(t, "cpu:1", a), b, x, Options{Restart: 20, Basis: BasisInt32, Tol: 1e-10})
	require.NoError(t, err)
	require.Positive(t, res.WidenedAt)
	require.LessOrEqual(t, trueResidual(t, a, b, x), 1.01e-10)
}

func TestACompactBasisSolvesSystemsWithTinyAndHugeElements(t *testing.T) {
	for _, scale := range []float64{1e-150, 1e-60, 1, 1e60, 1e150} {
		a := unsymmetric(t, "stencil:n=8,points=5")
		for i := range a.Val {
			a.Val[i] *= scale
		}
		b, x := sines(a.Rows), make([]float64, a.Rows)
		_, err := GMRES(t.Context(), planOn(t, "cpu:1", a), b, x, Options{Restart: 4, Basis: BasisInt32})
		require.NoError(t, err, "%g", scale)
		r := sines(a.Rows)
		for i := range a.Rows {
			for k := a.RowPtr[i]; k < a.RowPtr[i+1]; k++ {
				r[i] -= a.Val[k] * x[a.ColIdx[k]]
			}
		}
		require.LessOrEqual(t, math.Sqrt(vec.Dot(r, r)/vec.Dot(b, b)), 1.1e-8)
	}
}

func TestACompactBasisIsRefusedOnDevicesWithTheirOwnMemory(t *testing.T) {
	a := laplacian(t, "stencil:n=4,points=5")
	for _, method := range []Method{GMRES, FGMRES} {
		_, err := method(t.Context(), planOn(t, "sim:1", a), sines(a.Rows), make([]float64, a.Rows), Options{Basis: BasisInt32})
		require.True(t, sparse.IsInput(err))
		require.ErrorContains(t, err, `basis: "int32" takes vectors in host memory`)
	}
	_, err := CG(t.Context(), planOn(t, "sim:1", a), sines(a.Rows), make([]float64, a.Rows), Options{Basis: BasisInt32})
	require.NoError(t, err, "other methods do not use it")
	_, err = GMRES(t.Context(), planOn(t, "cpu:1", a), sines(a.Rows), make([]float64, a.Rows), Options{Basis: "int16"})
	require.True(t, sparse.IsInput(err))
	require.ErrorContains(t, err, `basis: "int16" is not known: use float64 or int32`)
}

// An exact solution within a cycle, a 1 x 1 matrix and a singular one end as with a float64 basis.
func TestACompactBasisEndsWhereTheKrylovSpaceEnds(t *testing.T) {
	for name, a := range map[string]*sparse.CSR[float64]{
		"1 x 1":    dense(t, []float64{3}),
		"identity": diagonalOf(50, func(float64) float64 { return 2 }),
		"three":    diagonalOf(60, func(x float64) float64 { return 1 + math.Floor(2.99*x) }),
		"singular": dense(t, []float64{0, 1}, []float64{0, 0}),
	} {
		b := sines(a.Rows)
		s := space.NewHost(t.Context(), planOn(t, "cpu:1", a), nil, nil)
		bv, xv := s.Load(b, make([]float64, a.Rows))
		for _, flexible := range []bool{false, true} {
			task := &task{Space: s, b: bv, x: xv, norm: math.Sqrt(s.Dot(bv, bv)), res: &Result{}, rows: a.Rows, window: 1000}
			require.NoError(t, task.opt.fill(a.Rows))
			k := &krylov{task: task, z: s.Zero(), compact: &compactBasis{in: true}, flexible: flexible}
			s.Set(0, xv, xv)
			v0 := s.Zero()
			_, err := k.start(v0, 1)
			require.NoError(t, err)
			k.choose()
			err = k.cycle(v0)
			if name == "singular" {
				require.NoError(t, err)
				_, err = k.start(v0, 1)
				require.NoError(t, err)
				k.choose()
				require.Nil(t, k.compact, "a float64 basis must decide")
				require.ErrorIs(t, k.cycle(v0), ErrBreakdown)
				continue
			}
			require.NoError(t, err, name)
			require.LessOrEqual(t, k.residual(v0), 1e-8, name)
			require.LessOrEqual(t, task.res.Iterations, 4, name)
		}
	}
}

package triangular

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/internal/memory"
	"github.com/msrep-go/msrep/kernels/cpu/internal/workers"
	"github.com/msrep-go/msrep/sparse"
)

// open returns the memory of a device with n workers.
func open(t testing.TB, n int) *memory.Memory {
	pool := workers.New(n, workers.DefaultGrain, nil, func(error) {})
	m := memory.New(nil, kernels.Info{ID: "cpu:0", NUMANode: -1}, pool, func(error) {})
	t.Cleanup(func() {
		pool.Close()
		require.NoError(t, m.Close())
	})
	return m
}

// pattern decides which columns a row of a lower triangle has, by its distance from the diagonal.
type pattern struct {
	name string
	n    int
	has  func(r *rand.Rand, row, col int) bool
}

func patterns() []pattern {
	density := func(p float64) func(*rand.Rand, int, int) bool {
		return func(r *rand.Rand, _, _ int) bool { return r.Float64() < p }
	}
	return []pattern{
		{"empty", 0, nil},
		{"one row", 1, density(1)},
		{"two rows", 2, density(1)},
		{"diagonal", 100, density(0)},
		{"chain", 203, func(_ *rand.Rand, row, col int) bool { return col == row-1 }},
		{"dense", 67, density(1)},
		{"sparse", 300, density(0.03)},
		{"half", 150, density(0.5)},
		{"one long row", 500, func(r *rand.Rand, row, _ int) bool { return row == 400 || r.Float64() < 0.002 }},
		{"empty rows", 260, func(r *rand.Rand, row, col int) bool { return row%3 == 0 && r.Float64() < 0.2 }},
		{"bands", 400, func(_ *rand.Rand, row, col int) bool { return row-col < 3 || row-col > 40 && row-col < 61 }},
		{"rows in eights", 333, func(_ *rand.Rand, row, col int) bool { return (row/8*7+col*13)%11 < 4 }},
		{"rows end dense", 250, func(r *rand.Rand, row, col int) bool { return row > 180 || r.Float64() < 0.01 }},
		{"grid", 3200, func(_ *rand.Rand, row, col int) bool { return row-col == 1 && row%40 > 0 || row-col == 40 }},
		{"levels", 4000, func(_ *rand.Rand, row, col int) bool {
			return row-col == 1 && row%2000 > 0 && row%2000 < 40 || row-col == 2000
		}},
		{"far", 900, func(r *rand.Rand, row, col int) bool { return row-col < 3 || row > 300 && r.Float64() < 0.5 }},
	}
}

// triangle returns a triangle with random values, whose solutions do not grow.
func triangle[V sparse.Value](p pattern, upper, unit bool, seed uint64) *kernels.TrianglePacking[V] {
	r := rand.New(rand.NewPCG(seed, 1))
	op := &kernels.TrianglePacking[V]{Upper: upper, Ptr: []int64{0}}
	rows := make([][]int32, p.n)
	for row := range p.n {
		for col := range row {
			if p.has(r, row, col) {
				a, b := row, col
				if upper {
					a, b = p.n-1-row, p.n-1-col
				}
				rows[a] = append(rows[a], int32(b))
			}
		}
	}
	for i, cols := range rows {
		slices.Sort(cols)
		op.Idx = append(op.Idx, cols...)
		op.Ptr = append(op.Ptr, int64(len(op.Idx)))
		for range cols {
			op.Val = append(op.Val, V(r.NormFloat64())/V(1+len(cols)))
		}
		if !unit {
			op.Diag = append(op.Diag, V(1+r.Float64())*V(1-2*(i%2)))
		}
	}
	if !unit && p.n == 0 {
		op.Diag = []V{}
	}
	return op
}

func vector[V sparse.Value](n int, seed uint64) []V {
	r := rand.New(rand.NewPCG(seed, 2))
	x := make([]V, n)
	for i := range x {
		x[i] = V(r.NormFloat64())
	}
	return x
}

// requireSolved requires |T*x - alpha*b| <= c*eps*(|T||x| + |alpha*b|) in each row, with c about the length of the row.
func requireSolved[V sparse.Value](t *testing.T, op *kernels.TrianglePacking[V], alpha V, x, b []V) {
	t.Helper()
	eps := 0x1p-52
	if mem.Size[V]() == 4 {
		eps = 0x1p-23
	}
	for row := range op.Rows() {
		d := 1.0
		if op.Diag != nil {
			d = float64(op.Diag[row])
		}
		sum, size := d*float64(x[row]), math.Abs(d*float64(x[row]))
		for k := op.Ptr[row]; k < op.Ptr[row+1]; k++ {
			v := float64(op.Val[k]) * float64(x[op.Idx[k]])
			sum += v
			size += math.Abs(v)
		}
		right := float64(alpha) * float64(b[row])
		c := float64(op.Ptr[row+1]-op.Ptr[row]) + 8
		if !(math.Abs(sum-right) <= c*eps*(size+math.Abs(right))) {
			require.LessOrEqual(t, math.Abs(sum-right), c*eps*(size+math.Abs(right)), "row %d of %d", row, op.Rows())
		}
	}
}

func solve[V sparse.Value](t testing.TB, m *memory.Memory, a kernels.Packed, alpha V, b, x []V) {
	t.Helper()
	require.NoError(t, Solve(scratch[V](m), &kernels.TriangularSolve[V]{A: a, Alpha: alpha, B: vectors(m, b, 1), X: vectors(m, x, 1)}))
}

func vectors[V sparse.Value](m *memory.Memory, v []V, cols int) kernels.MultiVector[V] {
	return kernels.MultiVector[V]{Val: kernels.AdoptArray(m, v), Cols: cols, Stride: cols}
}

func scratch[V sparse.Value](m *memory.Memory) *memory.Scratch[V] {
	if s, ok := any(&m.Scratch64).(*memory.Scratch[V]); ok {
		return s
	}
	return any(&m.Scratch32).(*memory.Scratch[V])
}

// small cuts the triangles of the tests into phases.
var small = sizeOfPhases{least: 1 << 16, entries: 1 << 13, rows: 1000, perLevel: 8, level: 100}

func levels() []simd.Level { return simd.Levels() }

func TestATriangleIsSolved(t *testing.T) {
	t.Run("float64", testSolves[float64])
	t.Run("float32", testSolves[float32])
}

func testSolves[V sparse.Value](t *testing.T) {
	m, m3 := open(t, 1), open(t, 3)
	for _, level := range levels() {
		for i, p := range patterns() {
			for _, upper := range []bool{false, true} {
				for _, unit := range []bool{false, true} {
					t.Run(fmt.Sprint(level, " ", p.name, " ", upper, " ", unit), func(t *testing.T) {
						op := triangle[V](p, upper, unit, uint64(i))
						a, err := newAt(m, op, level, small)
						require.NoError(t, err)
						defer func() { require.NoError(t, a.Free()) }()
						b, x := vector[V](p.n, 3), make([]V, p.n)
						solve(t, m, a, 1, b, x)
						requireSolved(t, op, 1, x, b)

						inPlace := slices.Clone(b)
						solve(t, m, a, -2.5, inPlace, inPlace)
						requireSolved(t, op, -2.5, inPlace, b)

						several, err := newAt(m3, op, level, small)
						require.NoError(t, err)
						defer func() { require.NoError(t, several.Free()) }()
						for range 3 {
							y := slices.Clone(b)
							solve(t, m3, several, 1, y, y)
							require.Equal(t, x, y, "the number of workers does not change a bit")
						}
					})
				}
			}
		}
	}
}

// Every kind and both forms occur in the patterns, or the tests above would not test them.
func TestThePatternsHaveAllKinds(t *testing.T) {
	m := open(t, 1)
	var seen [kinds]int
	phases := 0
	for i, p := range patterns() {
		a, err := newAt(m, triangle[float64](p, false, false, uint64(i)), simd.AVX512, small)
		require.NoError(t, err)
		for _, p := range a.phases {
			for _, s := range slices.Concat(append(p.far, p.near)...) {
				seen[s.kind]++
			}
		}
		phases = max(phases, len(a.phases))
		require.NoError(t, a.Free())
	}
	require.NotContains(t, seen, 0)
	require.Greater(t, phases, 3)
}

// The loops in Go compute all kinds.
func TestTheLoopsComputeAllKinds(t *testing.T) {
	m := open(t, 1)
	for i, p := range patterns() {
		for _, upper := range []bool{false, true} {
			op := triangle[float64](p, upper, false, uint64(i))
			a, err := newAt(m, op, simd.AVX512, small)
			require.NoError(t, err)
			a.level = simd.Generic
			b, x := vector[float64](p.n, 3), make([]float64, p.n)
			solve(t, m, a, 1, b, x)
			requireSolved(t, op, 1, x, b)
			require.NoError(t, a.Free())
		}
	}
}

func TestSeveralVectorsAreSolvedAsOne(t *testing.T) {
	m := open(t, 2)
	for i, p := range patterns() {
		op := triangle[float64](p, i%2 == 0, false, uint64(i))
		a, err := newAt(m, op, simd.Best(), small)
		require.NoError(t, err)
		const cols = 5
		b := vector[float64](p.n*cols, 4)
		x := make([]float64, len(b))
		require.NoError(t, Solve(&m.Scratch64, &kernels.TriangularSolve[float64]{A: a, Alpha: 2, B: vectors(m, b, cols), X: vectors(m, x, cols)}))
		for j := range cols {
			one := make([]float64, p.n)
			for i := range one {
				one[i] = b[i*cols+j]
			}
			solve(t, m, a, 2, one, one)
			for i := range one {
				require.Equal(t, one[i], x[i*cols+j])
			}
		}
		require.NoError(t, a.Free())
	}
}

func TestUpdateReplacesTheValues(t *testing.T) {
	m := open(t, 1)
	for i, p := range patterns() {
		op, other := triangle[float64](p, i%2 == 0, false, uint64(i)), triangle[float64](p, i%2 == 0, false, uint64(i))
		for k := range other.Val {
			other.Val[k] *= -0.7
		}
		for k := range other.Diag {
			other.Diag[k] *= 3
		}
		a, err := newAt(m, op, simd.Best(), small)
		require.NoError(t, err)
		b, x := vector[float64](p.n, 4), make([]float64, p.n)
		require.NoError(t, a.Update(other))
		solve(t, m, a, 1, b, x)
		requireSolved(t, other, 1, x, b)

		if p.n > 0 { // a value that cannot be scaled, and back
			tiny := triangle[float64](p, i%2 == 0, false, uint64(i))
			tiny.Diag[p.n/2] = 1e-310
			require.NoError(t, a.Update(tiny))
			require.Equal(t, kernels.FormCSR, a.Info().Form)
			require.NoError(t, a.Update(op))
			require.NotEqual(t, kernels.FormCSR, a.Info().Form)
			solve(t, m, a, 1, b, x)
			requireSolved(t, op, 1, x, b)
		}
		require.NoError(t, a.Free())
		require.ErrorIs(t, a.Update(op), kernels.ErrClosed)
		require.Zero(t, m.InUse())
	}
	op := triangle[float64](patterns()[6], false, false, 1)
	a, err := newAt(m, op, simd.Best(), small)
	require.NoError(t, err)
	defer a.Free()
	unit := *op
	unit.Diag = nil
	require.ErrorIs(t, a.Update(&unit), kernels.ErrArgument)
	require.ErrorIs(t, a.Update(triangle[float32](patterns()[6], false, false, 1)), kernels.ErrArgument)
	require.ErrorIs(t, a.Update(triangle[float64](patterns()[5], false, false, 1)), kernels.ErrArgument)
}

// 1/1e-310 overflows, but the solution need not.
func TestExtremeDiagonalsAreDividedBy(t *testing.T) {
	m := open(t, 1)
	op := &kernels.TrianglePacking[float64]{Ptr: []int64{0, 0, 1, 2}, Idx: []int32{0, 1}, Val: []float64{3e-310, 1e300}, Diag: []float64{1e-310, 1e-309, 1e305}}
	a, err := New(m, op)
	require.NoError(t, err)
	defer a.Free()
	x := make([]float64, 3)
	solve(t, m, a, 1, []float64{1e-310, 13e-310, 2e300}, x)
	require.InDeltaSlice(t, []float64{1, 1, 1e-5}, x, 1e-12)
}

// An infinity or NaN reaches the rows that depend on it, and no others.
func TestInfinitiesReachOnlyDependentRows(t *testing.T) {
	m := open(t, 1)
	for _, level := range levels() {
		for i, p := range patterns() {
			for _, upper := range []bool{false, true} {
				if p.n < 20 {
					continue
				}
				op := triangle[float64](p, upper, false, uint64(i))
				a, err := newAt(m, op, level, small)
				require.NoError(t, err)
				b := vector[float64](p.n, 5)
				bad := p.n / 3
				if upper {
					bad = p.n - 1 - bad
				}
				b[bad] = math.Inf(1)
				depends := make([]bool, p.n)
				depends[bad] = true
				for place := range p.n {
					row := a.row(place)
					for k := op.Ptr[row]; k < op.Ptr[row+1]; k++ {
						depends[row] = depends[row] || depends[op.Idx[k]]
					}
				}
				x := make([]float64, p.n)
				solve(t, m, a, 1, b, x)
				for row, d := range depends {
					require.Equal(t, d, math.IsInf(x[row], 0) || math.IsNaN(x[row]), "%s row %d", p.name, row)
				}
				require.NoError(t, a.Free())
			}
		}
	}
}

func TestWrongTrianglesAreRefused(t *testing.T) {
	m, other := open(t, 1), open(t, 1)
	good := func() *kernels.TrianglePacking[float64] { return triangle[float64](patterns()[6], false, false, 1) }
	for _, spoil := range []func(op *kernels.TrianglePacking[float64]){
		func(op *kernels.TrianglePacking[float64]) { op.Ptr = nil },
		func(op *kernels.TrianglePacking[float64]) { op.Ptr[0] = 1 },
		func(op *kernels.TrianglePacking[float64]) { op.Idx = op.Idx[1:] },
		func(op *kernels.TrianglePacking[float64]) { op.Val = nil },
		func(op *kernels.TrianglePacking[float64]) { op.Diag = op.Diag[1:] },
	} {
		op := good()
		spoil(op)
		_, err := New(m, op)
		require.ErrorIs(t, err, kernels.ErrArgument)
	}
	op := good()
	a, err := New(m, op)
	require.NoError(t, err)
	b := vectors(m, make([]float64, op.Rows()), 1)
	short := vectors(m, make([]float64, op.Rows()-1), 1)
	two := kernels.MultiVector[float64]{Val: b.Val, Cols: 2, Stride: 2}
	for _, bad := range []*kernels.TriangularSolve[float64]{
		{A: a, B: short, X: b}, {A: a, B: b, X: short}, {A: a, B: two, X: two}, {A: a, B: b, X: two}, {A: nil, B: b, X: b}, {A: a},
	} {
		require.ErrorIs(t, Solve(&m.Scratch64, bad), kernels.ErrArgument)
	}
	require.ErrorIs(t, Solve(&other.Scratch64, &kernels.TriangularSolve[float64]{A: a, B: b, X: b}), kernels.ErrArgument)
	require.NoError(t, a.Free())
	require.NoError(t, a.Free())
	require.ErrorIs(t, Solve(&m.Scratch64, &kernels.TriangularSolve[float64]{A: a, B: b, X: b}), kernels.ErrClosed)
}

func TestStopEndsThePacking(t *testing.T) {
	m := open(t, 1)
	op := triangle[float64](pattern{"", 3000, func(*rand.Rand, int, int) bool { return true }}, false, false, 1)
	calls := 0
	op.Stop = func() error { calls++; return sparse.Inputf("stop", "now") }
	_, err := New(m, op)
	require.True(t, sparse.IsInput(err))
	require.Equal(t, 1, calls)
	require.Zero(t, m.InUse())
}

package msrep

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu"
	"github.com/msrep-go/msrep/sparse"
)

// triangularCases are square matrices whose triangles have different structures; each entry is there with the given
// probability.
var triangularCases = []struct {
	name string
	n    int
	has  func(r *rand.Rand, row, col int) bool
}{
	{"empty", 0, nil},
	{"one row", 1, func(*rand.Rand, int, int) bool { return true }},
	{"diagonal", 37, func(*rand.Rand, int, int) bool { return false }},
	{"chain", 50, func(_ *rand.Rand, row, col int) bool { return row-col == 1 || col-row == 1 }},
	{"dense", 41, func(*rand.Rand, int, int) bool { return true }},
	{"sparse", 120, func(r *rand.Rand, _, _ int) bool { return r.Float64() < 0.05 }},
	{"long row and column", 90, func(r *rand.Rand, row, col int) bool { return row == 70 || col == 20 || r.Float64() < 0.01 }},
	{"blocks", 96, func(_ *rand.Rand, row, col int) bool { return row/32 == col/32 && (row+col)%3 == 0 }},
}

// triangularMatrix returns a matrix with entries in both triangles and on the diagonal, in rows that are not sorted.
func triangularMatrix[V sparse.Value](t require.TestingT, i int) *sparse.CSR[V] {
	c, r := triangularCases[i], rand.New(rand.NewPCG(uint64(i), 7))
	m := &sparse.CSR[V]{Rows: c.n, Cols: c.n, RowPtr: []int64{0}}
	for row := range c.n {
		for _, col := range r.Perm(c.n) {
			switch {
			case col == row:
				m.ColIdx, m.Val = append(m.ColIdx, int32(col)), append(m.Val, V(2+r.Float64()))
			case c.has(r, row, col):
				m.ColIdx, m.Val = append(m.ColIdx, int32(col)), append(m.Val, V(r.NormFloat64()/10))
			}
		}
		m.RowPtr = append(m.RowPtr, int64(len(m.Val)))
	}
	require.NoError(t, m.Validate())
	return m
}

// requireTriangularSolved requires |op(T)*x - alpha*b| <= c*eps*(|op(T)||x| + |alpha*b|) in each row.
func requireTriangularSolved[V sparse.Value](t *testing.T, a *sparse.CSR[V], o TriangularOptions, op Transpose, alpha V, x, b []V) {
	t.Helper()
	n := a.Rows
	sum, size, count := make([]float64, n), make([]float64, n), make([]float64, n)
	add := func(row, col int, v float64) {
		if op == Trans {
			row, col = col, row
		}
		sum[row] += v * float64(x[col])
		size[row] += math.Abs(v * float64(x[col]))
		count[row]++
	}
	for row := range n {
		for k := a.RowPtr[row]; k < a.RowPtr[row+1]; k++ {
			col := int(a.ColIdx[k])
			if col == row && !o.Unit || col != row && o.Upper == (col > row) {
				add(row, col, float64(a.Val[k]))
			}
		}
		if o.Unit {
			add(row, row, 1)
		}
	}
	eps := 0x1p-52
	if mem.Size[V]() == 4 {
		eps = 0x1p-23
	}
	for row := range n {
		right := float64(alpha) * float64(b[row])
		require.LessOrEqual(t, math.Abs(sum[row]-right), (count[row]+8)*eps*(size[row]+math.Abs(right)), "row %d", row)
	}
}

func someVector[V sparse.Value](n int) []V {
	r := rand.New(rand.NewPCG(uint64(n), 9))
	x := make([]V, n)
	for i := range x {
		x[i] = V(r.NormFloat64())
	}
	return x
}

// triangularDevices are the devices of the tests: with more devices than rows, too.
var triangularDevices = []string{"cpu:1", "cpu:3", "sim:1", "sim:2", "sim:6"}

func TestTriangularSolvesWithEveryTriangle(t *testing.T) {
	for _, devices := range triangularDevices {
		sys := open(t, Config{Devices: devices, Threads: 3})
		t.Run(devices+" float64", func(t *testing.T) { testTriangular[float64](t, sys) })
		if devices == "sim:1" || devices == "sim:6" {
			continue // the interpreter takes long
		}
		t.Run(devices+" float32", func(t *testing.T) { testTriangular[float32](t, sys) })
	}
}

func testTriangular[V sparse.Value](t *testing.T, sys *System) {
	for i, c := range triangularCases {
		a := triangularMatrix[V](t, i)
		b := someVector[V](c.n)
		for bits := range 4 {
			o := TriangularOptions{Upper: bits&1 != 0, Unit: bits&2 != 0}
			tri, err := NewTriangular[V](ctx, sys, a, o)
			require.NoError(t, err)
			for _, op := range []Transpose{NoTrans, Trans} {
				x := make([]V, c.n)
				require.NoError(t, tri.Solve(ctx, op, 1, b, x), c.name)
				requireTriangularSolved(t, a, o, op, 1, x, b)
				again := slices.Clone(b)
				require.NoError(t, tri.Solve(ctx, op, 1, again, again))
				require.Equal(t, x, again, "in place")
				testTriangularVectors(t, sys, tri, op, b, x)
				testTriangularMany(t, tri, op, b, x)
			}
			require.NoError(t, tri.Close())
			require.NoError(t, tri.Close())
		}
	}
}

// testTriangularVectors requires the x of Solve from vectors with the pieces of the plan and with others.
func testTriangularVectors[V sparse.Value](t *testing.T, sys *System, tri *Triangular[V], op Transpose, b, x []V) {
	own, err := tri.RowVector()
	require.NoError(t, err)
	even, err := NewVector[V](sys, len(b))
	require.NoError(t, err)
	got := make([]V, len(b))
	for _, v := range [][2]*Vector[V]{{own, own}, {even, even}, {own, even}, {even, own}} {
		require.NoError(t, v[0].Write(b))
		require.NoError(t, tri.SolveVector(ctx, op, 1, v[0], v[1]))
		require.NoError(t, v[1].Read(got))
		require.Equal(t, x, got)
		require.NoError(t, tri.SolveVector(ctx, op, 0, v[0], v[1]))
		require.NoError(t, v[1].Read(got))
		require.Equal(t, make([]V, len(b)), got)
	}
	require.NoError(t, own.Close())
	require.NoError(t, even.Close())
}

// testTriangularMany requires a solution for each right-hand side, and nothing written between the vectors.
func testTriangularMany[V sparse.Value](t *testing.T, tri *Triangular[V], op Transpose, b, x []V) {
	n := len(b)
	const count, gap = 3, 2
	for _, byColumn := range []bool{false, true} {
		stride := count + gap
		if byColumn {
			stride = n + gap
		}
		m := MultiVector[V]{Val: make([]V, max(n, count)*(max(n, count)+gap)), Count: count, Stride: stride, ByColumn: byColumn}
		for k := range m.Val {
			m.Val[k] = 77
		}
		for j := range count {
			scaled := make([]V, n)
			for i := range b {
				scaled[i] = b[i] * V(int(1)<<j)
			}
			m.Set(j, scaled)
		}
		require.NoError(t, tri.SolveMany(ctx, op, 2, m, m))
		got := make([]V, n)
		for j := range count {
			m.Get(j, got)
			for i := range got {
				require.InDelta(t, float64(x[i])*2*float64(int(1)<<j), float64(got[i]), 1e-4*(1+math.Abs(float64(x[i]))*8))
				m.Val[m.index(i, j)] = 77
			}
		}
		for _, v := range m.Val {
			require.Equal(t, V(77), v)
		}
	}
}

func TestTriangularTakesEveryFormat(t *testing.T) {
	a := triangularMatrix[float64](t, 5)
	b := someVector[float64](a.Rows)
	sys := openCPU(t, "cpu:2")
	for _, m := range []sparse.Matrix[float64]{a, sparse.ToCSC[float64](a), sparse.ToCOO[float64](a)} {
		tri, err := NewTriangular(ctx, sys, m, TriangularOptions{Upper: true})
		require.NoError(t, err)
		for _, op := range []Transpose{NoTrans, Trans} {
			x := make([]float64, a.Rows)
			require.NoError(t, tri.Solve(ctx, op, -3, b, x))
			requireTriangularSolved(t, a, TriangularOptions{Upper: true}, op, -3, x, b)
		}
	}
}

func TestTriangularAddsDuplicates(t *testing.T) {
	a, err := sparse.NewCSR(2, 2, []int64{0, 2, 6}, []int32{0, 0, 0, 1, 0, 1}, []float64{1, 1, 1, 2, 3, 2})
	require.NoError(t, err)
	tri, err := NewTriangular[float64](ctx, openCPU(t, "cpu:1"), a, TriangularOptions{})
	require.NoError(t, err)
	x := make([]float64, 2)
	require.NoError(t, tri.Solve(ctx, NoTrans, 1, []float64{2, 8}, x)) // | 2 0 | x = | 2 |
	require.Equal(t, []float64{1, 1}, x)                               // | 4 4 |     | 8 |
	require.EqualValues(t, 3, tri.Info().Entries)
}

func TestTriangularUpdatesValues(t *testing.T) {
	for _, devices := range triangularDevices {
		sys := open(t, Config{Devices: devices})
		for i := range triangularCases {
			a := triangularMatrix[float64](t, i)
			b, x := someVector[float64](a.Rows), make([]float64, a.Rows)
			o := TriangularOptions{Upper: i%2 == 0}
			tri, err := NewTriangular[float64](ctx, sys, a, o)
			require.NoError(t, err)
			for round := range 2 { // in the second, the transposed triangle exists
				changed := *a
				changed.Val = slices.Clone(a.Val)
				for k := range changed.Val {
					changed.Val[k] *= float64(round) - 1.5
				}
				require.NoError(t, tri.UpdateValues(ctx, changed.Val))
				for _, op := range []Transpose{NoTrans, Trans} {
					require.NoError(t, tri.Solve(ctx, op, 1, b, x))
					requireTriangularSolved(t, &changed, o, op, 1, x, b)
				}
			}
			if a.Rows > 1 {
				before := slices.Clone(x)
				require.NoError(t, tri.Solve(ctx, NoTrans, 1, b, before))
				require.True(t, sparse.IsInput(tri.UpdateValues(ctx, make([]float64, len(a.Val)))), "zeros on the diagonal")
				require.True(t, sparse.IsInput(tri.UpdateValues(ctx, a.Val[1:])))
				require.NoError(t, tri.Solve(ctx, NoTrans, 1, b, x))
				require.Equal(t, before, x, "nothing has changed")
			}
			require.NoError(t, tri.Close())
		}
	}
}

func TestTriangularRefusesBadInput(t *testing.T) {
	sys, other := openCPU(t, "cpu:1"), openCPU(t, "cpu:1")
	a := triangularMatrix[float64](t, 5)
	singular := *a
	singular.Val = slices.Clone(a.Val)
	for k := a.RowPtr[17]; k < a.RowPtr[18]; k++ {
		if a.ColIdx[k] == 17 {
			singular.Val[k] = 0
		}
	}
	_, err := NewTriangular[float64](ctx, sys, &singular, TriangularOptions{})
	require.True(t, sparse.IsInput(err))
	require.ErrorContains(t, err, "row 17")
	_, err = NewTriangular[float64](ctx, sys, &singular, TriangularOptions{Unit: true})
	require.NoError(t, err, "the diagonal is not used")
	wide, err := sparse.NewCSR(1, 2, []int64{0, 1}, []int32{0}, []float64{1})
	require.NoError(t, err)
	_, err = NewTriangular[float64](ctx, sys, wide, TriangularOptions{})
	require.True(t, sparse.IsInput(err))
	bad := &sparse.CSR[float64]{Rows: 1, Cols: 1, RowPtr: []int64{0, 1}, ColIdx: []int32{5}, Val: []float64{1}}
	for _, m := range []sparse.Matrix[float64]{nil, (*sparse.CSR[float64])(nil), bad} {
		_, err = NewTriangular(ctx, sys, m, TriangularOptions{})
		require.True(t, sparse.IsInput(err), err)
	}
	_, err = NewTriangular[float64](ctx, nil, a, TriangularOptions{})
	require.True(t, sparse.IsInput(err))
	var missing context.Context
	_, err = NewTriangular[float64](missing, sys, a, TriangularOptions{})
	require.True(t, sparse.IsInput(err))
	ended, cancel := context.WithCancel(ctx)
	cancel()
	_, err = NewTriangular[float64](ended, sys, a, TriangularOptions{})
	require.ErrorIs(t, err, context.Canceled)

	tri, err := NewTriangular[float64](ctx, sys, a, TriangularOptions{})
	require.NoError(t, err)
	n := a.Rows
	x, short := make([]float64, n), make([]float64, n-1)
	require.True(t, sparse.IsInput(tri.Solve(ctx, NoTrans, 1, short, x)))
	require.True(t, sparse.IsInput(tri.Solve(ctx, NoTrans, 1, x, short)))
	require.ErrorIs(t, tri.Solve(ended, NoTrans, 1, x, x), context.Canceled)
	require.True(t, sparse.IsInput(tri.SolveMany(ctx, NoTrans, 1, MultiVectorByRow(x, 1), MultiVectorByRow(make([]float64, 2*n), 2))))
	require.True(t, sparse.IsInput(tri.SolveMany(ctx, NoTrans, 1, MultiVectorByRow(short, 1), MultiVectorByRow(x, 1))))
	own, err := tri.RowVector()
	require.NoError(t, err)
	foreign, err := NewVector[float64](other, n)
	require.NoError(t, err)
	few, err := NewVector[float64](sys, n-1)
	require.NoError(t, err)
	for _, v := range []*Vector[float64]{nil, foreign, few} {
		require.True(t, sparse.IsInput(tri.SolveVector(ctx, NoTrans, 1, own, v)))
		require.True(t, sparse.IsInput(tri.SolveVector(ctx, NoTrans, 1, v, own)))
	}
	require.NoError(t, tri.Solve(ctx, NoTrans, 1, x, x), "all of these left it usable")
	require.NoError(t, tri.Close())
	require.ErrorIs(t, tri.Solve(ctx, NoTrans, 1, x, x), ErrClosed)
	require.ErrorIs(t, tri.UpdateValues(ctx, a.Val), ErrClosed)
	var none *Triangular[float64]
	require.True(t, sparse.IsInput(none.Solve(ctx, NoTrans, 1, x, x)))
	require.NoError(t, none.Close())
	require.Zero(t, none.Size())
	require.Zero(t, none.Info())
	require.True(t, sparse.IsInput((&Triangular[float64]{}).Solve(ctx, NoTrans, 1, x, x)))
}

func TestTriangularInfo(t *testing.T) {
	for _, devices := range triangularDevices {
		sys := open(t, Config{Devices: devices})
		for i, levels := range map[int]int{0: 0, 1: 1, 2: 1, 3: 50, 4: 41} {
			tri, err := NewTriangular[float64](ctx, sys, triangularMatrix[float64](t, i), TriangularOptions{})
			require.NoError(t, err)
			info := tri.Info()
			n := triangularCases[i].n
			require.Equal(t, levels, info.Levels)
			require.Equal(t, n, info.Rows)
			require.Equal(t, n, info.Cuts[len(info.Cuts)-1])
			require.Len(t, info.Cuts, len(info.Devices)+1)
			require.Equal(t, n > 0, info.Bytes > 0)
			require.NoError(t, tri.Close())
		}
	}
}

// A NaN passes through to the rows that depend on it.
func TestTriangularLetsNaNsPass(t *testing.T) {
	for _, devices := range triangularDevices {
		tri, err := NewTriangular[float64](ctx, open(t, Config{Devices: devices}), triangularMatrix[float64](t, 3), TriangularOptions{})
		require.NoError(t, err)
		b := make([]float64, 50)
		b[30] = math.NaN()
		require.NoError(t, tri.Solve(ctx, NoTrans, 1, b, b))
		for row, v := range b {
			require.Equal(t, row >= 30, math.IsNaN(v), fmt.Sprint(devices, " row ", row))
		}
	}
}

func TestTriangularOnADeviceThatFailsLeaksNothing(t *testing.T) {
	a := triangularMatrix[float64](t, 4)
	for bad := range 2 {
		failures := 0
		for n := 1; n < 40; n++ {
			var list [2]*cpu.Device
			left := [2]int{-1, -1}
			left[bad] = n
			for i := range list {
				d, err := cpu.Open(cpu.Config{Threads: 1, NUMANode: -1, Index: i})
				require.NoError(t, err)
				list[i] = d
			}
			sys := newSystem(faulty{list[0], &left[0]}, faulty{list[1], &left[1]})
			x := make([]float64, a.Rows)
			tri, err := NewTriangular[float64](ctx, sys, a, TriangularOptions{Upper: bad == 0})
			for i := 0; err == nil && i < 4; i++ {
				if err = tri.Solve(ctx, Transpose(i%2 == 1), 1, x, x); err == nil {
					err = tri.UpdateValues(ctx, a.Val)
				}
			}
			if err != nil {
				require.ErrorIs(t, err, errFault)
				require.NotContains(t, err.Error(), "another device")
				failures++
			}
			require.NoError(t, sys.Close(), "call %d: every buffer is freed", n)
			require.Zero(t, list[0].InUse()+list[1].InUse())
		}
		require.Greater(t, failures, 8, "the faults must occur")
		require.Less(t, failures, 39, "without a fault the calls must succeed")
	}
}

func TestTriangularInTooLittleMemoryLeavesNothing(t *testing.T) {
	a := triangularMatrix[float64](t, 4)
	failures := 0
	for limit := int64(1000); limit < 40_000; limit += 1000 {
		d, err := cpu.Open(cpu.Config{Threads: 1, NUMANode: -1, Memory: limit})
		require.NoError(t, err)
		sys := newSystem(d)
		tri, err := NewTriangular[float64](ctx, sys, a, TriangularOptions{})
		if err != nil {
			require.ErrorIs(t, err, kernels.ErrOutOfMemory)
			require.Nil(t, tri)
			require.Empty(t, sys.devices().Opened)
			require.Zero(t, d.InUse())
			failures++
		}
		require.NoError(t, sys.Close())
	}
	require.Positive(t, failures)
	require.Less(t, failures, 39)
}

func TestTriangularSolvesAreTraced(t *testing.T) {
	for _, devices := range []string{"cpu:1", "sim:2"} {
		var recorded eventLog
		sys := open(t, Config{Devices: devices, Trace: recorded.record})
		tri, err := NewTriangular[float64](ctx, sys, triangularMatrix[float64](t, 4), TriangularOptions{})
		require.NoError(t, err)
		x := make([]float64, tri.Size())
		require.NoError(t, tri.Solve(ctx, NoTrans, 1, x, x))
		for _, d := range sys.Devices() {
			require.Contains(t, recorded.names(d.ID), "triangular-solve")
		}
	}
}

func TestTriangularIsUsedFromSeveralGoroutines(t *testing.T) {
	for _, devices := range []string{"cpu:1", "cpu:3", "sim:2"} {
		sys := open(t, Config{Devices: devices, Threads: 3})
		a := triangularMatrix[float64](t, 5)
		tri, err := NewTriangular[float64](ctx, sys, a, TriangularOptions{})
		require.NoError(t, err)
		b := someVector[float64](a.Rows)
		var running sync.WaitGroup
		results := make([][]float64, 8)
		for i := range results {
			results[i] = make([]float64, len(b))
			running.Go(func() { require.NoError(t, tri.Solve(ctx, Transpose(i%2 == 1), 1, b, results[i])) })
		}
		running.Wait()
		for i, x := range results {
			requireTriangularSolved(t, a, TriangularOptions{}, Transpose(i%2 == 1), 1, x, b)
			require.Equal(t, results[i%2], x)
		}
	}
}

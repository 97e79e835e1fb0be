package coarsen

import (
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/spgemm"
	"github.com/msrep-go/msrep/sparse"
)

// neumann is a 5-point stencil without a boundary condition: constants are its null space.
func neumann(n int) *sparse.CSR[float64] {
	return byRows(n*n, func(i int, put func(int, float64)) {
		x, y := i%n, i/n
		for _, d := range [][2]int{{-1, 0}, {1, 0}, {0, -1}, {0, 1}} {
			if x+d[0] >= 0 && x+d[0] < n && y+d[1] >= 0 && y+d[1] < n {
				put(i, 1)
				put(i+d[0]+n*d[1], -1)
			}
		}
	})
}

// weakened multiplies entries outside the diagonal of a symmetric matrix by 1 or 1e-3, and the row sums stay.
func weakened(a *sparse.CSR[float64]) *sparse.CSR[float64] {
	return byRows(a.Rows, func(i int, put func(int, float64)) {
		for k := a.RowPtr[i]; k < a.RowPtr[i+1]; k++ {
			j, v := int(a.ColIdx[k]), a.Val[k]
			if j != i && (min(i, j)*7+max(i, j))%3 == 0 {
				put(i, 0.999*v)
				v *= 1e-3
			}
			put(j, v)
		}
	})
}

func TestProlongatorKeepsTheNullSpace(t *testing.T) {
	for name, a := range map[string]*sparse.CSR[float64]{"equal": neumann(40), "weak entries": weakened(neumann(40))} {
		level, err := Coarsen(a, nil, Options{})
		require.NoError(t, err)
		require.Less(t, level.P.Cols, a.Rows/2, name)
		for i, v := range times(level.P, level.Near[0]) {
			require.InDelta(t, 1, v, 1e-13, "%s, row %d", name, i)
		}
	}
}

// Two unknowns in a node that do not depend on each other: P keeps a constant in each.
func TestProlongatorOfNodesKeepsConstants(t *testing.T) {
	one := weakened(neumann(30))
	a := byRows(2*one.Rows, func(i int, put func(int, float64)) {
		for k := one.RowPtr[i/2]; k < one.RowPtr[i/2+1]; k++ {
			put(2*int(one.ColIdx[k])+i%2, one.Val[k]*float64(1+i%2))
		}
	})
	level, err := Coarsen(a, nil, Options{Block: 2})
	require.NoError(t, err)
	require.Len(t, level.Near, 2)
	require.Len(t, level.Nodes, level.P.Cols/2+1)
	for c, near := range level.Near {
		for i, v := range times(level.P, near) {
			want := 0.0
			if i%2 == c {
				want = 1
			}
			require.InDelta(t, want, v, 1e-13, "vector %d, row %d", c, i)
		}
	}
}

func TestTentativeProlongatorReproducesItsVectors(t *testing.T) {
	a, x := elastic(12, 2)
	near, err := RigidBodyModes(x, 2)
	require.NoError(t, err)
	dependent := make([]float64, a.Rows)
	for i := range dependent {
		dependent[i] = 0.3*near[0][i] - 0.7*near[1][i] + near[2][i]
	}
	near = append(near, dependent)
	s := prepared(t, a, near, Options{Block: 2})
	require.Equal(t, int32(3), slices.MaxFunc(widths(s.first), func(x, y int32) int { return int(x - y) }))
	k := len(near)
	for v := range near {
		for i := range a.Rows {
			g := s.of[i/2]
			if g < 0 {
				continue
			}
			sum := 0.0
			for c := s.first[g]; c < s.first[g+1]; c++ {
				sum += s.t[i*k+int(c-s.first[g])] * s.coarseNear[v][c]
			}
			require.InDelta(t, near[v][i], sum, 1e-12)
		}
	}
	gram := make([]float64, int(s.first[s.aggregates])*k)
	for i := range a.Rows {
		if g := s.of[i/2]; g >= 0 {
			for c := s.first[g]; c < s.first[g+1]; c++ {
				for d := range s.first[g+1] - s.first[g] {
					gram[int(c)*k+int(d)] += s.t[i*k+int(c-s.first[g])] * s.t[i*k+int(d)]
				}
			}
		}
	}
	for g := range s.aggregates {
		for c := s.first[g]; c < s.first[g+1]; c++ {
			for d := range s.first[g+1] - s.first[g] {
				want := 0.0
				if c-s.first[g] == d {
					want = 1
				}
				require.InDelta(t, want, gram[int(c)*k+int(d)], 1e-12)
			}
		}
	}
}

func widths(first []int32) []int32 {
	w := make([]int32, len(first)-1)
	for g := range w {
		w[g] = first[g+1] - first[g]
	}
	return w
}

// prepared does the steps of Coarsen up to the tentative prolongator.
func prepared(t *testing.T, a *sparse.CSR[float64], near [][]float64, opt Options) *setup {
	require.NoError(t, check(a, near, opt))
	s := newSetup(a, near, opt)
	s.prepare()
	return s
}

func TestAggregatesOfStencilsAreStarsAndBoxes(t *testing.T) {
	for _, c := range []struct {
		a           *sparse.CSR[float64]
		least, most float64 // nodes in an aggregate on average
	}{
		{poisson2D(60), 5, 9},
		{poisson3D(20), 14, 30},
		{rotated(60, 1, 0), 8, 10}, // 9 points
	} {
		s := prepared(t, c.a, nil, Options{})
		mean := float64(c.a.Rows) / float64(s.aggregates)
		require.True(t, c.least <= mean && mean <= c.most, "%v nodes in an aggregate", mean)
		for i, g := range s.of {
			require.True(t, 0 <= g && g < s.aggregates, "node %d is in no aggregate", i)
		}
	}
}

// Every aggregate is connected in A, also across the limits of zones.
func TestAggregatesAreConnected(t *testing.T) {
	a := diffusion([3]int{700, 700, 1}, one)
	require.Greater(t, a.Rows, 3*leastZone)
	s := prepared(t, a, nil, Options{})
	count := make([]int, s.aggregates)
	for _, g := range s.of {
		count[g]++
	}
	seen := make([]bool, a.Rows)
	for i := range a.Rows {
		if seen[i] {
			continue
		}
		found := []int{i}
		seen[i] = true
		for at := 0; at < len(found); at++ {
			for k := a.RowPtr[found[at]]; k < a.RowPtr[found[at]+1]; k++ {
				if j := int(a.ColIdx[k]); !seen[j] && s.of[j] == s.of[i] {
					seen[j] = true
					found = append(found, j)
				}
			}
		}
		require.Len(t, found, count[s.of[i]], "aggregate %d", s.of[i])
	}
}

func TestResultsDoNotDependOnTheWorkers(t *testing.T) {
	backwards := func(n int, f func(i int)) {
		for i := n - 1; i >= 0; i-- {
			f(i)
		}
	}
	elastic2, near := elasticity(2)(40)
	for _, c := range []struct {
		name string
		a    *sparse.CSR[float64]
		near [][]float64
		opt  Options
	}{
		{"several zones", diffusion([3]int{600, 500, 1}, one), nil, Options{}},
		{"jumps", scattered([3]int{30, 30, 30}, 1e4), nil, Options{Level: 1}},
		{"nodes", elastic2, near, Options{Block: 2}},
		{"unsymmetric", convection(100, 1e-3, false), nil, Options{Unsymmetric: true}},
	} {
		var first *Level
		for _, run := range []spgemm.Run{nil, backwards} {
			for _, processors := range []int{1, 5} {
				func() {
					defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
					c.opt.Run = run
					level, err := Coarsen(c.a, c.near, c.opt)
					require.NoError(t, err)
					if first == nil {
						first = level
					}
					require.True(t, reflect.DeepEqual(first, level), c.name) // Equal prints millions of numbers
				}()
			}
		}
	}
}

func TestRowsOfBoundaryConditionsAreLeftOut(t *testing.T) {
	a := poisson2D(30)
	boundary := func(i int) bool { return i%30 == 0 }
	for _, unsymmetric := range []bool{false, true} { // in the unsymmetric matrix, other rows refer to the boundary
		b := byRows(a.Rows, func(i int, put func(int, float64)) {
			if boundary(i) {
				put(i, 1)
				return
			}
			for k := a.RowPtr[i]; k < a.RowPtr[i+1]; k++ {
				if j := int(a.ColIdx[k]); unsymmetric || !boundary(j) {
					put(j, a.Val[k])
				}
			}
		})
		level, err := Coarsen(b, nil, Options{Unsymmetric: unsymmetric})
		require.NoError(t, err)
		for i := range b.Rows {
			require.Equal(t, boundary(i), level.P.RowPtr[i] == level.P.RowPtr[i+1], "row %d", i)
		}
	}
}

// jacobiStep returns (I - omega/rho D^-1 A) T.
func jacobiStep(s *setup, a *sparse.CSR[float64], rho float64) *sparse.CSR[float64] {
	tentative := byColumns(a.Rows, int(s.aggregates), func(i int, put func(int, float64)) { put(int(s.of[i]), s.tentativeValue(i, s.of[i])) })
	smoother := byRows(a.Rows, func(i int, put func(int, float64)) {
		put(i, 1)
		for k := a.RowPtr[i]; k < a.RowPtr[i+1]; k++ {
			put(int(a.ColIdx[k]), -omega/rho*a.Val[k]*s.inverse[i])
		}
	})
	p, err := spgemm.Multiply(smoother, tentative, nil)
	if err != nil {
		panic(err)
	}
	return p
}

func byColumns(rows, cols int, row func(i int, put func(j int, v float64))) *sparse.CSR[float64] {
	a := byRows(rows, row)
	a.Cols = cols
	return a
}

func requireClose(t *testing.T, want, got *sparse.CSR[float64]) {
	t.Helper()
	require.Equal(t, want.RowPtr, got.RowPtr)
	require.Equal(t, want.ColIdx, got.ColIdx)
	require.InDeltaSlice(t, want.Val, got.Val, 1e-13)
}

func TestProlongatorIsAJacobiStep(t *testing.T) {
	a := poisson2D(20)
	level, err := Coarsen(a, nil, Options{})
	require.NoError(t, err)
	requireClose(t, jacobiStep(prepared(t, a, nil, Options{}), a, level.Rho), level.P)
}

// Nodes of one unknown each that are given as a list take the way of larger nodes.
func TestProlongatorsOfNodesAndUnknownsAreEqual(t *testing.T) {
	for _, a := range []*sparse.CSR[float64]{poisson2D(20), weakened(neumann(20))} {
		want, err := Coarsen(a, nil, Options{})
		require.NoError(t, err)
		nodes := make([]int32, a.Rows+1)
		for i := range nodes {
			nodes[i] = int32(i)
		}
		got, err := Coarsen(a, nil, Options{Nodes: nodes})
		require.NoError(t, err)
		requireClose(t, want.P, got.P)
		require.InDeltaSlice(t, want.Near[0], got.Near[0], 1e-13)
	}
}

func TestRestrictionIsAJacobiStepWithTheTranspose(t *testing.T) {
	a, opt := convection(20, 10, false), Options{Unsymmetric: true}
	level, err := Coarsen(a, nil, opt)
	require.NoError(t, err)
	s := prepared(t, a, nil, opt)
	requireClose(t, jacobiStep(s, a, level.Rho), level.P)
	requireClose(t, jacobiStep(s, spgemm.Transpose(a, nil), level.Rho), spgemm.Transpose(level.R, nil))
}

func TestRestrictionOfTheTransposeSavesIterations(t *testing.T) {
	a, opt := convection(96, 1e-3, false), Options{Unsymmetric: true}
	of := func(l *Level) *sparse.CSR[float64] { return spgemm.Transpose(l.P, nil) }
	require.Less(t, float64(build(t, a, nil, opt).gmres()), 0.8*float64(buildWith(t, a, nil, opt, of).gmres()))
}

var oneByOne = byRows(1, func(i int, put func(int, float64)) { put(0, 2) })

func TestRhoIsABound(t *testing.T) {
	elastic2, _ := elastic(30, 2)
	elastic3, _ := elastic(8, 3)
	for name, a := range map[string]*sparse.CSR[float64]{
		"2D": poisson2D(40), "3D": poisson3D(12), "rotated": rotated(40, 100, 0.5), "jumps": scattered([3]int{40, 40, 1}, 1e4),
		"elastic 2D": elastic2, "elastic 3D": elastic3, "negative": scaled(poisson2D(20), -3), "1 x 1": oneByOne,
		"large": scaled(rotated(40, 100, 0.5), 1e200), "small": scaled(rotated(40, 100, 0.5), 1e-200),
	} {
		level, err := Coarsen(a, nil, Options{})
		require.NoError(t, err)
		x := randomVector(a.Rows)
		largest := 0.0
		for range 500 {
			y := times(a, x)
			norm := 0.0
			for i := range y {
				y[i] *= level.InverseDiagonal[i]
				norm += y[i] * y[i]
			}
			largest = math.Sqrt(norm / dot(x, x))
			for i := range y {
				x[i] = y[i] / math.Sqrt(norm)
			}
		}
		require.GreaterOrEqual(t, level.Rho, largest*(1-1e-9), name)
		require.LessOrEqual(t, level.Rho, 1.25*largest, name)
	}
}

func scaled(a *sparse.CSR[float64], factor float64) *sparse.CSR[float64] {
	b := *a
	b.Val = append([]float64(nil), a.Val...)
	for i := range b.Val {
		b.Val[i] *= factor
	}
	return &b
}

// The same matrix in other units has the same P.
func TestScaleDoesNotMatter(t *testing.T) {
	a := scattered([3]int{20, 20, 1}, 1e4)
	want, err := Coarsen(a, nil, Options{})
	require.NoError(t, err)
	for _, factor := range []float64{0x1p500, 0x1p-500, -1} {
		got, err := Coarsen(scaled(a, factor), nil, Options{})
		require.NoError(t, err)
		require.Equal(t, want.P, got.P, "times %v", factor)
	}
}

func TestOrderOfEntriesDoesNotMatter(t *testing.T) {
	a := poisson2D(20)
	random := rand.New(rand.NewPCG(3, 4))
	b := &sparse.CSR[float64]{Rows: a.Rows, Cols: a.Cols, RowPtr: a.RowPtr, ColIdx: slices.Clone(a.ColIdx), Val: slices.Clone(a.Val)}
	for i := range a.Rows {
		lo := int(a.RowPtr[i])
		random.Shuffle(int(a.RowPtr[i+1])-lo, func(x, y int) {
			b.ColIdx[lo+x], b.ColIdx[lo+y] = b.ColIdx[lo+y], b.ColIdx[lo+x]
			b.Val[lo+x], b.Val[lo+y] = b.Val[lo+y], b.Val[lo+x]
		})
	}
	level, err := Coarsen(b, nil, Options{})
	require.NoError(t, err)
	require.NoError(t, level.P.Validate())
	require.NotZero(t, level.P.Cols)
	for i := range b.Rows {
		require.IsIncreasing(t, append([]int32{-1}, level.P.ColIdx[level.P.RowPtr[i]:level.P.RowPtr[i+1]]...))
	}
}

func TestUnusualMatrices(t *testing.T) {
	arrow := byRows(300, func(i int, put func(int, float64)) {
		put(i, 300)
		for j := range 300 {
			if (i == 0 || j == 0) && i != j {
				put(j, -1)
			}
		}
	})
	dense := byRows(150, func(i int, put func(int, float64)) {
		for j := range 150 {
			put(j, math.Exp(-math.Abs(float64(i-j))/8))
		}
	})
	nan := scaled(poisson2D(10), 1)
	nan.Val[7] = math.NaN()
	infinite := scaled(poisson2D(10), 1)
	infinite.Val[7] = math.Inf(1)
	for name, a := range map[string]*sparse.CSR[float64]{
		"empty":              {RowPtr: []int64{0}},
		"1 x 1":              poisson2D(1),
		"zero":               {Rows: 3, Cols: 3, RowPtr: []int64{0, 0, 0, 0}},
		"diagonal":           byRows(50, func(i int, put func(int, float64)) { put(i, 1) }),
		"zero diagonal":      byRows(50, func(i int, put func(int, float64)) { put(i^1, 1) }),
		"duplicates":         {Rows: 2, Cols: 2, RowPtr: []int64{0, 4, 6}, ColIdx: []int32{1, 0, 0, 1, 1, 0}, Val: []float64{-0.5, 1, 1, -0.5, 2, -1}},
		"arrow":              arrow,
		"dense":              dense,
		"stored zeros":       scaled(poisson2D(10), 0),
		"not a number":       nan,
		"infinite":           infinite,
		"not symmetric":      convection(20, 1e-5, true),
		"lower triangle":     byRows(60, func(i int, put func(int, float64)) { put(i, 2); put(max(i-1, 0), -1) }),
		"large random":       randomMatrix(500, 100),
		"few long and short": randomMatrix(200, 3),
	} {
		for _, unsymmetric := range []bool{false, true} {
			for _, near := range [][][]float64{nil, {make([]float64, a.Rows)}, {randomVector(a.Rows), randomVector(a.Rows)}} {
				for _, nodes := range [][]int32{nil, thirds(a.Rows)} {
					for _, strength := range []float64{0, -1, 0.25} {
						level, err := Coarsen(a, near, Options{Unsymmetric: unsymmetric, Nodes: nodes, Strength: strength})
						require.NoError(t, err, name)
						require.NoError(t, level.P.Validate(), name)
						for _, v := range level.Near {
							require.Len(t, v, level.P.Cols, name)
						}
						if level.Nodes != nil {
							require.NoError(t, checkNodes(level.P.Cols, Options{Nodes: level.Nodes}), name)
						}
						if unsymmetric {
							require.NoError(t, level.R.Validate(), name)
						}
					}
				}
			}
		}
	}
}

// thirds cuts n unknowns into nodes of 3, 0, 3, 0, ... unknowns and a rest.
func thirds(n int) []int32 {
	nodes := []int32{0}
	for i := 3; i < n; i += 3 {
		nodes = append(nodes, int32(i), int32(i))
	}
	return append(nodes, int32(n))
}

func randomMatrix(n, perRow int) *sparse.CSR[float64] {
	random := rand.New(rand.NewPCG(uint64(n), uint64(perRow)))
	return byRows(n, func(i int, put func(int, float64)) {
		put(i, float64(perRow))
		for range random.IntN(2 * perRow) {
			put(random.IntN(n), random.Float64()-0.5)
		}
	})
}

func TestWrongArgumentsGiveAnInputError(t *testing.T) {
	a := poisson2D(3)
	for want, call := range map[string]func() error{
		"matrix: is nil": func() error { _, err := Coarsen(nil, nil, Options{}); return err },
		"matrix: 2 x 3: multigrid needs a square matrix": func() error {
			_, err := Coarsen(&sparse.CSR[float64]{Rows: 2, Cols: 3, RowPtr: []int64{0, 0, 0}}, nil, Options{})
			return err
		},
		"matrix: entry 0: column index 7 is outside [0, 1)": func() error {
			_, err := Coarsen(&sparse.CSR[float64]{Rows: 1, Cols: 1, RowPtr: []int64{0, 1}, ColIdx: []int32{7}, Val: []float64{1}}, nil, Options{})
			return err
		},
		"near null space: vector 1 has 2 elements for 9 rows": func() error {
			_, err := Coarsen(a, [][]float64{make([]float64, 9), {1, 2}}, Options{})
			return err
		},
		"strength: NaN: the threshold of strong couplings must be below 1": func() error { _, err := Coarsen(a, nil, Options{Strength: math.NaN()}); return err },
		"strength: 1: the threshold of strong couplings must be below 1":   func() error { _, err := Coarsen(a, nil, Options{Strength: 1}); return err },
		"level: -1: must not be negative":                                  func() error { _, err := Coarsen(a, nil, Options{Level: -1}); return err },
		"block: -1 unknowns in a node: must not be negative":               func() error { _, err := Coarsen(a, nil, Options{Block: -1}); return err },
		"block: 2 unknowns in a node do not divide 9 rows":                 func() error { _, err := Coarsen(a, nil, Options{Block: 2}); return err },
		"nodes: Block and Nodes must not both be given":                    func() error { _, err := Coarsen(a, nil, Options{Block: 3, Nodes: []int32{0, 9}}); return err },
		"nodes: must run from 0 to the number of rows, 9":                  func() error { _, err := Coarsen(a, nil, Options{Nodes: []int32{0, 8}}); return err },
		"nodes: element 2 falls from 6 to 5":                               func() error { _, err := Coarsen(a, nil, Options{Nodes: []int32{0, 6, 5, 9}}); return err },
		"dims: 4: rigid body modes need 2 or 3 dimensions":                 func() error { _, err := RigidBodyModes(make([]float64, 8), 4); return err },
		"coordinates: 8 numbers: 3 dimensions do not divide them":          func() error { _, err := RigidBodyModes(make([]float64, 8), 3); return err },
	} {
		err := call()
		require.EqualError(t, err, want)
		require.True(t, sparse.IsInput(err))
	}
}

// Rigid body modes do no work: A x = 0 in the rows of points that no fixed point touches.
func TestRigidBodyModesAreTheNullSpaceOfElasticity(t *testing.T) {
	for _, dims := range []int{2, 3} {
		a, x := elastic(5, dims)
		modes, err := RigidBodyModes(x, dims)
		require.NoError(t, err)
		require.Len(t, modes, dims*(dims+1)/2)
		for m, mode := range modes {
			for i, v := range times(a, mode) {
				if x[i/dims*dims] > 0.3 {
					require.InDelta(t, 0, v, 1e-13, "%d dimensions, mode %d, row %d", dims, m, i)
				}
			}
		}
	}
	modes, err := RigidBodyModes(nil, 3)
	require.NoError(t, err)
	require.Len(t, modes, 6)
}

func TestLongRowsOfSums(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		n := random.IntN(300)
		var row sums
		row.reset(make([]int32, n+1), make([]float64, n+1))
		want := map[int32]float64{}
		for range n {
			key := int32(random.IntN(1 + random.IntN(200)))
			row.add(key, 1)
			want[key]++
		}
		count := row.sort()
		require.Len(t, want, count)
		require.IsIncreasing(t, append([]int32{-1}, row.key[:count]...))
		for k, key := range row.key[:count] {
			require.Equal(t, want[key], row.val[k])
		}
	}
}

// Neighbours that are found when they are needed are those of the stored graph.
func TestNeighboursAreTheStrongCouplings(t *testing.T) {
	for _, opt := range []Options{{}, {Block: 2}, {Strength: 0.3}} {
		s := newSetup(weakened(neumann(20)), nil, opt)
		s.couple()
		stored, found := s.strong(s.c), &graph{in: s.c, theta: s.theta}
		require.Equal(t, stored.nodes(), found.nodes())
		var room []int32
		for i := range stored.nodes() {
			require.ElementsMatch(t, stored.neighbours(i, nil), found.neighbours(i, &room), "node %d", i)
		}
	}
}

package cuda_test

import (
	"cmp"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/internal/cuda/leveled"
	"github.com/msrep-go/msrep/kernels/internal/ptx"
	"github.com/msrep-go/msrep/sparse"
)

// triangle is a triangular system and its solution.
type triangle[V sparse.Value] struct {
	a    *kernels.TrianglePacking[V]
	b    []V
	cols int // right-hand sides, row by row in b
	// spoil changes the arrays for the kernels, if it is set; polls limits the waiting.
	spoil func(*leveled.Triangle[V])
	polls int64
}

// shapes are the columns of row r, from 0 to r-1, in triangles of n rows.
var shapes = map[string]func(r *rand.Rand, row, n int) []int{
	"diagonal": func(*rand.Rand, int, int) []int { return nil },
	"chain":    func(_ *rand.Rand, row, _ int) []int { return []int{row - 1} },
	"stencil": func(_ *rand.Rand, row, n int) []int {
		if side := int(math.Sqrt(float64(n))); row%side > 0 {
			return []int{row - side, row - 1}
		}
		return nil
	},
	"random": func(r *rand.Rand, row, _ int) []int {
		var c []int
		for j := r.IntN(7); j < row; j += 1 + r.IntN(60) {
			c = append(c, j)
		}
		return c
	},
	"long last row": func(_ *rand.Rand, row, n int) []int {
		var c []int
		for j := 0; j < row && row == n-1; j++ {
			c = append(c, j)
		}
		return c
	},
	"full": func(_ *rand.Rand, row, _ int) []int {
		var c []int
		for j := range row {
			c = append(c, j)
		}
		return c
	},
}

// newTriangle makes a well-conditioned triangle of a shape. Columns below 0 are dropped.
func newTriangle[V sparse.Value](seed uint64, shape string, n, cols int, upper, unit bool) *triangle[V] {
	r := rand.New(rand.NewPCG(seed, 11))
	return build[V](r, n, cols, upper, unit, func(row int) []int { return shapes[shape](r, row, n) })
}

// triangleOf makes a lower triangle from the columns of each row.
func triangleOf[V sparse.Value](n int, columns func(row int) []int) *triangle[V] {
	return build[V](rand.New(rand.NewPCG(1, 11)), n, 1, false, false, columns)
}

func build[V sparse.Value](r *rand.Rand, n, cols int, upper, unit bool, columns func(row int) []int) *triangle[V] {
	a := &kernels.TrianglePacking[V]{Ptr: []int64{0}, Upper: upper}
	mirror := func(i int) int {
		if upper {
			return n - 1 - i
		}
		return i
	}
	for i := range n {
		list := columns(mirror(i))
		if upper {
			slices.Reverse(list)
		}
		for _, c := range list {
			if c >= 0 {
				a.Idx, a.Val = append(a.Idx, int32(mirror(c))), append(a.Val, V((r.Float64()-0.5)/float64(len(list)+1)))
			}
		}
		a.Ptr = append(a.Ptr, int64(len(a.Idx)))
		if !unit {
			a.Diag = append(a.Diag, V(1.5+r.Float64()))
		}
	}
	return &triangle[V]{a: a, cols: cols, b: random[V](r, n*cols)}
}

// check returns the largest |T x - alpha b| / (eps (n+3) (|T||x| + |alpha b|)) of an
// element, where n is the number of entries of its row beside the diagonal.
func (t *triangle[V]) check(x []V, alpha V) (worst float64) {
	eps := 0x1p-53
	if mem.Size[V]() == 4 {
		eps = 0x1p-24
	}
	for i := range t.a.Rows() {
		for j := range t.cols {
			at := func(r int) float64 { return float64(x[r*t.cols+j]) }
			rhs, own := float64(alpha)*float64(t.b[i*t.cols+j]), at(i)
			if t.a.Diag != nil {
				own *= float64(t.a.Diag[i])
			}
			sum, size := own-rhs, math.Abs(own)+math.Abs(rhs)
			for k := t.a.Ptr[i]; k < t.a.Ptr[i+1]; k++ {
				v := float64(t.a.Val[k]) * at(int(t.a.Idx[k]))
				sum, size = sum+v, size+math.Abs(v)
			}
			if e := math.Abs(sum) / (eps * float64(3+t.a.Ptr[i+1]-t.a.Ptr[i]) * size); e > worst || e != e {
				worst = e
			}
			if worst != worst {
				return math.Inf(1)
			}
		}
	}
	return worst
}

// solve solves the systems and returns x and the row in which a warp gave up, plus 1.
func (t *triangle[V]) solve(g *gpu, alpha V) ([]V, int32) {
	l, err := leveled.New(t.a)
	require.NoError(g.t, err)
	if t.spoil != nil {
		t.spoil(l)
	}
	n, places := t.a.Rows(), len(l.Perm)
	width := 1
	if t.cols > 1 {
		width = 4
	}
	var diag ptx.Addr
	if l.Diag != nil {
		diag = upload(g, "diag", l.Diag)
	}
	w, ticket, failed := array[V](g, "w", places*width), array[int32](g, "ticket", 1), upload(g, "failed", []int32{0})
	x := array[V](g, "x", n*t.cols)
	args := []any{upload(g, "ptr", l.Ptr), upload(g, "idx", l.Idx), upload(g, "val", l.Val), diag, upload(g, "perm", l.Perm),
		upload(g, "task", l.Task), upload(g, "b", t.b), x, w, ticket, failed, int64(len(l.Task) - 1)}
	g.launch(named[V]("msrep_triangular_start"), int64(places*width), w, ticket, int64(places*width))
	stride, polls := int64(t.cols), cmp.Or(t.polls, 1<<30)
	if t.cols > 1 {
		g.launch(named[V]("msrep_triangular_many"), int64(len(l.Task)-1), append(args, int64(t.cols), stride, stride, polls, alpha)...)
	} else {
		g.launch(named[V]("msrep_triangular"), int64(len(l.Task)-1), append(args, stride, stride, polls, alpha)...)
	}
	return download[V](g, x, n*t.cols), download[int32](g, failed, 1)[0]
}

func TestTriangularSystemsAreSolved(t *testing.T) {
	t.Run("float64", func(t *testing.T) { rapid.Check(t, solvesTriangular[float64]) })
	t.Run("float32", func(t *testing.T) { rapid.Check(t, solvesTriangular[float32]) })
}

func solvesTriangular[V sparse.Value](t *rapid.T) {
	shape := rapid.SampledFrom([]string{"diagonal", "chain", "stencil", "random", "long last row", "full"}).Draw(t, "shape")
	sizes := []int{0, 1, 2, 31, 32, 33, 257, 1000}
	if shape == "full" {
		sizes = sizes[:6]
	}
	n := rapid.SampledFrom(sizes).Draw(t, "n")
	q := newTriangle[V](rapid.Uint64().Draw(t, "seed"), shape, n, rapid.SampledFrom([]int{1, 1, 2, 4}).Draw(t, "cols"),
		rapid.Bool().Draw(t, "upper"), rapid.Bool().Draw(t, "unit"))
	alpha := V(rapid.SampledFrom([]float64{1, -2.5}).Draw(t, "alpha"))
	g := newGPU(t)
	g.blocks = rapid.Int64Range(0, 2).Draw(t, "blocks")
	x, failed := q.solve(g, alpha)
	g.ok()
	require.Zero(t, failed)
	require.LessOrEqual(t, q.check(x, alpha), 1.0)

	// Other blocks at once, and warps in any order.
	g = newGPU(t)
	g.schedule = ptx.Launch{MaxInstructions: 1 << 26, Workers: rapid.IntRange(1, 5).Draw(t, "workers"), Turn: rapid.SampledFrom([]int64{0, 3, 100, 2000}).Draw(t, "turn"), Seed: rapid.Uint64().Draw(t, "order")}
	again, failed := q.solve(g, alpha)
	g.ok()
	require.Zero(t, failed)
	require.Equal(t, x, again, "the same bits in any order")
}

// Right-hand sides that are solved together do not change each other's bits.
func TestRightHandSidesAreSolvedAsEachAlone(t *testing.T) {
	const n, cols = 900, 3
	together := newTriangle[float64](2, "random", n, cols, true, false)
	g := newGPU(t)
	x, _ := together.solve(g, 1)
	for j := range cols {
		one := &triangle[float64]{a: together.a, cols: 1}
		for r := range n {
			one.b = append(one.b, together.b[r*cols+j])
		}
		alone, _ := one.solve(g, 1)
		g.ok()
		for r, v := range alone {
			require.Equal(t, v, x[r*cols+j], "row %d of column %d", r, j)
		}
	}
}

// A NaN, an infinity and a diagonal whose inverse overflows are no results to wait for.
func TestTriangularSystemsPassOnWhatIsNotFinite(t *testing.T) {
	q := newTriangle[float64](1, "chain", 400, 1, false, false)
	waiting := math.Float64frombits(math.MaxUint64)             // the NaN that stands for no result
	q.b[10], q.a.Val[9], q.a.Diag[10] = 0x1p-1030, 0, 0x1p-1030 // 1/d is infinite
	q.b[20], q.a.Val[19], q.a.Diag[20] = 1, 0, math.Inf(-1)
	q.b[40] = math.Inf(1)
	q.b[100], q.a.Val[150] = waiting, waiting
	g := newGPU(t)
	x, failed := q.solve(g, 1)
	g.ok()
	require.Zero(t, failed)
	want := make([]float64, len(x)) // plain substitution
	for r := range x {
		sum := q.b[r]
		for k := q.a.Ptr[r]; k < q.a.Ptr[r+1]; k++ {
			sum -= q.a.Val[k] * want[q.a.Idx[k]]
		}
		want[r] = sum / q.a.Diag[r]
	}
	for r, v := range want {
		switch {
		case v != v:
			require.Equal(t, uint64(0x7FF8000000000000), math.Float64bits(x[r]), "row %d", r)
		case math.IsInf(v, 0):
			require.Equal(t, v, x[r], "row %d", r)
		default:
			require.InEpsilon(t, v+1e-300, x[r]+1e-300, 1e-14, "row %d", r)
		}
	}
	require.Equal(t, 1.0, x[10])
	require.Zero(t, x[20])
	require.True(t, math.IsInf(x[99], 0))
}

// Planted faults of the waiting, and what finds each.
func TestPlantedFaultsOfTriangularSolvesAreCaught(t *testing.T) {
	for _, c := range []struct{ name, pattern, with, says string }{
		{"no wait", `(setp\.eq\.s64\s+%p\d+, %rd\d+), -1;`, "$1, 1;", ""}, // the NaN of a missing result spreads
		{"plain stores", `st\.relaxed\.gpu\.f64`, "st.f64", "race"},
		{"plain loads", `ld\.relaxed\.gpu\.f64`, "ld.f64", "race"},
		{"results kept in shared memory only", `(st\.relaxed\.gpu\.f64 \[%rd\d+\], %fd\d+;[^;]*)st\.relaxed\.gpu\.f64 \[%rd\d+\], %fd\d+;`, "$1", "deadlock"},
		{"blocks in another order than their tickets", `(atom\.relaxed\.gpu\.global\.add\.u32 (%r\d+), .*)`, "$1 xor.b32 $2, $2, 1;", "deadlock"},
		{"no barrier", `bar\.sync\s+0;`, "", "race|before they are written"},
		{"a missing result that is 0", `mov\.u64 \t?%rd\d+, -1;`, "", ""},
		{"sums of half the lanes", `shfl\.sync\.bfly`, "shfl.sync.up", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			caught := false
			for _, shape := range slices.Sorted(maps.Keys(shapes)) {
				for seed := uint64(0); seed < 2 && !caught; seed++ {
					q := newTriangle[float64](seed, shape, 600, 1, false, false)
					if shape == "full" {
						q = newTriangle[float64](seed, shape, 300, 1, false, false)
					}
					g := broken(t, "triangular", c.pattern, c.with, -1)
					g.schedule = ptx.Launch{MaxInstructions: 1 << 26, Workers: int(1 + 3*seed), Turn: int64(50 * seed)}
					x, _ := q.solve(g, 1)
					if c.says == "" {
						caught = caught || g.err != nil || q.check(x, 1) > 1
					} else if g.err != nil {
						require.Regexp(t, c.says, g.err.Error())
						caught = true
					}
				}
			}
			require.True(t, caught)
		})
	}
}

// A row that waits for itself cannot be packed, so the test overwrites the columns.
func TestAWarpThatWaitsInVainGivesUpAndNamesItsRow(t *testing.T) {
	for _, cols := range []int{1, 3} {
		q := newTriangle[float64](5, "chain", 1000, cols, false, true)
		l, err := leveled.New(q.a)
		require.NoError(t, err)
		q.polls = 50 // the interpreter reports a deadlock after 256 loads, of which a round takes up to 4
		q.spoil = func(l *leveled.Triangle[float64]) { l.Idx[l.Ptr[700]] = 700 }
		g := newGPU(t)
		x, failed := q.solve(g, 1)
		g.ok()
		require.Contains(t, l.Perm[700:], failed-1, "the row, or one that waits for it")
		for i, v := range x {
			require.Equal(t, i/cols >= 700, v != v, "row %d", i/cols)
		}
	}
}

// A stencil has short rows and many levels, whose rows lie far apart.
func TestTriangularSolvesOfStencilsMoveFewBytes(t *testing.T) {
	for _, c := range []struct {
		name  string
		n     int
		steps []int // distances to the neighbours
	}{{"5 points, 2D", 6400, []int{80, 1}}, {"7 points, 3D", 8000, []int{400, 20, 1}}} {
		q := triangleOf[float64](c.n, func(row int) (list []int) {
			for i, d := range c.steps {
				next := c.n // distance at which this coordinate begins again
				if i > 0 {
					next = c.steps[i-1]
				}
				if row%next >= d {
					list = append(list, row-d)
				}
			}
			return list
		})
		g := newGPU(t)
		x, _ := q.solve(g, 1)
		g.ok()
		require.LessOrEqual(t, q.check(x, 1), 1.0)
		n, nnz := float64(q.a.Rows()), float64(len(q.a.Idx))
		matrix, loads := 0.0, 0.0
		for _, name := range []string{"val", "idx", "ptr", "diag", "perm", "task"} {
			matrix += 32 * float64(g.last.Buffer(name).DistinctSectors)
		}
		for _, b := range g.last.Buffers {
			loads += 32 * float64(b.LoadSectors+b.StoreSectors)
		}
		least := 12*nnz + 20*n // val, idx; ptr, diag, perm
		b, x0, w := g.last.Buffer("b"), g.last.Buffer("x"), g.last.Buffer("w")
		t.Logf("%s: bytes a row: matrix %.0f of at least %.0f; b %.0f, x %.0f, results stored %.0f and read %.0f; all requests %.0f; %.1f warp instructions a row",
			c.name, matrix/n, least/n, 32*float64(b.LoadSectors)/n, 32*float64(x0.StoreSectors)/n, 32*float64(w.StoreSectors)/n, 32*float64(w.LoadSectors)/n, loads/n, float64(g.last.WarpInstructions)/n)
		require.GreaterOrEqual(t, matrix, least)
		require.LessOrEqual(t, matrix, 1.25*least)
		require.LessOrEqual(t, 8*float64(w.StoreSectors), 2*n/4*8, "neighbours store their results together")
	}
}

package incomplete

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/mem"
)

// columnsOf returns d[:, p].
func (d dense) columnsOf(p []int32) dense {
	if p == nil {
		return d
	}
	out := zeros(len(d))
	for i := range d {
		for j, k := range p {
			out[i][j] = d[i][k]
		}
	}
	return out
}

func TestILUTThatDropsNothingIsLU(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	exchanged := 0
	for n := range 50 {
		d := randomMatrix(r, n, 0.2, 0)
		for i := range d {
			d[i][(i+1)%n] += 3 // large entries beside a diagonal of zeros
		}
		f, err := ILUT(t.Context(), d.csr(), Threshold{Fill: math.Inf(1), Pivot: 1})
		require.NoError(t, err)
		requireTriangles(t, f)
		require.Zero(t, f.Replaced)
		exchanged += f.Exchanged
		l, u := f.triangles()
		lu := l.times(u)
		for i, row := range d.columnsOf(f.Cols) {
			require.InDeltaSlice(t, row, lu[i], 1e-12*float64(n), "n = %d, row %d", n, i)
			for j := i + 1; j < n; j++ {
				require.LessOrEqual(t, math.Abs(u[i][j]), math.Abs(u[i][i]), "the pivot is the largest of its row")
			}
		}
	}
	require.Greater(t, exchanged, 100)
}

// What ILUT drops is all that L U lacks, entry by entry.
func TestILUTDropsLessThanItsThreshold(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	dropped := int64(0)
	for n := range 50 {
		d := randomMatrix(r, n, 0.2, 0.3)
		by := Threshold{Drop: 0.02, Fill: math.Inf(1), Pivot: 0.1}
		f, err := ILUT(t.Context(), d.csr(), by)
		require.NoError(t, err)
		requireTriangles(t, f)
		require.Zero(t, f.Replaced)
		dropped += f.Dropped
		l, u := f.triangles()
		lu := l.times(u)
		for i, row := range d.columnsOf(f.Cols) {
			least := by.Drop * largest(row)
			for j, v := range row {
				if j > i {
					least = by.Drop * math.Abs(u[i][i])
				}
				require.LessOrEqual(t, math.Abs(v-lu[i][j]), least+1e-12, "n = %d, row %d, column %d", n, i, j)
			}
		}
	}
	require.Greater(t, dropped, int64(100))
}

func TestILUTBoundsItsFill(t *testing.T) {
	d := laplacian(25)
	a := d.csr()
	free, err := ILUT(t.Context(), a, Threshold{Fill: math.Inf(1)})
	require.NoError(t, err)
	before := int64(math.MaxInt64)
	for _, fill := range []float64{8, 4, 2, 1, 0.5, 0} {
		f, err := ILUT(t.Context(), a, Threshold{Fill: fill})
		require.NoError(t, err)
		requireTriangles(t, f)
		require.LessOrEqual(t, float64(f.NNZ()-int64(a.Rows)), 2*fill*float64(a.NNZ()))
		require.Less(t, f.NNZ(), before)
		before = f.NNZ()
		if fill <= 4 {
			require.Positive(t, f.Dropped)
			require.Less(t, f.NNZ(), free.NNZ())
		}
	}
	require.Equal(t, int64(a.Rows), before, "the diagonal always stays")
}

// Drop grows with the fill: entries are dropped by size, and few because no room is left.
func TestILUTDropsMoreWhereItFillsMore(t *testing.T) {
	a := laplacianRows(40)
	free, err := ILUT(t.Context(), a, Threshold{Drop: 1e-6, Fill: math.Inf(1)})
	require.NoError(t, err)
	wide, err := ILUT(t.Context(), a, Threshold{Drop: 1e-6, Fill: 100})
	require.NoError(t, err)
	require.Equal(t, free, wide, "less than a quarter of Fill is used")
	near, err := ILUT(t.Context(), a, Threshold{Drop: 1e-6, Fill: 1.2 * float64(free.NNZ()) / float64(a.NNZ())})
	require.NoError(t, err)
	require.Less(t, float64(near.NNZ()), 0.95*float64(free.NNZ()), "the bound alone would drop nothing")
	require.Greater(t, float64(near.NNZ()), 0.7*float64(free.NNZ()))
}

// The entries that stay within a bound are the largest.
func TestILUTKeepsTheLargestEntries(t *testing.T) {
	d := dense{{1, 0, 0, 0}, {0, 1, 0, 0}, {0.1, -0.5, 4, 0.4}, {0, 0, 0, 1}}
	f, err := ILUT(t.Context(), d.csr(), Threshold{Fill: 0.375})
	require.NoError(t, err)
	l, u := f.triangles()
	require.Equal(t, []float64{0, -0.5, 1, 0}, l[2])
	require.InDeltaSlice(t, []float64{0, 0, 4, 0.4}, u[2], 1e-15)
	require.Equal(t, int64(1), f.Dropped)
}

func TestSolvesInvertTheFactors(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for n := range 60 {
		d := randomMatrix(r, n, 0.2, 0.5)
		f, err := ILUT(t.Context(), d.csr(), Threshold{Drop: 1e-2, Fill: 3, Pivot: 0.1})
		require.NoError(t, err)
		rows, cols := make([]float64, n), make([]float64, n)
		for i := range rows {
			rows[i], cols[i] = math.Ldexp(1, r.IntN(9)-4), math.Ldexp(1, r.IntN(9)-4)
		}
		for _, scaled := range []bool{false, true} {
			l, u := f.triangles()
			lu := l.times(u)
			if scaled { // L U before is R A C
				f.Scale(rows, cols)
				l, u = f.triangles()
				for i, row := range l.times(u) {
					for j, v := range row {
						require.InDelta(t, lu[i][j], v*rows[i]*cols[j], 1e-12*(1+math.Abs(lu[i][j])))
					}
				}
				lu = l.times(u)
			}
			for _, transposed := range []bool{false, true} {
				x := make([]float64, n)
				for i := range x {
					x[i] = r.NormFloat64()
				}
				y := lu.apply(transposed, x)
				if transposed {
					f.SolveTransposed(y)
				} else {
					f.Solve(y)
				}
				require.InDeltaSlice(t, x, y, 1e-7, "n = %d", n)
			}
		}
	}
}

func TestILUTThatDoesNotFitIsAnError(t *testing.T) {
	defer mem.SetAvailable(10_000)()
	d := randomMatrix(rand.New(rand.NewPCG(1, 1)), 800, 1, 2)
	_, err := ILUT(t.Context(), d.csr(), Threshold{Fill: math.Inf(1)})
	var memory *NoMemory
	require.ErrorAs(t, err, &memory)
	require.Greater(t, memory.Need, memory.Have)
}

func TestQueueGivesItsMembersInOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, n := range []int{1, 63, 64, 65, 4096, 4097, 300_000} {
		q := newQueue(n)
		members := map[int]bool{}
		for range 2000 {
			if k := r.IntN(n); r.IntN(2) == 0 {
				q.add(k)
				members[k] = true
				continue
			}
			least := -1
			for k := range members {
				if least < 0 || k < least {
					least = k
				}
			}
			require.Equal(t, least, q.take())
			delete(members, least)
		}
	}
}

func TestSelectDescendingAgreesWithSorting(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for range 500 {
		v := make([]float64, 1+r.IntN(30))
		for i := range v {
			v[i] = float64(r.IntN(12))
		}
		sorted := slices.Clone(v)
		slices.Sort(sorted)
		slices.Reverse(sorted)
		for k := range sorted {
			require.Equal(t, sorted[k], selectDescending(slices.Clone(v), k+1))
		}
	}
	require.Equal(t, math.Inf(1), selectDescending(nil, 0))
}

package dense_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/dense"
	"github.com/msrep-go/msrep/sparse"
)

func TestLUOfAFrontGivesItBack(t *testing.T) { eachLevel(t, testLU[float64], testLU[float32]) }

func testLU[V sparse.Value](t *testing.T) {
	random := rand.New(rand.NewPCG(15, 16))
	for round := range rounds() / 2 {
		pivots := dimension(random)
		m, n := pivots+dimension(random), pivots+dimension(random)
		tol := []V{0.01, 0.1, 1}[round%3]
		a := newRandom[V](random, m, n, everywhere)
		front, perm := a.clone(), make([]int32, pivots)
		replaced, growth := dense.LU(m, n, pivots, front.val, front.ld, perm, tol, 1e-30)
		require.Zero(t, replaced)
		a.sameElsewhere(t, front, everywhere, "beside the front %d %d %d", m, n, pivots)
		rows := make([]int, m)
		for i := range rows {
			rows[i] = i
		}
		dense.Exchange(perm, rows)
		most := 0.0
		for j := range n {
			for i := range m {
				// (P A)_ij = sum over p of l_ip u_pj, plus the Schur complement.
				want, size := 0.0, 0.0
				for p := range min(pivots, i+1, j+1) {
					x := float64(front.at(p, j))
					if p < i {
						x *= float64(front.at(i, p))
					}
					want += x
					size += math.Abs(x)
				}
				if i >= pivots && j >= pivots {
					want += float64(front.at(i, j))
					size += math.Abs(float64(front.at(i, j)))
				}
				near(t, want, size, a.at(rows[i], j), pivots+3, "front %d %d %d, element %d %d", m, n, pivots, i, j)
				if j < pivots && i > j {
					l := math.Abs(float64(front.at(i, j)))
					most = max(most, l)
					if i < pivots {
						require.LessOrEqual(t, l, 1/float64(tol)*(1+1e-6), "threshold %v", tol)
					}
				}
			}
		}
		require.Equal(t, most, float64(growth))
	}
}

// Parts by columns, and L21 by rows, have the bits of the whole.
func TestLUInPartsHasTheBitsOfTheWhole(t *testing.T) {
	eachLevel(t, testLUInParts[float64], testLUInParts[float32])
}

func testLUInParts[V sparse.Value](t *testing.T) {
	random := rand.New(rand.NewPCG(17, 18))
	for range rounds() / 4 {
		pivots := 1 + dimension(random)
		m, n := pivots+1+dimension(random), pivots+1+dimension(random)
		a := newRandom[V](random, m, n, everywhere)
		whole := a.clone()
		perm, permParts := make([]int32, pivots), make([]int32, pivots)
		_, growth := dense.LU(m, n, pivots, whole.val, whole.ld, perm, 0.1, 1e-30)
		replaced, largest := dense.LUPanel(pivots, pivots, a.val, a.ld, permParts, 0.1, 1e-30)
		require.Zero(t, replaced)
		require.Equal(t, perm, permParts)
		row := pivots + random.IntN(m-pivots+1)
		for _, r := range [][2]int{{pivots, row}, {row, m}} {
			dense.UpperRightSolve(r[1]-r[0], pivots, a.val, a.ld, a.from(r[0], 0), a.ld)
		}
		for c := range pivots {
			largest = dense.Largest(largest, a.from(pivots, c)[:m-pivots])
		}
		require.Equal(t, growth, largest)
		col := pivots + random.IntN(n-pivots+1)
		for _, c := range [][2]int{{pivots, col}, {col, n}} {
			dense.UpperPart(pivots, c[1]-c[0], a.val, a.ld, perm, a.from(0, c[0]), a.ld)
			dense.Gemm(m-pivots, c[1]-c[0], pivots, a.from(pivots, 0), a.ld, a.from(0, c[0]), a.ld, a.from(pivots, c[0]), a.ld)
		}
		whole.same(t, a, "front %d %d %d, split at row %d, column %d", m, n, pivots, row, col)
	}
}

func TestLUPrefersTheDiagonal(t *testing.T) {
	for _, c := range []struct {
		tol  float64
		perm []int32
	}{{0.25, []int32{0, 1}}, {0.5, []int32{0, 1}}, {0.75, []int32{1, 1}}, {1, []int32{1, 1}}} {
		a, perm := []float64{1, 2, 8, 1, 1, 1}, make([]int32, 2) // row 2 is not fully summed
		replaced, growth := dense.LU(3, 2, 2, a, 3, perm, c.tol, 1e-30)
		require.Zero(t, replaced)
		require.Equal(t, c.perm, perm, "threshold %v", c.tol)
		require.GreaterOrEqual(t, growth, 4.0)
	}
}

func TestLUReplacesTinyPivots(t *testing.T) {
	eachLevel(t, testTinyPivots[float64], testTinyPivots[float32])
}

func testTinyPivots[V sparse.Value](t *testing.T) {
	const n, tiny = 30, 1e-6
	front, perm := make([]V, n*n), make([]int32, n)
	for i := range n {
		front[i+i*n] = 1
	}
	front[3+3*n] = 0
	front[20+20*n] = -1e-9
	replaced, growth := dense.LU(n, n, n, front, n, perm, 0.1, tiny)
	require.Equal(t, 2, replaced)
	require.Zero(t, growth)
	require.Equal(t, V(tiny), front[3+3*n])
	require.Equal(t, V(-tiny), front[20+20*n])

	front[0], front[1], perm = 0, 1e-9, perm[:1]
	replaced, growth = dense.LU(2, 1, 1, front, 2, perm, 1, tiny)
	require.Equal(t, 1, replaced)
	near(t, 1e-3, 1e-3, growth, 4, "row 1 is not fully summed, and so small that it does not grow")
	front[0], front[1] = 0, 5
	_, growth = dense.LU(2, 1, 1, front, 2, perm, 1, tiny)
	near(t, 5e6, 5e6, growth, 4, "the pivot is small against row 1")
	front[0], front[1] = 1, V(math.NaN())
	_, growth = dense.LU(2, 1, 1, front, 2, perm, 1, tiny)
	require.True(t, math.IsNaN(float64(growth)))
}

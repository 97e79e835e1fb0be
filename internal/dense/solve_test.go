package dense_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/msrep-go/msrep/internal/dense"
	"github.com/msrep-go/msrep/sparse"
)

// solve is a function that solves T X = B or X T = B, T a triangle or its transpose.
type solve[V sparse.Value] struct {
	name               string
	right, trans, unit bool
	stored             func(i, j int) bool // the elements of the triangle that the function reads
	do                 func(n, m int, t []V, ldt int, b []V, ldb int)
}

func solves[V sparse.Value]() []solve[V] {
	swap := func(f func(m, n int, t []V, ldt int, b []V, ldb int)) func(n, m int, t []V, ldt int, b []V, ldb int) {
		return func(n, m int, t []V, ldt int, b []V, ldb int) { f(m, n, t, ldt, b, ldb) }
	}
	return []solve[V]{
		{"LowerUnitSolve", false, false, true, below, dense.LowerUnitSolve[V]},
		{"LowerSolve", false, false, false, lower, dense.LowerSolve[V]},
		{"UpperSolve", false, false, false, upper, dense.UpperSolve[V]},
		{"LowerUnitTransSolve", false, true, true, below, dense.LowerUnitTransSolve[V]},
		{"LowerTransSolve", false, true, false, lower, dense.LowerTransSolve[V]},
		{"UpperTransSolve", false, true, false, upper, dense.UpperTransSolve[V]},
		{"UpperRightSolve", true, false, false, upper, swap(dense.UpperRightSolve[V])},
		{"LowerRightTransSolve", true, true, false, lower, swap(dense.LowerRightTransSolve[V])},
	}
}

// newTriangle returns a well-conditioned triangle.
func newTriangle[V sparse.Value](random *rand.Rand, n int, stored func(i, j int) bool) *matrix[V] {
	a := newRandom[V](random, n, n, stored)
	for j := range n {
		for i := range n {
			switch {
			case i == j && stored(i, j):
				a.set(i, j, V(1+random.Float64()))
			case stored(i, j):
				a.set(i, j, a.at(i, j)*V(4/float64(n)))
			}
		}
	}
	return a
}

// The residual T X - B is small.
func TestSolvesHaveSmallResiduals(t *testing.T) {
	eachLevel(t, testSolves[float64], testSolves[float32])
}

func testSolves[V sparse.Value](t *testing.T) {
	random := rand.New(rand.NewPCG(11, 12))
	for range rounds() / 2 {
		n, m := dimension(random), dimension(random)
		for _, f := range solves[V]() {
			a := newTriangle[V](random, n, f.stored)
			b := newRandom[V](random, n, m, everywhere)
			if f.right {
				b = newRandom[V](random, m, n, everywhere)
			}
			x, a0 := b.clone(), a.clone()
			f.do(n, m, a.val, a.ld, x.val, x.ld)
			a0.same(t, a, "triangle of %s", f.name)
			b.sameElsewhere(t, x, everywhere, "beside B of %s %d %d", f.name, n, m)
			for j := range m {
				for i := range n {
					want, size := f.times(a, x, i, j, n)
					row, col := i, j
					if f.right {
						row, col = j, i
					}
					near(t, want, size, b.at(row, col), n+2, "%s %d %d, element %d %d", f.name, n, m, i, j)
				}
			}
		}
	}
}

// times returns element i of T x or x T, where x is column or row j, and the sum of the absolute values.
func (f solve[V]) times(a, x *matrix[V], i, j, n int) (sum, size float64) {
	for p := range n {
		row, col := i, p
		if f.trans != f.right { // x T has the columns of T, T'x too
			row, col = p, i
		}
		v := 0.0
		if f.stored(row, col) {
			v = float64(a.at(row, col))
		} else if f.unit && row == col {
			v = 1
		}
		if f.right {
			v *= float64(x.at(j, p))
		} else {
			v *= float64(x.at(p, j))
		}
		sum += v
		size += math.Abs(v)
	}
	return sum, size
}

// A right-hand side has the same bits, however many others are solved with it.
func TestSplitSolvesHaveTheBitsOfTheWhole(t *testing.T) {
	eachLevel(t, testSplitSolves[float64], testSplitSolves[float32])
}

func testSplitSolves[V sparse.Value](t *testing.T) {
	random := rand.New(rand.NewPCG(13, 14))
	for range rounds() / 2 {
		n, m := 1+dimension(random), 1+random.IntN(40)
		at := random.IntN(m + 1)
		for _, f := range solves[V]() {
			a := newTriangle[V](random, n, f.stored)
			b := newRandom[V](random, n, m, everywhere)
			if f.right {
				b = newRandom[V](random, m, n, everywhere)
			}
			part := b.clone()
			f.do(n, m, a.val, a.ld, b.val, b.ld)
			rest := part.from(0, at)
			if f.right {
				rest = part.from(at, 0)
			}
			f.do(n, at, a.val, a.ld, part.val, part.ld)
			f.do(n, m-at, a.val, a.ld, rest, part.ld)
			b.same(t, part, "%s %d %d, split at %d", f.name, n, m, at)
		}
	}
}

func TestRightSolveDividesByPivotsWithoutReciprocal(t *testing.T) {
	eachLevel(t, testTinyPivot[float64], testTinyPivot[float32])
}

func testTinyPivot[V sparse.Value](t *testing.T) {
	tiny := V(math.SmallestNonzeroFloat32)
	if unsafe.Sizeof(tiny) == 8 {
		tiny = V(math.Float64frombits(1))
	}
	b := make([]V, 40)
	for i := range b {
		b[i] = V(i) * tiny
	}
	dense.UpperRightSolve(20, 2, []V{tiny, 0, 0, tiny}, 2, b, 20)
	for i, v := range b {
		near(t, float64(i), float64(i), v, 1, "element %d", i)
	}
}

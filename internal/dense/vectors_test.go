package dense_test

import (
	"math/rand/v2"
	"testing"

	"github.com/msrep-go/msrep/internal/dense"
	"github.com/msrep-go/msrep/sparse"
)

// A function of one vector is that of a matrix with one column.
func TestFunctionsOfAVectorAreThoseOfOneColumn(t *testing.T) {
	eachLevel(t, testVectors[float64], testVectors[float32])
}

func testVectors[V sparse.Value](t *testing.T) {
	random := rand.New(rand.NewPCG(23, 24))
	vectors := map[string]func(n int, t []V, ldt int, x []V){
		"LowerUnitSolve":      dense.LowerUnitSolveVec[V],
		"LowerSolve":          dense.LowerSolveVec[V],
		"UpperSolve":          dense.UpperSolveVec[V],
		"LowerUnitTransSolve": dense.LowerUnitTransSolveVec[V],
		"LowerTransSolve":     dense.LowerTransSolveVec[V],
		"UpperTransSolve":     dense.UpperTransSolveVec[V],
	}
	for range rounds() {
		m, n := dimension(random), dimension(random)
		for _, f := range solves[V]() {
			if f.right {
				continue
			}
			a, x := newTriangle[V](random, n, f.stored), newRandom[V](random, n, 1, everywhere)
			want := x.clone()
			f.do(n, 1, a.val, a.ld, want.val, want.ld)
			vectors[f.name](n, a.val, a.ld, x.val)
			want.same(t, x, "%s %d", f.name, n)
		}
		a := newRandom[V](random, m, n, everywhere)
		x, y := newRandom[V](random, n, 1, everywhere), newRandom[V](random, m, 1, everywhere)
		wantY := y.clone()
		dense.Gemm(m, 1, n, a.val, a.ld, x.val, x.ld, wantY.val, wantY.ld)
		dense.GemvSub(m, n, a.val, a.ld, x.val, y.val)
		wantY.same(t, y, "GemvSub %d %d", m, n)
		wantX := x.clone()
		dense.GemmTN(n, 1, m, a.val, a.ld, y.val, y.ld, wantX.val, wantX.ld)
		dense.GemvTransSub(m, n, a.val, a.ld, y.val, x.val)
		wantX.same(t, x, "GemvTransSub %d %d", m, n)
	}
}

package dense_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/dense"
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/sparse"
)

// product is a function that subtracts a product of two matrices.
type product[V sparse.Value] struct {
	name string
	// transA and transB say how A and B are stored: A is m x k or k x m, B is k x n or n x k.
	transA, transB bool
	do             func(m, n, k int, a []V, lda int, b []V, ldb int, c []V, ldc int)
}

func products[V sparse.Value]() []product[V] {
	return []product[V]{
		{"Gemm", false, false, dense.Gemm[V]},
		{"GemmNT", false, true, dense.GemmNT[V]},
		{"GemmTN", true, false, dense.GemmTN[V]},
	}
}

func newOperand[V sparse.Value](random *rand.Rand, rows, cols int, trans bool) *matrix[V] {
	if trans {
		rows, cols = cols, rows
	}
	return newRandom[V](random, rows, cols, everywhere)
}

func element[V sparse.Value](a *matrix[V], i, j int, trans bool) float64 {
	if trans {
		i, j = j, i
	}
	return float64(a.at(i, j))
}

// subtracted returns c_ij minus the product, and the sum of the absolute values.
func (f product[V]) subtracted(a, b, c *matrix[V], i, j, k int) (want, size float64) {
	want = float64(c.at(i, j))
	size = math.Abs(want)
	for p := range k {
		x := element(a, i, p, f.transA) * element(b, p, j, f.transB)
		want -= x
		size += math.Abs(x)
	}
	return want, size
}

func TestProductsAreNearThoseOfAPlainLoop(t *testing.T) {
	eachLevel(t, testProducts[float64], testProducts[float32])
}

func testProducts[V sparse.Value](t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range rounds() {
		m, n, k := dimension(random), dimension(random), dimension(random)
		for _, f := range products[V]() {
			a, b := newOperand[V](random, m, k, f.transA), newOperand[V](random, k, n, f.transB)
			c := newRandom[V](random, m, n, everywhere)
			before, a0, b0 := c.clone(), a.clone(), b.clone()
			f.do(m, n, k, a.val, a.ld, b.val, b.ld, c.val, c.ld)
			a0.same(t, a, "A of %s", f.name)
			b0.same(t, b, "B of %s", f.name)
			before.sameElsewhere(t, c, everywhere, "beside C of %s %d %d %d", f.name, m, n, k)
			for j := range n {
				for i := range m {
					want, size := f.subtracted(a, b, before, i, j, k)
					near(t, want, size, c.at(i, j), k+1, "%s %d %d %d, element %d %d", f.name, m, n, k, i, j)
				}
			}
		}
	}
}

func TestSyrkIsTheLowerTriangleOfGemmNT(t *testing.T) {
	eachLevel(t, testSyrk[float64], testSyrk[float32])
}

func testSyrk[V sparse.Value](t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range rounds() {
		n, k := dimension(random), dimension(random)
		a, c := newRandom[V](random, n, k, everywhere), newRandom[V](random, n, n, lower)
		whole, before := c.clone(), c.clone()
		dense.GemmNT(n, n, k, a.val, a.ld, a.val, a.ld, whole.val, whole.ld)
		dense.Syrk(n, k, a.val, a.ld, c.val, c.ld)
		before.sameElsewhere(t, c, lower, "upper triangle of %d %d", n, k)
		for j := range n {
			for i := j; i < n; i++ {
				require.Equal(t, whole.at(i, j), c.at(i, j), "%d %d, element %d %d", n, k, i, j)
			}
		}
	}
}

// Splits by rows, columns and the inner index have the bits of the whole.
func TestSplitProductsHaveTheBitsOfTheWhole(t *testing.T) {
	eachLevel(t, testSplitProducts[float64], testSplitProducts[float32])
}

func testSplitProducts[V sparse.Value](t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range rounds() {
		m, n, k := 1+dimension(random), 1+dimension(random), 1+dimension(random)
		i, j, p := random.IntN(m+1), random.IntN(n+1), random.IntN(k+1)
		for _, f := range products[V]() {
			a, b := newOperand[V](random, m, k, f.transA), newOperand[V](random, k, n, f.transB)
			c := newRandom[V](random, m, n, everywhere)
			whole := c.clone()
			f.do(m, n, k, a.val, a.ld, b.val, b.ld, whole.val, whole.ld)
			if f.transA {
				p = 0 // its sums cannot be split
			}
			part := func(i0, i1, j0, j1, p0, p1 int) {
				ai, ap, bp, bj := i0, p0, p0, j0
				if f.transA {
					ai, ap = ap, ai
				}
				if f.transB {
					bp, bj = bj, bp
				}
				f.do(i1-i0, j1-j0, p1-p0, a.from(ai, ap), a.ld, b.from(bp, bj), b.ld, c.from(i0, j0), c.ld)
			}
			for _, ps := range [][2]int{{0, p}, {p, k}} {
				for _, is := range [][2]int{{0, i}, {i, m}} {
					for _, js := range [][2]int{{0, j}, {j, n}} {
						part(is[0], is[1], js[0], js[1], ps[0], ps[1])
					}
				}
			}
			whole.same(t, c, "%s %d %d %d, split at %d %d %d", f.name, m, n, k, i, j, p)
		}
	}
}

// AVX2 and AVX-512 have the same bits, except in sums over columns.
func TestAssemblyHasTheSameBitsOnAllLevels(t *testing.T) {
	if simd.Best() < simd.AVX512 {
		t.Skip("the processor has one level of assembly at most")
	}
	t.Run("float64", testLevels[float64])
	t.Run("float32", testLevels[float32])
}

func testLevels[V sparse.Value](t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	both := func(name string, c *matrix[V], do func(c *matrix[V])) {
		t.Helper()
		short, long := c.clone(), c.clone()
		restore := dense.SetLevel(simd.AVX2)
		do(short)
		dense.SetLevel(simd.AVX512)
		do(long)
		restore()
		short.same(t, long, name)
	}
	for range rounds() {
		m, n, k := dimension(random), dimension(random), dimension(random)
		for _, f := range products[V]()[:2] {
			a, b := newOperand[V](random, m, k, f.transA), newOperand[V](random, k, n, f.transB)
			both(f.name, newRandom[V](random, m, n, everywhere), func(c *matrix[V]) { f.do(m, n, k, a.val, a.ld, b.val, b.ld, c.val, c.ld) })
		}
		for _, f := range solves[V]() {
			if f.trans && !f.right {
				continue
			}
			a, b := newTriangle[V](random, n, f.stored), newRandom[V](random, max(m, n), max(m, n), everywhere)
			both(f.name, b, func(b *matrix[V]) { f.do(n, m, a.val, a.ld, b.val, b.ld) })
		}
		perm := make([]int32, min(m, n))
		both("LU", newRandom[V](random, m, n, everywhere), func(a *matrix[V]) {
			dense.LU(m, n, min(m, n, k), a.val, a.ld, perm, 0.1, 1e-30)
		})
		a := newRandom[V](random, n, n, lower)
		for i := range n {
			a.set(i, i, V(n+1))
		}
		both("Cholesky", a, func(a *matrix[V]) { dense.Cholesky(n, a.val, a.ld) })
	}
}

func TestProductsDoNotAllocate(t *testing.T) {
	eachLevel(t, testAllocations[float64], testAllocations[float32])
}

func testAllocations[V sparse.Value](t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	a := newRandom[V](random, 300, 300, everywhere)
	b, c := a.clone(), a.clone()
	perm := make([]int32, 300)
	for i := range 300 {
		c.set(i, i, 300)
	}
	all := products[V]()
	require.Zero(t, testing.AllocsPerRun(5, func() {
		for _, f := range all {
			f.do(300, 300, 300, a.val, a.ld, b.val, b.ld, b.val, b.ld)
			f.do(3, 3, 3, a.val, a.ld, b.val, b.ld, b.val, b.ld)
		}
		dense.Syrk(100, 300, a.val, a.ld, b.val, b.ld)
		dense.LU(300, 300, 100, c.val, c.ld, perm, 0.1, 1e-30)
		dense.Cholesky(100, c.val, c.ld)
		dense.LowerTransSolve(300, 3, c.val, c.ld, b.val, b.ld)
	}))
}

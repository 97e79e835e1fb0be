package dense_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/msrep-go/msrep/internal/dense"
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/sparse"
)

// guarded is memory between two inaccessible pages.
type guarded[V mem.Elem] []V

func newGuarded[V mem.Elem](t *testing.T, n int) guarded[V] {
	page := int64(unix.Getpagesize())
	size := (int64(n)*mem.Size[V]() + page - 1) / page * page
	m, err := unix.Mmap(-1, 0, int(size+2*page), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	require.NoError(t, err)
	t.Cleanup(func() { _ = unix.Munmap(m) })
	require.NoError(t, unix.Mprotect(m[:page], unix.PROT_NONE))
	require.NoError(t, unix.Mprotect(m[page+size:], unix.PROT_NONE))
	s, ok := mem.Slice[V](m[page:page+size], size/mem.Size[V]())
	require.True(t, ok)
	return s
}

// at returns n elements at the start or at the end.
func (g guarded[V]) at(n int, end bool) []V {
	if end {
		return g[len(g)-n:]
	}
	return g[:n:n]
}

// Functions read and write nothing outside their arguments: the memory of these begins or ends at an inaccessible page.
func TestFunctionsStayInsideTheirArguments(t *testing.T) {
	eachLevel(t, testInside[float64], testInside[float32])
}

func testInside[V sparse.Value](t *testing.T) {
	const most = 60
	random := rand.New(rand.NewPCG(21, 22))
	a, b, c := newGuarded[V](t, most*most), newGuarded[V](t, most*most), newGuarded[V](t, most*most)
	perm := make([]int32, most)
	size := func(rows, cols int) int { return rows * cols }
	for round := range 4 * rounds() {
		end := round%2 == 0
		m, n, k := 1+random.IntN(most), 1+random.IntN(most), 1+random.IntN(most)
		if round%4 < 2 {
			m, n, k = 1+random.IntN(9), 1+random.IntN(9), 1+random.IntN(9)
		}
		for _, f := range products[V]() {
			lda, ldb := m, k
			if f.transA {
				lda = k
			}
			if f.transB {
				ldb = n
			}
			f.do(m, n, k, a.at(size(m, k), end), lda, b.at(size(k, n), end), ldb, c.at(size(m, n), end), m)
		}
		dense.Syrk(n, k, a.at(size(n, k), end), n, c.at(size(n, n), end), n)
		for _, f := range solves[V]() {
			ldb := n
			if f.right {
				ldb = m
			}
			f.do(n, m, a.at(size(n, n), end), n, b.at(size(n, m), end), ldb)
		}
		dense.LU(m, n, min(m, n, k), c.at(size(m, n), end), m, perm, 0.1, 1e-30)
		dense.Cholesky(n, c.at(size(n, n), end), n)
	}
}

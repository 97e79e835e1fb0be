package cuda_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

func TestLocalPointersAreThoseOfPartition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ptr := []int64{0}
		for _, n := range rowLengths().Draw(t, "rows") {
			ptr = append(ptr, ptr[len(ptr)-1]+int64(n))
		}
		cut, _, err := partition.Split(ptr, rapid.IntRange(1, 6).Draw(t, "parts"), partition.RuleNNZ)
		require.NoError(t, err)
		g := newGPU(t)
		g.blocks = rapid.Int64Range(0, 2).Draw(t, "blocks")
		global := upload(g, "ptr", ptr)
		for _, q := range cut {
			want := make([]int64, q.Majors()+1)
			require.NoError(t, partition.LocalPtr(want, ptr, q))
			dst := array[int64](g, "dst", len(want))
			g.launch("msrep_local_ptr", int64(len(want)), global, dst, int64(q.First()), int64(q.Majors()), q.StartIdx, q.EndIdx+1)
			g.ok()
			require.Equal(t, want, download[int64](g, dst, len(want)))
		}
	})
}

func TestPointersAboveTwoToThe31StayWhole(t *testing.T) {
	g := newGPU(t)
	const base = int64(1) << 33
	ptr := []int64{base - 5, base, base + 3, base + 1<<32}
	dst := array[int64](g, "dst", len(ptr))
	g.launch("msrep_local_ptr", 4, upload(g, "ptr", ptr), dst, int64(0), int64(3), base-2, base+1<<31)
	g.ok()
	require.Equal(t, []int64{0, 2, 5, 2 + 1<<31}, download[int64](g, dst, len(ptr)))
}

func TestTheMajorsOfEntriesGivePointers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := parts[float64]().Draw(t, "part")
		majors, rows, nnz := p.majors(), int64(p.rows()), int64(p.nnz())
		g := newGPU(t)
		g.blocks = rapid.Int64Range(0, 2).Draw(t, "blocks")
		// Rows further down, with pointers from the first of them.
		const above = 1 << 30
		down := make([]int32, len(majors))
		for k, r := range majors {
			down[k] = r + above
		}
		ptr := array[int64](g, "back", len(p.ptr))
		g.launch("msrep_coo_ptr", rows+1, upload(g, "down", down), ptr, nnz, int64(above), rows)
		g.ok()
		got := download[int64](g, ptr, len(p.ptr))
		for r, k := range got {
			require.Equal(t, min(max(p.ptr[r], p.first), p.end)-p.first, k, "row %d", r)
		}
	})
}

func TestValuesArePermuted(t *testing.T) {
	t.Run("float64", func(t *testing.T) { permutes[float64](t) })
	t.Run("float32", func(t *testing.T) { permutes[float32](t) })
}

func permutes[V sparse.Value](t *testing.T) {
	for _, n := range []int{0, 1, 255, 256, 257, 1000} {
		r := rand.New(rand.NewPCG(1, uint64(n)))
		src, perm, want := random[V](r, n), make([]int64, n), make([]V, n)
		for k, j := range r.Perm(n) {
			perm[k], want[k] = int64(j), src[j]
		}
		g := newGPU(t)
		dst := array[V](g, "dst", n)
		g.launch(named[V]("msrep_permute"), int64(n), upload(g, "src", src), upload(g, "perm", perm), dst, int64(n))
		g.ok()
		require.Equal(t, want, download[V](g, dst, n))
	}
}

package formtest

import (
	"math"
	"math/rand/v2"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/reference"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

// halvesOfMany computes a product of half of a symmetric matrix with several vectors. The vectors
// and spill are between guards.
type halvesOfMany[V sparse.Value] struct {
	g           *Guards
	atEnd       bool
	alpha, beta V
	x, y        form.MultiVector[V]
	want        []reference.Product
}

func newHalvesOfMany[V sparse.Value](t *rapid.T, r *rand.Rand, g *Guards, a *sparse.CSR[V], alpha, beta V, atEnd bool) *halvesOfMany[V] {
	h := &halvesOfMany[V]{g: g, atEnd: atEnd, alpha: alpha, beta: beta}
	k := rapid.SampledFrom([]int{4, 4, 8, 8, 12, 28}).Draw(t, "vectors")
	k = max(form.SymmetricColumns[V](k), form.VectorsAtOnce[V]()/2)
	block := func(name string) form.MultiVector[V] {
		stride := k + rapid.IntRange(0, 3).Draw(t, name+" gap")
		b := form.MultiVector[V]{Val: make([]V, (a.Rows-1)*stride+k), Cols: k, Stride: stride}
		for i := range b.Val {
			b.Val[i] = V(r.NormFloat64())
		}
		return b
	}
	h.x, h.y = block("x"), block("y")
	if rapid.Bool().Draw(t, "special x") {
		for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
			h.x.Val[r.IntN(len(h.x.Val))] = V(v)
		}
	}
	for j := range k {
		h.want = append(h.want, reference.Multiply(false, alpha, sparse.Matrix[V](a), ColumnOf(h.x, j), beta, ColumnOf(h.y, j)))
	}
	for i := range h.y.Val {
		if i%h.y.Stride >= k {
			h.y.Val[i] = 12345 // between the rows
		} else if beta == 0 {
			h.y.Val[i] = V(math.NaN())
		}
	}
	h.x.Val, h.y.Val = Guarded(t, g, h.x.Val, atEnd), Guarded(t, g, h.y.Val, atEnd)
	return h
}

// ColumnOf returns a copy of column j.
func ColumnOf[V sparse.Value](b form.MultiVector[V], j int) (out []V) {
	for i := range b.Rows() {
		out = append(out, b.Val[i*b.Stride+j])
	}
	return out
}

// multiply multiplies rows from <= r < end, after those before them.
func (h *halvesOfMany[V]) multiply(t *rapid.T, s Halves[V], from, end int) {
	low, top := s.Reach()
	k := h.x.Cols
	spill := form.MultiVector[V]{Val: Guarded(t, h.g, make([]V, (top-low)*k), h.atEnd), Cols: k, Stride: k}
	s.MultiplyMany(h.alpha, h.beta, h.x, h.y.From(from), func(lo, hi int) form.MultiVector[V] {
		require.Less(t, lo, hi)
		if lo >= from {
			require.LessOrEqual(t, hi, end)
			return h.y.From(lo)
		}
		require.LessOrEqual(t, hi, top)
		return spill.From(lo - low)
	})
	for i, v := range spill.Val {
		h.y.Val[(low+i/k)*h.y.Stride+i%k] += v
	}
}

func (h *halvesOfMany[V]) check(t *rapid.T) {
	for j, want := range h.want {
		require.Equal(t, -1, reference.Check(ColumnOf(h.y, j), want), "column %d of %d", j, len(h.want))
	}
	for i, v := range h.y.Val {
		if i%h.y.Stride >= h.y.Cols {
			require.Equal(t, V(12345), v, "an element between the rows was written")
		}
	}
}

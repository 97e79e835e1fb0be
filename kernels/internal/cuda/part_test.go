package cuda_test

import (
	"math/rand/v2"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/reference"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// part is a part of a matrix as a device holds it, and a product to compute.
type part[V sparse.Value] struct {
	ptr         []int64 // rows+1, local or a window
	idx         []int32
	val         []V
	cols        int
	first, end  int64
	skip        int // 1 if row 0 belongs to an earlier part
	alpha, beta V
	x, xt       []V // for the product and for the transposed one
	y, yt       []V // before the products
}

func (p *part[V]) rows() int { return len(p.ptr) - 1 }

func (p *part[V]) nnz() int { return len(p.val) }

// majors returns the row of each entry.
func (p *part[V]) majors() []int32 {
	m := make([]int32, 0, p.nnz())
	for r := range p.rows() {
		for range min(p.ptr[r+1], p.end) - max(p.ptr[r], p.first) {
			m = append(m, int32(r))
		}
	}
	return m
}

func (p *part[V]) coo() *sparse.COO[V] {
	return &sparse.COO[V]{Rows: p.rows(), Cols: p.cols, RowIdx: p.majors(), ColIdx: p.idx, Val: p.val}
}

// gathered returns the expected result of Gather: the carry, if there is one, and y.
func (p *part[V]) gathered() reference.Product {
	y := append(make([]V, p.skip), p.y...)
	return reference.Multiply(false, p.alpha, p.coo(), p.x, p.beta, y)
}

// scattered returns the expected result of Scatter.
func (p *part[V]) scattered() reference.Product {
	return reference.Multiply(true, p.alpha, p.coo(), p.xt, p.beta, p.yt)
}

// rowLengths draws the lengths of rows: no rows, empty rows at the borders, one long
// row, many short rows.
func rowLengths() *rapid.Generator[[]int] {
	length := rapid.OneOf(rapid.Just(0), rapid.IntRange(0, 5), rapid.IntRange(0, 60), rapid.IntRange(200, 400))
	return rapid.OneOf(
		rapid.SliceOfN(length, 0, 40),
		rapid.SliceOfN(rapid.Just(0), 0, 300),
		rapid.SliceOfN(rapid.IntRange(0, 2), 0, 300),
		rapid.SliceOfN(rapid.IntRange(500, 3000), 1, 2),
		rapid.Custom(func(t *rapid.T) []int {
			n := rapid.SliceOfN(rapid.IntRange(0, 3), 1, 200).Draw(t, "short")
			n[rapid.IntRange(0, len(n)-1).Draw(t, "long")] = 2500
			return n
		}),
	)
}

// parts draws a part of a matrix that one of the rules cuts.
func parts[V sparse.Value]() *rapid.Generator[*part[V]] {
	return rapid.Custom(func(t *rapid.T) *part[V] {
		lengths := rowLengths().Draw(t, "rows")
		ptr := []int64{0}
		for _, n := range lengths {
			ptr = append(ptr, ptr[len(ptr)-1]+int64(n))
		}
		rule := rapid.SampledFrom([]partition.Rule{partition.RuleNNZ, partition.RuleMergePath, partition.RuleMajor}).Draw(t, "rule")
		cut, _, err := partition.Split(ptr, rapid.IntRange(1, 5).Draw(t, "parts"), rule)
		require.NoError(t, err)
		q := rapid.SampledFrom(cut).Draw(t, "part")

		p := &part[V]{cols: rapid.SampledFrom([]int{1, 2, 17, 500}).Draw(t, "cols")}
		if rapid.Bool().Draw(t, "window") {
			// The number of entries of the matrix before these.
			before := rapid.SampledFrom([]int64{0, 1<<33 + 5}).Draw(t, "before")
			for _, k := range ptr[q.First() : q.End()+1] {
				p.ptr = append(p.ptr, k+before)
			}
			p.first, p.end = q.StartIdx+before, q.EndIdx+1+before
		} else {
			p.ptr, p.first, p.end = make([]int64, q.Majors()+1), 0, q.NNZ()
			require.NoError(t, partition.LocalPtr(p.ptr, ptr, q))
		}
		if q.StartFlag {
			p.skip = 1
		}
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		p.idx = make([]int32, q.NNZ())
		for k := range p.idx {
			p.idx[k] = int32(r.IntN(p.cols))
		}
		p.val = random[V](r, int(q.NNZ()))
		p.x, p.xt = random[V](r, p.cols), random[V](r, p.rows())
		p.y, p.yt = random[V](r, p.rows()-p.skip), random[V](r, p.cols)
		scalar := rapid.SampledFrom([]V{1, -1, 0.75, -2.5})
		p.alpha = scalar.Draw(t, "alpha")
		p.beta = rapid.OneOf(rapid.Just(V(0)), scalar).Draw(t, "beta")
		return p
	})
}

// random returns n numbers in (-1, 1).
func random[V sparse.Value](r *rand.Rand, n int) []V {
	s := make([]V, n)
	for i := range s {
		s[i] = V(2*r.Float64() - 1)
	}
	return s
}

// result uploads y before a product. With beta = 0 it is unwritten memory, so that a
// kernel that reads y is a fault.
func result[V sparse.Value](g *gpu, beta V, y []V) *vector[V] {
	v := &vector[V]{g: g, n: len(y)}
	if beta == 0 {
		v.addr = array[V](g, "y", len(y))
	} else {
		v.addr = upload(g, "y", y)
	}
	return v
}

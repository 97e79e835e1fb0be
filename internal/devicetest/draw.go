package devicetest

import (
	"math"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/reference"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// Draw draws a matrix with rows of all lengths, including empty and long ones.
func Draw[V sparse.Value](t *rapid.T) *sparse.CSR[V] {
	rows, cols := rapid.IntRange(1, 300).Draw(t, "rows"), rapid.IntRange(1, 2000).Draw(t, "cols")
	longest := rapid.SampledFrom([]int{0, 3, 40, 900}).Draw(t, "longest")
	seed := rapid.Uint64().Draw(t, "seed")
	next := func(n int) int {
		seed = seed*6364136223846793005 + 1442695040888963407
		return int(seed >> 33 % uint64(n))
	}
	m := &sparse.CSR[V]{Rows: rows, Cols: cols, RowPtr: []int64{0}}
	for range rows {
		n := 0
		if longest > 0 && next(3) > 0 {
			n = next(longest)
		}
		for c := next(cols); n > 0 && c < cols; n-- {
			m.ColIdx = append(m.ColIdx, int32(c))
			m.Val = append(m.Val, V(next(2000)-1000)/64)
			c += 1 + next(3)
		}
		m.RowPtr = append(m.RowPtr, int64(len(m.Val)))
	}
	require.NoError(t, m.Validate())
	return m
}

// Vector returns n elements without a pattern.
func Vector[V sparse.Value](n int, shift int) []V {
	v := make([]V, n)
	for i := range v {
		v[i] = V(math.Sin(float64(i + shift)))
	}
	return v
}

// Property checks one random product, cut into a random number of parts, in one of the
// ways. y is NaN if beta is 0.
func Property[V sparse.Value](t *rapid.T, open Open, ways []kernels.Form) {
	q := &Problem[V]{A: Draw[V](t), Global: rapid.Bool().Draw(t, "global")}
	q.Alpha = V(rapid.SampledFrom([]float64{1, -2.5, 0}).Draw(t, "alpha"))
	q.Beta = V(rapid.SampledFrom([]float64{0, 1, 0.75}).Draw(t, "beta"))
	way := rapid.SampledFrom(ways).Draw(t, "way")
	rules := []partition.Rule{partition.RuleMajor, partition.RuleNNZ, partition.RuleMergePath}
	if way == Fixed {
		rules = rules[:1]
	}
	rule := rapid.SampledFrom(rules).Draw(t, "rule")
	n := rapid.SampledFrom([]int{1, 2, 3, 6}).Draw(t, "parts")
	var err error
	q.Parts, _, err = partition.Split(q.A.RowPtr, n, rule)
	require.NoError(t, err)
	transpose := way == MinorProduct || way == MinorProductCOO
	in, out := q.A.Cols, q.A.Rows
	if transpose {
		in, out = out, in
	}
	q.X, q.Y = Vector[V](in, 1), Vector[V](out, 7)
	want := reference.Multiply(transpose, q.Alpha, q.A, q.X, q.Beta, q.Y)
	if q.Beta == 0 {
		for i := range q.Y {
			q.Y[i] = V(math.NaN())
		}
	}
	var got []V
	if transpose {
		got = q.MinorProduct(t, open, way == MinorProductCOO)
	} else {
		got = q.MajorProduct(t, open, way)
	}
	require.Equal(t, -1, reference.Check(got, want), "element, of %v", got)
}

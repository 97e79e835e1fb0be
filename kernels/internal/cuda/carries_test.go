package cuda_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/reference"
	"github.com/msrep-go/msrep/sparse"
)

func TestCarriesAreAddedToTheirRowsOverSeveralLevels(t *testing.T) {
	t.Run("float64", func(t *testing.T) { carriesAdd[float64](t) })
	t.Run("float32", func(t *testing.T) { carriesAdd[float32](t) })
}

func carriesAdd[V sparse.Value](t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.SampledFrom([]int{0, 1, 31, 512, 513, 700, 3000}).Draw(t, "n")
		checkCarries[V](t, n, rapid.SampledFrom([]int{1, 2, 40, 5000}).Draw(t, "rows"),
			rapid.IntRange(0, 1).Draw(t, "skip"), rapid.Uint64().Draw(t, "seed"), rapid.Int64Range(0, 2).Draw(t, "blocks"))
	})
	checkCarries[V](t, 263000, 3, 1, 1, 0) // the last block processes two groups
	checkCarries[V](t, 300000, 5000, 1, 2, 0)
}

func checkCarries[V sparse.Value](t require.TestingT, n, rows, skip int, seed uint64, blocks int64) {
	r := rand.New(rand.NewPCG(seed, 0))
	row := make([]int32, n)
	last := 0
	for i := range row {
		// Runs of all lengths, and a few carries past the last row.
		if r.IntN(4) == 0 && r.IntN(n) < 2*rows {
			last = min(last+r.IntN(3), rows)
		}
		row[i] = int32(last)
	}
	val, y := random[V](r, n), random[V](r, rows)
	g := newGPU(t)
	g.blocks = blocks
	d, carry := upload(g, "y", y[skip:]), upload(g, "carry", y[:skip])
	addCarries[V](g, upload(g, "row", row), upload(g, "val", val), int64(n), d, carry, int64(rows), int64(skip))
	g.ok()
	got := append(download[V](g, carry, skip), download[V](g, d, rows-skip)...)

	a := &sparse.COO[V]{Rows: rows, Cols: 1}
	for i, q := range row {
		if int(q) < rows {
			a.RowIdx, a.ColIdx, a.Val = append(a.RowIdx, q), append(a.ColIdx, 0), append(a.Val, val[i])
		}
	}
	require.Equal(t, -1, reference.Check(got, reference.Multiply(false, 1, a, []V{1}, 1, y)))
}

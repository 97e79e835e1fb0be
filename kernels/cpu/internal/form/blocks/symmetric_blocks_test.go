package blocks_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/blocks"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/diagonals"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/formtest"
	"github.com/msrep-go/msrep/sparse"
)

func TestSymmetricBlocksMultiplyAsTheReference(t *testing.T) {
	formtest.EachLevel(t, checkSymmetricBlocks[float64], checkSymmetricBlocks[float32])
}

func checkSymmetricBlocks[V sparse.Value](t *testing.T, l simd.Level) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(2, blocks.SymmetricBlockMax).Draw(t, "size")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		formtest.CheckHalves(t, r, inBlocks(symmetricBlocks(r), size), size, func(rows form.Rows[V], first int) (formtest.Halves[V], error) {
			return blocks.NewSymmetric(rows, first, size, l)
		})
	})
}

// symmetricBlocks returns the positions of the blocks of a symmetric matrix.
func symmetricBlocks(r *rand.Rand) formtest.Pattern {
	n := 1 + r.IntN(60)
	if r.IntN(8) == 0 {
		n = 256 + r.IntN(300) // several windows
	}
	p := formtest.Pattern{Cols: n, Rows: make([][]int32, n)}
	for row := range n {
		if r.IntN(8) > 0 {
			p.Rows[row] = append(p.Rows[row], int32(row))
		}
		for range min(r.IntN(4), row) {
			if c := max(0, row-1-r.IntN([]int{3, n}[r.IntN(2)])); !slices.Contains(p.Rows[row], int32(c)) {
				p.Rows[row], p.Rows[c] = append(p.Rows[row], int32(c)), append(p.Rows[c], int32(row))
			}
		}
	}
	for _, row := range p.Rows {
		slices.Sort(row)
	}
	return p
}

// inBlocks returns a matrix with a full block of size x size in place of each entry.
func inBlocks(p formtest.Pattern, size int) formtest.Pattern {
	out := formtest.Pattern{Cols: p.Cols * size}
	for _, row := range p.Rows {
		var wide []int32
		for _, c := range row {
			for j := range size {
				wide = append(wide, c*int32(size)+int32(j))
			}
		}
		for range size {
			out.Rows = append(out.Rows, wide)
		}
	}
	return out
}

func TestSymmetricBlocksTakeHalfTheMemory(t *testing.T) {
	k := 0.
	a := formtest.SymmetricCSR[float64](inBlocks(formtest.Band(2000, 3), 3), func() float64 { k++; return k / 3 })
	rows := formtest.RowsOf(a)
	b := formtest.Must(blocks.NewBlocks(rows, blocks.BlockOptions[float64]{Level: simd.Best(), Shape: blocks.BlockShape{Height: 3, Width: 3}}))(t)
	size, ok := blocks.SuitsSymmetricBlocks(b)
	require.Equal(t, diagonals.FastSymmetric(simd.Best()), ok)
	if ok {
		require.Equal(t, 3, size)
	}
	s := formtest.Must(blocks.NewSymmetric(rows, 0, 3, simd.Best()))(t)
	require.Less(t, float64(s.Bytes()), .6*float64(b.Bytes()))
	require.Less(t, s.Padding(), int64(9*64))
}

func TestSymmetricBlocksRefuseOtherRows(t *testing.T) {
	build := func(spoil func(a *sparse.CSR[float64]), first, size int) error {
		a := formtest.SymmetricCSR[float64](inBlocks(formtest.Band(20, 2), 3), func() float64 { return 1 })
		spoil(a)
		_, err := blocks.NewSymmetric(formtest.RowsOf(a), first, size, simd.Best())
		return err
	}
	none := func(*sparse.CSR[float64]) {}
	require.NoError(t, build(none, 0, 3))
	for name, c := range map[string]struct {
		spoil       func(a *sparse.CSR[float64])
		first, size int
		text        string
	}{
		"a size that is too large":  {none, 0, 10, "use 2 to 6"},
		"a size that is too small":  {none, 0, 1, "use 2 to 6"},
		"another size":              {none, 0, 6, "outside the full blocks of 6 x 6"},
		"half a row of blocks":      {none, 0, 4, "outside the full blocks"},
		"a first row inside":        {none, 1, 3, "60 rows from row 1 on"},
		"a column below 0":          {func(a *sparse.CSR[float64]) { a.ColIdx[a.RowPtr[30]] = -3 }, 0, 3, "an entry of rows 30 to 32"},
		"rows that differ":          {func(a *sparse.CSR[float64]) { a.ColIdx[a.RowPtr[31]] = 0 }, 0, 3, "an entry of rows 30 to 32"},
		"columns that are no block": {func(a *sparse.CSR[float64]) { shift(a, 30, 33) }, 0, 3, "an entry of rows 30 to 32"},
	} {
		t.Run(name, func(t *testing.T) {
			err := build(c.spoil, c.first, c.size)
			require.True(t, sparse.IsInput(err), "%v", err)
			require.ErrorContains(t, err, c.text)
		})
	}
}

// shift moves the first three entries of some rows one column to the left.
func shift(a *sparse.CSR[float64], from, to int) {
	for r := from; r < to; r++ {
		for k := range int64(3) {
			a.ColIdx[a.RowPtr[r]+k]--
		}
	}
}

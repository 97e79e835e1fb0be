package blocks_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/blocks"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/csr"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/formtest"
	"github.com/msrep-go/msrep/sparse"
)

func TestBlocksOfEveryShapeAreFoundAndMultiplied(t *testing.T) {
	formtest.EachLevel(t, everyShape[float64], everyShape[float32])
}

func everyShape[V sparse.Value](t *testing.T, l simd.Level) {
	r := rand.New(rand.NewPCG(1, 1))
	for height := 2; height <= blocks.BlockMax; height++ {
		for width := 1; width <= blocks.BlockMax; width++ {
			cut := r.IntN(height)
			p := formtest.BlockMatrix(r, height, width, cut)
			for _, values := range []string{"any", "float32"} {
				a := sparse.Convert[V](p.CSR(func() float64 { return formtest.ValueKinds[values](r) }))
				rows := formtest.RowsOf(a)
				shape, ok := blocks.FindBlocks(rows)
				require.True(t, ok)
				require.Equal(t, blocks.BlockShape{Height: height, Width: width, First: (height - cut) % height}, shape)
				f := formtest.Must(blocks.NewBlocks(rows, blocks.BlockOptions[V]{Level: l, Shape: shape, Values: form.FindValues(a.Val)}))(t)
				x, y, z := make([]V, a.Cols), make([]V, a.Rows), make([]V, a.Rows)
				for i := range x {
					x[i] = V(r.IntN(100))
				}
				f.Multiply(2, 0, x, y)
				csr.NewCSR(rows).Multiply(2, 0, x, z)
				for i := range y {
					require.InDelta(t, float64(z[i]), float64(y[i]), 1e-2, "%s, row %d", f.Name(), i)
				}
			}
		}
	}
}

func TestBlocksRefuseEntriesOutsideThem(t *testing.T) {
	p := formtest.BlockMatrix(rand.New(rand.NewPCG(1, 1)), 4, 4, 0)
	p.Rows[40] = append([]int32(nil), p.Rows[40]...)
	p.Rows[40][0] = 159
	a := p.CSR(func() float64 { return 1 })
	rows := formtest.RowsOf(a)
	_, err := blocks.NewBlocks(rows, blocks.BlockOptions[float64]{Shape: blocks.BlockShape{Height: 4, Width: 4}})
	require.True(t, sparse.IsInput(err), "%v", err)
	require.ErrorContains(t, err, "outside the full blocks of 4 x 4")
	_, err = blocks.NewBlocks(rows, blocks.BlockOptions[float64]{Shape: blocks.BlockShape{Height: 9, Width: 4}})
	require.ErrorContains(t, err, "use 2 to 8 rows")
}

func TestBlocksCountTheMemoryOfRowsOutsideBlocks(t *testing.T) {
	long := make([]int32, 4000)
	for i := range long {
		long[i] = int32(i)
	}
	a := formtest.Pattern{Cols: len(long), Rows: [][]int32{long, {0, 1}, {0, 1}, long}}.CSR(func() float64 { return 1 })
	rows := formtest.RowsOf(a)
	rows.Mem = &form.Memory{Alloc: func(n int64) ([]byte, error) { return make([]byte, n), nil }}
	o := blocks.BlockOptions[float64]{Shape: blocks.BlockShape{Height: 2, Width: 2, First: 1}}
	f := formtest.Must(blocks.NewBlocks(rows, o))(t)
	require.Greater(t, rows.Mem.Used(), int64(2*len(long)*(4+8)))
	require.GreaterOrEqual(t, f.Bytes(), rows.Mem.Used())
	rows.Mem.Limit = 2*rows.Mem.Used() - 1
	_, err := blocks.NewBlocks(rows, o)
	require.ErrorIs(t, err, kernels.ErrOutOfMemory)
}

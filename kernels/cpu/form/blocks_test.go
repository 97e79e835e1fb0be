package form_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/form"
	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/sparse"
)

// blockMatrix has full blocks of one shape after a few rows of another block.
func blockMatrix(r *rand.Rand, height, width, cut int) pattern {
	p := pattern{cols: 40 * width}
	for range 30 {
		var row []int32
		for b := range int32(40) {
			if r.IntN(4) == 0 {
				for j := range int32(width) {
					row = append(row, b*int32(width)+j)
				}
			}
		}
		for range height {
			p.rows = append(p.rows, row)
		}
	}
	p.rows = p.rows[cut:]
	return p
}

func TestBlocksOfEveryShapeAreFoundAndMultiplied(t *testing.T) {
	eachLevel(t, everyShape[float64], everyShape[float32])
}

func everyShape[V sparse.Value](t *testing.T, l simd.Level) {
	r := rand.New(rand.NewPCG(1, 1))
	for height := 2; height <= simd.BlockMax; height++ {
		for width := 1; width <= simd.BlockMax; width++ {
			cut := r.IntN(height)
			p := blockMatrix(r, height, width, cut)
			for _, values := range []string{"any", "float32"} {
				a := sparse.Convert[V](p.csr(func() float64 { return valueKinds[values](r) }))
				rows := rowsOf(a)
				shape, ok := form.FindBlocks(rows)
				require.True(t, ok)
				require.Equal(t, form.BlockShape{Height: height, Width: width, First: (height - cut) % height}, shape)
				f := must(form.NewBlocks(rows, form.BlockOptions[V]{Level: l, Shape: shape, Values: form.FindValues(a.Val)}))(t)
				x, y, z := make([]V, a.Cols), make([]V, a.Rows), make([]V, a.Rows)
				for i := range x {
					x[i] = V(r.IntN(100))
				}
				f.Multiply(2, 0, x, y)
				form.NewCSR(rows).Multiply(2, 0, x, z)
				for i := range y {
					require.InDelta(t, float64(z[i]), float64(y[i]), 1e-2, "%s, row %d", f.Name(), i)
				}
			}
		}
	}
}

func TestBlocksRefuseEntriesOutsideThem(t *testing.T) {
	p := blockMatrix(rand.New(rand.NewPCG(1, 1)), 4, 4, 0)
	p.rows[40] = append([]int32(nil), p.rows[40]...)
	p.rows[40][0] = 159
	a := p.csr(func() float64 { return 1 })
	rows := rowsOf(a)
	_, err := form.NewBlocks(rows, form.BlockOptions[float64]{Shape: form.BlockShape{Height: 4, Width: 4}})
	require.True(t, sparse.IsInput(err), "%v", err)
	require.ErrorContains(t, err, "outside the full blocks of 4 x 4")
	_, err = form.NewBlocks(rows, form.BlockOptions[float64]{Shape: form.BlockShape{Height: 9, Width: 4}})
	require.ErrorContains(t, err, "use 2 to 8 rows")
}

func TestBlocksCountTheMemoryOfRowsOutsideBlocks(t *testing.T) {
	long := make([]int32, 4000)
	for i := range long {
		long[i] = int32(i)
	}
	a := pattern{cols: len(long), rows: [][]int32{long, {0, 1}, {0, 1}, long}}.csr(func() float64 { return 1 })
	rows := rowsOf(a)
	rows.Mem = &form.Memory{Alloc: func(n int64) ([]byte, error) { return make([]byte, n), nil }}
	o := form.BlockOptions[float64]{Shape: form.BlockShape{Height: 2, Width: 2, First: 1}}
	f := must(form.NewBlocks(rows, o))(t)
	require.Greater(t, rows.Mem.Used(), int64(2*len(long)*(4+8)))
	require.GreaterOrEqual(t, f.Bytes(), rows.Mem.Used())
	rows.Mem.Limit = 2*rows.Mem.Used() - 1
	_, err := form.NewBlocks(rows, o)
	require.ErrorIs(t, err, kernels.ErrOutOfMemory)
}

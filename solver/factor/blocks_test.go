package factor_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/solver/factor"
	"github.com/msrep-go/msrep/sparse"
)

func byILUT(ctx context.Context, block *sparse.CSR[float64]) (factor.Preconditioner, error) {
	return factor.NewILUT(ctx, block, factor.ILUTOptions{})
}

// Blocks of a block diagonal matrix are all of it.
func TestBlocksOfABlockDiagonalMatrixSolve(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	a := &sparse.CSR[float64]{RowPtr: []int64{0}}
	var starts []int
	for _, m := range []int{3, 1, 0, 7, 5} {
		starts = append(starts, a.Rows)
		block := laplacian(m)
		for i := range block.Rows {
			for k := block.RowPtr[i]; k < block.RowPtr[i+1]; k++ {
				a.ColIdx, a.Val = append(a.ColIdx, block.ColIdx[k]+int32(starts[len(starts)-1])), append(a.Val, block.Val[k])
			}
			a.RowPtr = append(a.RowPtr, int64(len(a.Val)))
		}
		a.Rows, a.Cols = a.Rows+block.Rows, a.Cols+block.Cols
	}
	given := append([]int(nil), starts...)
	b, err := factor.NewBlocks(t.Context(), a, starts, func(ctx context.Context, block *sparse.CSR[float64]) (factor.Preconditioner, error) {
		return factor.NewILUT(ctx, block, complete)
	})
	require.NoError(t, err)
	require.Equal(t, given, starts)
	require.Equal(t, a.Rows, b.Size())
	want, x := randomVector(r, a.Rows), make([]float64, a.Rows)
	y, _ := multiply(a, false, want)
	require.NoError(t, b.Apply(y, x))
	require.InDeltaSlice(t, want, x, 1e-12)
}

// What lies outside the blocks plays no part, and neither does the number of goroutines.
func TestBlocksApplyWhatIsBuiltOfEachBlock(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	a := laplacian(20)
	starts := []int{0, 100, 100, 101, 350}
	r := randomVector(rand.New(rand.NewPCG(3, 4)), a.Rows)
	want := make([]float64, a.Rows)
	for k, lo := range starts {
		hi := a.Rows
		if k+1 < len(starts) {
			hi = starts[k+1]
		}
		block := &sparse.CSR[float64]{Rows: hi - lo, Cols: hi - lo, RowPtr: []int64{0}}
		for i := lo; i < hi; i++ {
			for k := a.RowPtr[i]; k < a.RowPtr[i+1]; k++ {
				if j := int(a.ColIdx[k]); j >= lo && j < hi {
					block.ColIdx, block.Val = append(block.ColIdx, int32(j-lo)), append(block.Val, a.Val[k])
				}
			}
			block.RowPtr = append(block.RowPtr, int64(len(block.Val)))
		}
		f, err := factor.NewILUT(t.Context(), block, factor.ILUTOptions{})
		require.NoError(t, err)
		require.NoError(t, f.Apply(r[lo:hi], want[lo:hi]))
	}
	for _, p := range []int{1, 2, 5} {
		runtime.GOMAXPROCS(p)
		b, err := factor.NewBlocks(t.Context(), a, starts, byILUT)
		require.NoError(t, err)
		z := make([]float64, a.Rows)
		require.NoError(t, b.Apply(r, z))
		require.Equal(t, want, z)
	}
}

// failing is a preconditioner whose Apply fails.
type failing int

func (f failing) Size() int                { return int(f) }
func (failing) Apply(_, _ []float64) error { return errors.New("no power") }

func TestBlocksThatCannotBeBuiltOrApplied(t *testing.T) {
	a := laplacian(4)
	for text, starts := range map[string][]int{
		"starts: []: the first block begins with row 0":                                             {},
		"starts: [1]: the first block begins with row 0":                                            {1},
		"starts: block 2 begins with row 3: the last one begins with row 5, and there are 16 rows":  {0, 5, 3},
		"starts: block 1 begins with row 17: the last one begins with row 0, and there are 16 rows": {0, 17},
	} {
		_, err := factor.NewBlocks(t.Context(), a, starts, byILUT)
		require.EqualError(t, err, text)
		require.True(t, sparse.IsInput(err))
	}
	_, err := factor.NewBlocks(t.Context(), a, []int{0}, nil)
	require.EqualError(t, err, "build: is nil")
	_, err = factor.NewBlocks(t.Context(), nil, []int{0}, byILUT)
	require.EqualError(t, err, "matrix: is nil")

	build := func(m factor.Preconditioner, err error) func(context.Context, *sparse.CSR[float64]) (factor.Preconditioner, error) {
		return func(context.Context, *sparse.CSR[float64]) (factor.Preconditioner, error) { return m, err }
	}
	reason := errors.New("no luck")
	_, err = factor.NewBlocks(t.Context(), a, []int{0, 4}, build(nil, reason))
	require.ErrorIs(t, err, reason)
	require.EqualError(t, err, "block of rows 0 to 3: no luck")
	_, err = factor.NewBlocks(t.Context(), a, []int{0, 4}, build((*factor.Incomplete)(nil), nil))
	require.EqualError(t, err, "block of rows 0 to 3: build: returned no preconditioner")
	_, err = factor.NewBlocks(t.Context(), a, []int{0, 4}, build(failing(5), nil))
	require.EqualError(t, err, "block of rows 0 to 3: build: returned a preconditioner of 5 rows")
	b, err := factor.NewBlocks(t.Context(), a, []int{0, 8}, build(failing(8), nil))
	require.NoError(t, err)
	require.EqualError(t, b.Apply(make([]float64, 16), make([]float64, 16)), "block of rows 0 to 7: no power")
	require.EqualError(t, b.Apply(make([]float64, 16), nil), "z: 0 elements: the factors have 16 rows")
	_, err = factor.NewBlocks(t.Context(), a, []int{0, 8}, func(context.Context, *sparse.CSR[float64]) (factor.Preconditioner, error) { panic("oh") })
	require.ErrorContains(t, err, "oh")
}

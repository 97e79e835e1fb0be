package reorder

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/msrep/internal/layout"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/gen"
)

// shuffledGrid returns a grid in random order, with unsorted rows, a duplicate, and the numbers of its entries as values.
func shuffledGrid(t *testing.T) *sparse.CSR[float64] {
	a, _, err := gen.Generate("stencil:dims=2,n=30")
	require.NoError(t, err)
	p := make([]int32, a.Rows)
	for i, k := range rand.New(rand.NewPCG(1, 2)).Perm(a.Rows) {
		p[i] = int32(k)
	}
	a, err = sparse.Permute(a, p, p)
	require.NoError(t, err)
	a.ColIdx[0], a.ColIdx[1] = a.ColIdx[1], a.ColIdx[0]
	a.ColIdx[3] = a.ColIdx[2]
	for k := range a.Val {
		a.Val[k] = float64(k)
	}
	return a
}

func TestMatricesAndValuesHaveTheOrder(t *testing.T) {
	a := shuffledGrid(t)
	val := make([]float64, len(a.Val))
	for k := range val {
		val[k] = float64(-k)
	}
	changed := layout.WithValues[float64](a, val).(*sparse.CSR[float64])
	for _, keep := range []bool{false, true} {
		o, err := New[float64](t.Context(), a, []int{1, 2, 1}, keep, false)
		require.NoError(t, err)
		want, err := sparse.Permute(a, o.Rows, o.Rows)
		require.NoError(t, err)
		got, err := sparse.Permute(sparse.ToCSR(o.Matrix()), nil, nil) // sorts rows
		require.NoError(t, err)
		require.Equal(t, want, got)
		if !keep {
			require.Equal(t, want, o.Matrix())
		} else {
			require.Same(t, &a.Val[0], &layout.Values(o.Matrix())[0], "entries have the order of a")
		}
		want, err = sparse.Permute(changed, o.Rows, o.Rows)
		require.NoError(t, err)
		b, err := o.WithValues(val)
		require.NoError(t, err)
		got, err = sparse.Permute(sparse.ToCSR(b), nil, nil)
		require.NoError(t, err)
		require.Equal(t, want, got)
		require.Equal(t, o.Cuts.At[3], a.Rows)
	}
}

func TestVectorsGoThereAndBack(t *testing.T) {
	o, err := New[float64](t.Context(), shuffledGrid(t), []int{1, 1}, false, false)
	require.NoError(t, err)
	x, in, out := make([]float64, len(o.Rows)), make([]float64, len(o.Rows)), make([]float64, len(o.Rows))
	for i := range x {
		x[i] = float64(i)
	}
	o.In(in, x)
	for k, i := range o.Rows {
		require.Equal(t, float64(i), in[k])
	}
	o.Out(out, in)
	require.Equal(t, x, out)
}

func TestImbalanceIsRelativeToWeights(t *testing.T) {
	c := Cuts{Weights: []int{1, 3}}
	parts, err := partition.SplitAt([]int64{0, 30, 100}, []int{0, 1, 2})
	require.NoError(t, err)
	require.InDelta(t, 1.2, c.Imbalance(parts), 1e-12)
	none, err := partition.SplitAt([]int64{0, 0, 0}, []int{0, 1, 2})
	require.NoError(t, err)
	require.Equal(t, 1.0, c.Imbalance(none))
}

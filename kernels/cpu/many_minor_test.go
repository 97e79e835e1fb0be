package cpu_test

import (
	"fmt"
	"math"
	"math/rand"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/reference"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

func TestTransposedProductsWithManyVectorsAreThoseOfEach(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	matrices := map[string]*sparse.CSR[float64]{
		"near the diagonal":      bandedCSR(rng, 2500, 2500, 30, math.MaxInt),
		"most near the diagonal": bandedCSR(rng, 2500, 2500, 30, 500),
		"anywhere, wide":         bandedCSR(rng, 300, 2000, 30, 1),
		"in one column":          bandedCSR(rng, 500, 1, 0, math.MaxInt),
		"one row has most, gaps": unevenCSR(rng, 600, 500),
	}
	for _, threads := range []int{1, 3} {
		d, s := open(t, cpu.Config{Threads: threads, Grain: 1})
		for name, a := range matrices {
			for _, parts := range []int{1, 2} {
				t.Run(fmt.Sprintf("%s, %d workers, %d parts", name, threads, parts), func(t *testing.T) {
					split := splitOf(t, a, parts)
					for _, k := range []int{3, 8, 13} { // successive products: each must leave the vectors zero
						checkManyTransposed(t, rng, d, s, a, split, k)
					}
				})
			}
		}
		require.NoError(t, d.Close())
	}
}

// checkManyTransposed adds up the products of all parts.
func checkManyTransposed(t *testing.T, rng *rand.Rand, d *cpu.Device, s kernels.Stream, a *sparse.CSR[float64], split []partition.Part, k int) {
	block := func(rows int) kernels.MultiVector[float64] {
		gap := k % 3
		v := make([]float64, max(0, rows*(k+gap)-gap))
		for i := range v {
			if v[i] = rng.NormFloat64(); i%(k+gap) >= k {
				v[i] = math.NaN()
			}
		}
		return kernels.MultiVector[float64]{Val: kernels.AdoptArray(d, v), Cols: k, Stride: k + gap}
	}
	view := func(b kernels.MultiVector[float64]) []float64 {
		v, err := kernels.View(d, b.Val)
		require.NoError(t, err)
		return v
	}
	column := func(v []float64, stride, j int) (out []float64) {
		for i := j; i < len(v); i += stride {
			out = append(out, v[i])
		}
		return out
	}
	for _, beta := range []float64{0, -0.5} {
		x, y := block(a.Rows), block(a.Cols)
		if beta == 0 {
			view(x)[rng.Intn(a.Rows)*x.Stride] = math.Inf(1) // in the first column
		}
		want := map[int]reference.Product{}
		for _, j := range []int{0, k - 1} { // each takes a different path
			want[j] = reference.Multiply(true, 1.5, sparse.Matrix[float64](a), column(view(x), x.Stride, j), beta, column(view(y), y.Stride, j))
		}
		if beta == 0 {
			for i := range view(y) {
				view(y)[i] = math.NaN()
			}
		}
		for i, p := range split {
			lo, hi := p.First(), p.End()
			scale := 1.0
			if i == 0 {
				scale = beta
			}
			require.NoError(t, s.Launch(&kernels.MinorProductMany[float64]{
				A: kernels.Compressed[float64]{Part: p.Shift(lo, 0), Ptr: kernels.AdoptArray(d, a.RowPtr[lo:hi+1]),
					Idx: kernels.AdoptArray(d, a.ColIdx[p.StartIdx:p.EndIdx+1]), Val: kernels.AdoptArray(d, a.Val[p.StartIdx:p.EndIdx+1])},
				Alpha: 1.5, Beta: scale, Y: y,
				X: kernels.MultiVector[float64]{Val: kernels.AdoptArray(d, view(x)[lo*x.Stride:(hi-1)*x.Stride+k]), Cols: k, Stride: x.Stride}}))
		}
		for j, want := range want {
			require.Equal(t, -1, reference.Check(column(view(y), y.Stride, j), want), "vector %d of %d, beta %v", j, k, beta)
		}
		for i, v := range view(y) {
			require.False(t, i%y.Stride >= k && v == v, "written between the rows")
		}
	}
}

func TestATransposedProductWithManyVectorsThatFailsLeavesNothingForTheNext(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	a := bandedCSR(rng, 3000, 3000, 30, 1)
	d, s := open(t, cpu.Config{Threads: 3, Grain: 1})
	defer d.Close()
	split := splitOf(t, a, 1)
	ones := make([]float64, 3000*3) // what a product adds before it fails must not be 0
	for i := range ones {
		ones[i] = 1
	}
	x := kernels.MultiVector[float64]{Val: kernels.AdoptArray(d, ones), Cols: 3, Stride: 3}
	y := kernels.MultiVector[float64]{Val: kernels.AdoptArray(d, make([]float64, 3000*3)), Cols: 3, Stride: 3}
	for _, bad := range []int32{-1, 3000, math.MaxInt32, math.MinInt32} {
		good := a.ColIdx[6000]
		a.ColIdx[6000] = bad
		require.ErrorIs(t, s.Launch(&kernels.MinorProductMany[float64]{A: whole(d, a), Alpha: 1, X: x, Y: y}), kernels.ErrArgument)
		a.ColIdx[6000] = good
		checkManyTransposed(t, rng, d, s, a, split, 3)
	}
	short := y
	short.Cols, short.Stride = 2, 2
	require.ErrorContains(t, s.Launch(&kernels.MinorProductMany[float64]{A: whole(d, a), Alpha: 1, X: x, Y: short}), "x has 3 columns and y has 2")
}

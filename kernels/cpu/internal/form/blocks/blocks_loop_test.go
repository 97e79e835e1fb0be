package blocks

import (
	"math/rand/v2"
	"testing"

	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/stretchr/testify/require"
)

// TestBlocksPrefetch multiplies with and without prefetching.
func TestBlocksPrefetch(t *testing.T) {
	defer func(old bool) { form.PrefetchesBlocks = old }(form.PrefetchesBlocks)
	const slices, width, cols = 3, 3, 50
	r := rand.New(rand.NewPCG(1, 2))
	x := make([]float64, cols)
	for i := range x {
		x[i] = r.Float64() - 0.5
	}
	for _, l := range simd.Levels()[1:] {
		lanes := simd.Lanes[float64](l)
		for height := 2; height <= BlockMax; height++ {
			b := Blocks[float64]{Height: height, Width: width, Fused: true, Values: form.Values[float64]{Lanes: lanes}}
			for range slices {
				b.Widths = append(b.Widths, 2, 1)
				b.Masks = append(b.Masks, 0b0101)
			}
			for range slices * 3 * lanes {
				b.Idx = append(b.Idx, int32(r.IntN(cols-width+1)))
			}
			for range slices * 3 * lanes * width * height {
				b.Values.Full = append(b.Values.Full, r.Float64()-0.5)
			}
			want := make([]float64, slices*height*lanes)
			MultiplyBlocks(simd.Generic, &b, form.Position{}, slices, x, want)
			for _, form.PrefetchesBlocks = range []bool{false, true} {
				got := make([]float64, len(want))
				MultiplyBlocks(l, &b, form.Position{}, slices, x, got)
				require.Equal(t, want, got, "%v, height %d, ahead %v", l, height, form.PrefetchesBlocks)
			}
		}
	}
}

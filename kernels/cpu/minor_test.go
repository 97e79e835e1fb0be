package cpu_test

import (
	"fmt"
	"math"
	"math/rand"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/reference"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// bandedCSR has up to 5 entries in each row, at most width columns from the diagonal. Every far-th row has one entry
// anywhere.
func bandedCSR(rng *rand.Rand, rows, cols, width, far int) *sparse.CSR[float64] {
	a := &sparse.CSR[float64]{Rows: rows, Cols: cols, RowPtr: []int64{0}}
	for r := range rows {
		for range rng.Intn(6) {
			c := r*cols/rows + rng.Intn(2*width+1) - width
			if rng.Intn(far) == 0 {
				c = rng.Intn(cols)
			}
			a.ColIdx = append(a.ColIdx, int32(min(max(c, 0), cols-1)))
			a.Val = append(a.Val, rng.NormFloat64())
		}
		a.RowPtr = append(a.RowPtr, int64(len(a.ColIdx)))
	}
	return a
}

func whole(d *cpu.Device, a *sparse.CSR[float64]) kernels.Compressed[float64] {
	return kernels.Compressed[float64]{
		Part: partition.Part{EndIdx: a.NNZ() - 1, EndMajor: a.Rows - 1, OwnEnd: a.Rows},
		Ptr:  kernels.AdoptArray(d, a.RowPtr), Idx: kernels.AdoptArray(d, a.ColIdx), Val: kernels.AdoptArray(d, a.Val)}
}

func TestTransposedProductsAreRightWhereverTheEntriesLie(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	matrices := map[string]*sparse.CSR[float64]{
		"near the diagonal":       bandedCSR(rng, 20000, 20000, 30, math.MaxInt),
		"anywhere":                bandedCSR(rng, 20000, 20000, 30, 1),
		"most near the diagonal":  bandedCSR(rng, 20000, 20000, 30, 9000),
		"wide":                    bandedCSR(rng, 9000, 50000, 30, math.MaxInt),
		"tall":                    bandedCSR(rng, 50000, 900, 30, math.MaxInt),
		"in one column":           bandedCSR(rng, 20000, 1, 0, math.MaxInt),
		"one row has most, gaps":  unevenCSR(rng, 5000, 4000),
		"first and last quarters": bandedCSR(rng, 30000, 15000, 7000, 2),
	}
	for _, threads := range []int{1, 2, 5} {
		d, s := open(t, cpu.Config{Threads: threads, Grain: 1})
		for name, a := range matrices {
			t.Run(fmt.Sprintf("%s, %d workers", name, threads), func(t *testing.T) {
				x, y := make([]float64, a.Rows), make([]float64, a.Cols)
				for i := range x {
					x[i] = rng.NormFloat64()
				}
				for _, beta := range []float64{0, 1, -0.5} { // successive products: each must leave the vectors zero
					for i := range y {
						y[i] = rng.NormFloat64()
					}
					want := reference.Multiply(true, 1.5, sparse.Matrix[float64](a), x, beta, y)
					if beta == 0 {
						for i := range y {
							y[i] = math.NaN()
						}
					}
					got := append([]float64(nil), y...)
					require.NoError(t, s.Launch(&kernels.MinorProduct[float64]{A: whole(d, a), Alpha: 1.5, Beta: beta,
						X: kernels.AdoptArray(d, x), Y: kernels.AdoptArray(d, got)}))
					require.Equal(t, -1, reference.Check(got, want), "compressed, beta %v", beta)

					coo := sparse.ToCOO[float64](a)
					require.NoError(t, s.Launch(&kernels.MinorProductCOO[float64]{
						A: kernels.Coordinate[float64]{Part: partition.Part{EndIdx: a.NNZ() - 1, EndMajor: a.Rows - 1, OwnEnd: a.Rows},
							Major: kernels.AdoptArray(d, coo.RowIdx), Minor: kernels.AdoptArray(d, coo.ColIdx), Val: kernels.AdoptArray(d, coo.Val)},
						Alpha: 1.5, Beta: beta, X: kernels.AdoptArray(d, x), Y: kernels.AdoptArray(d, y)}))
					require.Equal(t, -1, reference.Check(y, want), "coordinates, beta %v", beta)
				}
			})
		}
		require.NoError(t, d.Close())
	}
}

func TestATransposedProductThatFailsLeavesNothingForTheNext(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	a := bandedCSR(rng, 20000, 20000, 30, 1)
	d, s := open(t, cpu.Config{Threads: 3, Grain: 1})
	defer d.Close()
	x, y := make([]float64, a.Rows), make([]float64, a.Cols)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	launch := func() error {
		return s.Launch(&kernels.MinorProduct[float64]{A: whole(d, a), Alpha: 1, X: kernels.AdoptArray(d, x), Y: kernels.AdoptArray(d, y)})
	}
	for _, bad := range []int32{-1, 20000, math.MaxInt32, math.MinInt32} {
		good := a.ColIdx[40000]
		a.ColIdx[40000] = bad
		require.ErrorIs(t, launch(), kernels.ErrArgument)
		a.ColIdx[40000] = good
		require.NoError(t, launch())
		require.Equal(t, -1, reference.Check(y, reference.Multiply(true, 1, sparse.Matrix[float64](a), x, 0, y)))
	}
}

func TestOneWorkerMultipliesTransposedWhereMemoryLacksForSeveral(t *testing.T) {
	rng := rand.New(rand.NewSource(2))
	const cols = 2<<20 + 1 // the workers' own results would take more memory than the bound
	a := bandedCSR(rng, 900, cols, 7000, 3)
	x, y := make([]float64, a.Rows), make([]float64, cols)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	for i := range y {
		y[i] = float64(i % 7)
	}
	want := reference.Multiply(true, 1.5, sparse.Matrix[float64](a), x, -0.5, y)
	for have, held := range map[int64]int64{0: 0, 1 << 40: 3 * 8 * cols} {
		d, s := open(t, cpu.Config{Threads: 3, Grain: 1})
		end := sync.OnceFunc(mem.SetAvailable(have))
		defer end()
		got := slices.Clone(y)
		require.NoError(t, s.Launch(&kernels.MinorProduct[float64]{A: whole(d, a), Alpha: 1.5, Beta: -0.5, X: kernels.AdoptArray(d, x), Y: kernels.AdoptArray(d, got)}))
		require.Equal(t, -1, reference.Check(got, want))
		require.Equal(t, held, d.Scratch())
		end()
	}
}

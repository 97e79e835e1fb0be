package cpu_test

import (
	"fmt"
	"math"
	"math/rand"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/reference"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// tridiagonalCSR has one more diagonal far from the others, and a last row that several pieces share.
func tridiagonalCSR(rng *rand.Rand, n int) *sparse.CSR[float64] {
	a := &sparse.CSR[float64]{Rows: n, Cols: n, RowPtr: []int64{0}}
	for r := range n {
		for _, c := range []int{r - 1, r, r + 1, r + n/2} {
			if c >= 0 && c < n {
				a.ColIdx, a.Val = append(a.ColIdx, int32(c)), append(a.Val, rng.NormFloat64())
			}
		}
		a.RowPtr = append(a.RowPtr, int64(len(a.ColIdx)))
	}
	return a
}

func TestPackedPartsMultiplyTheirTransposes(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	uneven, banded := unevenCSR(rng, 900, 700), tridiagonalCSR(rng, 3000)
	for _, c := range []struct {
		form kernels.Form
		a    *sparse.CSR[float64]
	}{{kernels.FormCSR, uneven}, {"slices", uneven}, {"ellr", uneven}, {"tiles", uneven}, {"diagonals", banded}} {
		for _, threads := range []int{1, 2, 5} {
			for _, parts := range []int{1, 3} {
				t.Run(fmt.Sprintf("%s, %d workers, %d parts", c.form, threads, parts), func(t *testing.T) {
					d, s := open(t, cpu.Config{Threads: threads, Grain: 1})
					defer d.Close()
					split, _, err := partition.Split(c.a.RowPtr, parts, partition.RuleNNZ)
					require.NoError(t, err)
					x, y := make([]float64, c.a.Rows), make([]float64, c.a.Cols)
					for i := range x {
						x[i] = rng.NormFloat64()
					}
					for i := range y {
						y[i] = rng.NormFloat64()
					}
					want := reference.Multiply(true, 1.5, sparse.Matrix[float64](c.a), x, -.5, y)
					for i, p := range split { // the parts add to y one after the other
						packed := mustPack(t, d, packing(c.a, p, c.form, false))
						require.True(t, packed.(kernels.TransposedMultiplier).MultipliesTransposed())
						beta := 1.0
						if i == 0 {
							beta = -.5
						}
						before := slices.Clone(y)
						require.NoError(t, s.Launch(&kernels.MinorProductPacked[float64]{A: packed, Alpha: 1.5, Beta: beta,
							X: kernels.AdoptArray(d, x[p.First():p.End()]), Y: kernels.AdoptArray(d, y)}))
						for _, alone := range []bool{false, true} {
							again := slices.Clone(before)
							err := s.Launch(&kernels.HostProduct[float64]{A: packed, Alpha: 1.5, Beta: beta, X: x[p.First():p.End()], Y: again, Minor: true, NoWorkers: alone})
							if p.StartFlag {
								require.ErrorContains(t, err, "x and y have")
								require.Equal(t, before, again)
								own := make([]float64, p.OwnEnd-p.OwnFirst)
								err = s.Launch(&kernels.HostProduct[float64]{A: packed, Alpha: 1, X: y, Y: own, NoWorkers: alone})
								require.ErrorContains(t, err, "x and y have", "its first row belongs to another part")
								continue
							}
							require.NoError(t, err)
							require.Equal(t, y, again)
						}
						require.NoError(t, packed.Free())
					}
					require.Equal(t, -1, reference.Check(y, want))
				})
			}
		}
	}
}

func TestPackedPartsReportWhetherTheyMultiplyTheirTransposes(t *testing.T) {
	d, s := open(t, cpu.Config{Threads: 2, Grain: 1})
	defer d.Close()
	a := tridiagonalCSR(rand.New(rand.NewSource(1)), 500)
	split := splitOf(t, a, 1)
	launch := func(p kernels.Packed, xs, ys int) error {
		y := make([]float64, ys)
		for i := range y {
			y[i] = math.NaN()
		}
		return s.Launch(&kernels.MinorProductPacked[float64]{A: p, Alpha: 1, X: kernels.AdoptArray(d, make([]float64, xs)), Y: kernels.AdoptArray(d, y)})
	}
	x, y := make([]float64, 500), make([]float64, 500)
	for i := range x {
		x[i] = float64(i)
	}
	host := func(p kernels.Packed, x, y []float64) error {
		return s.Launch(&kernels.HostProduct[float64]{A: p, Alpha: 3, X: x, Y: y, Minor: true})
	}
	want := reference.Multiply(true, 3, sparse.Matrix[float64](a), x, 0, y)
	for _, form := range []kernels.Form{"ellr", kernels.FormCSR} { // csr in place: Scatter is faster
		p := mustPack(t, d, packing(a, split[0], form, true))
		require.False(t, p.(kernels.TransposedMultiplier).MultipliesTransposed())
		require.ErrorIs(t, launch(p, 500, 500), kernels.ErrNotSupported)
		clear(y)
		require.NoError(t, host(p, x, y), "by the rows, which stay in place")
		require.Equal(t, -1, reference.Check(y, want))
		require.ErrorContains(t, host(p, x[1:], y), "x and y have")
		require.ErrorContains(t, host(p, x, y[1:]), "x and y have")
		require.NoError(t, p.Free())
	}
	fixed := packing(a, split[0], kernels.FormCSR, true)
	fixed.Fixed = true
	p := mustPack(t, d, fixed)
	require.ErrorIs(t, host(p, x, y), kernels.ErrNotSupported)
	require.NoError(t, p.Free())
	p = mustPack(t, d, packing(a, split[0], "diagonals", true))
	require.NoError(t, launch(p, 500, 500))
	require.ErrorIs(t, launch(p, 499, 500), kernels.ErrArgument)
	require.ErrorIs(t, launch(p, 500, 501), kernels.ErrArgument)
	require.NoError(t, p.Free())
	require.False(t, p.(kernels.TransposedMultiplier).MultipliesTransposed())
	require.ErrorIs(t, launch(p, 500, 500), kernels.ErrClosed)
}

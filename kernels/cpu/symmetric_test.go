package cpu_test

import (
	"fmt"
	"math"
	"math/rand"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/reference"
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/diagonals"
	"github.com/msrep-go/msrep/sparse"
)

// symmetricCSR has entries at some distances on both sides of the diagonal, a few of which are missing, and random
// values.
func symmetricCSR(rng *rand.Rand, n int, distances ...int) *sparse.CSR[float64] {
	value := func(r, c int) float64 { // the same for (r, c) and (c, r)
		h := uint64(max(r, c))*0x9E3779B97F4A7C15 ^ uint64(min(r, c))*0xC2B2AE3D27D4EB4F
		return float64(h>>11)*0x1p-53 - .5
	}
	a := &sparse.CSR[float64]{Rows: n, Cols: n, RowPtr: []int64{0}}
	for r := range n {
		for _, d := range distances {
			if c := r + d; c >= 0 && c < n && (r+c)%101 != 7 {
				a.ColIdx, a.Val = append(a.ColIdx, int32(c)), append(a.Val, value(r, c))
			}
		}
		a.RowPtr = append(a.RowPtr, int64(len(a.ColIdx)))
	}
	return a
}

// wholeOf returns the operation that packs all rows of a matrix in a form.
func wholeOf(t *testing.T, a *sparse.CSR[float64], form kernels.Form) *kernels.Packing[float64] {
	split := splitOf(t, a, 1)
	return packing(a, split[0], form, true)
}

const (
	symmetricForm   kernels.Form = "symmetric-diagonals"
	symmetricBlocks kernels.Form = "symmetric-blocks"
)

// symmetricCSRBlocks is symmetricCSR with blocks of size x size.
func symmetricCSRBlocks(rng *rand.Rand, n, size int, distances ...int) *sparse.CSR[float64] {
	a := symmetricCSR(rng, n, distances...)
	b := &sparse.CSR[float64]{Rows: n * size, Cols: n * size, RowPtr: []int64{0}}
	for r := range b.Rows {
		for k := a.RowPtr[r/size]; k < a.RowPtr[r/size+1]; k++ {
			for j := range size {
				c := int(a.ColIdx[k])*size + j
				b.ColIdx, b.Val = append(b.ColIdx, int32(c)), append(b.Val, a.Val[k]+float64((r%size+1)*(j+1)))
			}
		}
		b.RowPtr = append(b.RowPtr, int64(len(b.ColIdx)))
	}
	return b
}

func TestHalfOfASymmetricMatrixMultipliesAsTheWhole(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	for name, c := range map[string]struct {
		a    *sparse.CSR[float64]
		form kernels.Form
	}{
		"near":           {symmetricCSR(rng, 3000, -2, -1, 0, 1, 2), symmetricForm},
		"far":            {symmetricCSR(rng, 3000, -1500, -41, -40, -39, -1, 0, 1, 39, 40, 41, 1500), symmetricForm},
		"none":           {&sparse.CSR[float64]{Rows: 200, Cols: 200, RowPtr: make([]int64, 201)}, symmetricForm},
		"one":            {symmetricCSR(rng, 1, 0), symmetricForm},
		"blocks":         {symmetricCSRBlocks(rng, 1000, 3, -2, -1, 0, 1, 2), symmetricBlocks},
		"blocks far off": {symmetricCSRBlocks(rng, 700, 5, -600, -300, -299, -3, -2, -1, 0, 1, 2, 3, 299, 300, 600), symmetricBlocks},
		"large blocks":   {symmetricCSRBlocks(rng, 100, 8, -9, -1, 0, 1, 9), symmetricBlocks},
	} {
		a := c.a
		for _, threads := range []int{1, 2, 5} {
			t.Run(fmt.Sprintf("%s, %d workers", name, threads), func(t *testing.T) {
				d, s := open(t, cpu.Config{Threads: threads, Grain: 1})
				p := mustPack(t, d, wholeOf(t, a, c.form))
				require.Equal(t, c.form, p.Info().Form, p.Info().Why)
				require.Equal(t, d.InUse(), p.Info().Bytes)
				require.True(t, p.(kernels.TransposedMultiplier).MultipliesTransposed())
				x, y := make([]float64, a.Cols), make([]float64, a.Rows)
				for i := range x {
					x[i] = rng.NormFloat64()
				}
				for k, c := range []struct{ alpha, beta float64 }{{1, 0}, {-1.5, 1}, {2, .3}} {
					for i := range y {
						if y[i] = rng.NormFloat64(); k == 0 {
							y[i] = math.NaN()
						}
					}
					want := reference.Multiply(false, c.alpha, sparse.Matrix[float64](a), x, c.beta, y)
					var op kernels.Operation = &kernels.MajorProductPacked[float64]{A: p, Alpha: c.alpha, Beta: c.beta, X: kernels.AdoptArray(d, x), Y: kernels.AdoptArray(d, y)}
					if k == 2 {
						op = &kernels.MinorProductPacked[float64]{A: p, Alpha: c.alpha, Beta: c.beta, X: kernels.AdoptArray(d, x), Y: kernels.AdoptArray(d, y)}
					}
					require.NoError(t, s.Launch(op))
					require.Equal(t, -1, reference.Check(y, want), "alpha %g", c.alpha)
				}
				require.NoError(t, p.Free())
				require.NoError(t, d.Close())
			})
		}
	}
}

func TestAnInfiniteAlphaMakesNoNaNOfHalfAMatrix(t *testing.T) {
	d, s := open(t, cpu.Config{Threads: 2, Grain: 1})
	defer d.Close()
	a := symmetricCSR(rand.New(rand.NewSource(1)), 500, -9, -1, 0, 1, 9)
	for k := range a.Val {
		a.Val[k] = 1
	}
	p := mustPack(t, d, wholeOf(t, a, symmetricForm))
	x, y := make([]float64, 500), make([]float64, 500)
	for i := range x {
		x[i] = 1
	}
	require.NoError(t, s.Launch(&kernels.MajorProductPacked[float64]{A: p, Alpha: math.Inf(1), Beta: 1, X: kernels.AdoptArray(d, x), Y: kernels.AdoptArray(d, y)}))
	for i := range y {
		require.Equal(t, math.Inf(1), y[i], i)
	}
	require.NoError(t, p.Free())
}

func TestAMatrixWithAnEntryOutOfSymmetryIsPackedWhole(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	a := symmetricCSR(rng, 2000, -700, -1, 0, 1, 700)
	at := func(r, c int) int {
		k, ok := slices.BinarySearch(a.ColIdx[a.RowPtr[r]:a.RowPtr[r+1]], int32(c))
		require.True(t, ok)
		return int(a.RowPtr[r]) + k
	}
	drop := func(m *sparse.CSR[float64], r, c int) {
		k := at(r, c)
		m.ColIdx, m.Val = slices.Delete(m.ColIdx, k, k+1), slices.Delete(m.Val, k, k+1)
		for i := r + 1; i <= m.Rows; i++ {
			m.RowPtr[i]--
		}
	}
	for name, spoil := range map[string]func(m *sparse.CSR[float64]){
		"the last bit of a value":      func(m *sparse.CSR[float64]) { m.Val[at(1999, 1299)] = math.Nextafter(m.Val[at(1999, 1299)], 1) },
		"the sign of a zero":           func(m *sparse.CSR[float64]) { m.Val[at(500, 1200)], m.Val[at(1200, 500)] = 0, math.Copysign(0, -1) },
		"nothing before the diagonal":  func(m *sparse.CSR[float64]) { drop(m, 1200, 500) },
		"nothing behind the diagonal":  func(m *sparse.CSR[float64]) { drop(m, 500, 1200) },
		"another column":               func(m *sparse.CSR[float64]) { m.ColIdx[at(500, 1200)] = 1201 },
		"the last of a row elsewhere":  func(m *sparse.CSR[float64]) { drop(m, 1200, 500); drop(m, 700, 1400) },
		"the first rows, second piece": func(m *sparse.CSR[float64]) { m.Val[at(1001, 301)]++ },
	} {
		for _, threads := range []int{1, 3} {
			t.Run(fmt.Sprintf("%s, %d workers", name, threads), func(t *testing.T) {
				m := &sparse.CSR[float64]{Rows: a.Rows, Cols: a.Cols, RowPtr: slices.Clone(a.RowPtr), ColIdx: slices.Clone(a.ColIdx), Val: slices.Clone(a.Val)}
				spoil(m)
				d, s := open(t, cpu.Config{Threads: threads, Grain: 1})
				p := mustPack(t, d, wholeOf(t, m, symmetricForm))
				require.Equal(t, kernels.Form("diagonals"), p.Info().Form)
				x := make([]float64, m.Cols)
				for i := range x {
					x[i] = float64(i + 1)
				}
				want := reference.Multiply(false, 2, sparse.Matrix[float64](m), x, 0, x)
				require.Equal(t, -1, reference.Check(multiplied(t, d, s, p, m.Rows, m.Cols), want))
				require.NoError(t, p.Free())
				require.NoError(t, d.Close())
			})
		}
	}
}

func TestDuplicatesAndPartsOfAMatrixArePackedWhole(t *testing.T) {
	d, _ := open(t, cpu.Config{Threads: 2, Grain: 1})
	defer d.Close()
	twice := &sparse.CSR[float64]{Rows: 2, Cols: 2, RowPtr: []int64{0, 2, 4}, ColIdx: []int32{1, 1, 0, 0}, Val: []float64{1, 1, 1, 1}}
	_, err := d.Pack(wholeOf(t, twice, symmetricForm))
	require.True(t, sparse.IsInput(err), "diagonals need sorted rows")
	a := symmetricCSR(rand.New(rand.NewSource(1)), 2000, -700, -1, 0, 1, 700)
	split := splitOf(t, a, 2)
	p := mustPack(t, d, packing(a, split[0], symmetricForm, true))
	require.Equal(t, kernels.Form("diagonals"), p.Info().Form)
	require.NoError(t, p.Free())
	op := wholeOf(t, a, symmetricForm)
	op.Fixed = true
	p = mustPack(t, d, op)
	require.Equal(t, kernels.Form("diagonals"), p.Info().Form)
	require.NoError(t, p.Free())
}

func TestBlocksWithoutASymmetricFormArePackedWhole(t *testing.T) {
	d, s := open(t, cpu.Config{Threads: 2, Grain: 1})
	defer d.Close()
	rng := rand.New(rand.NewSource(1))
	unequal := symmetricCSRBlocks(rng, 500, 3, -9, -1, 0, 1, 9)
	unequal.Val[unequal.RowPtr[700]]++
	flat := &sparse.CSR[float64]{Rows: 400, Cols: 400, RowPtr: []int64{0}} // blocks of 2 x 1
	for r := range flat.Rows {
		flat.ColIdx, flat.Val = append(flat.ColIdx, int32(r/2), int32(399-r/2)), append(flat.Val, 1, 1)
		flat.RowPtr = append(flat.RowPtr, int64(len(flat.Val)))
	}
	for name, a := range map[string]*sparse.CSR[float64]{"not symmetric": unequal, "not square": flat} {
		p, err := d.Pack(wholeOf(t, a, symmetricBlocks))
		require.NoError(t, err, name)
		require.Equal(t, kernels.Form("blocks"), p.Info().Form, name)
		x := make([]float64, a.Cols)
		for i := range x {
			x[i] = float64(i + 1)
		}
		want := reference.Multiply(false, 2, sparse.Matrix[float64](a), x, 0, x)
		require.Equal(t, -1, reference.Check(multiplied(t, d, s, p, a.Rows, a.Cols), want), name)
		require.NoError(t, p.Free())
	}
}

func TestTheSearchTriesHalfOfASymmetricMatrix(t *testing.T) {
	if !diagonals.FastSymmetric(simd.Default()) {
		t.Skip("these instructions are no faster with half of the entries")
	}
	cpu.SetBudget(t, time.Hour)
	cpu.AlwaysHalve(t)
	rng := rand.New(rand.NewSource(1))
	for name, c := range map[string]struct {
		a    *sparse.CSR[float64]
		form kernels.Form
	}{
		"diagonals": {symmetricCSR(rng, 20_000, -4101, -4100, -4099, -70, -69, -68, -1, 0, 1, 68, 69, 70, 4099, 4100, 4101), symmetricForm},
		"blocks":    {symmetricCSRBlocks(rng, 5000, 3, -1300, -40, -1, 0, 1, 40, 1300), symmetricBlocks},
	} {
		t.Run(name, func(t *testing.T) { searchTriesHalf(t, c.a, c.form) })
	}
}

func searchTriesHalf(t *testing.T, a *sparse.CSR[float64], half kernels.Form) {
	isSymmetric := func(c kernels.PackTrial) bool { return c.Form == half && c.Product > 0 }
	d, s := open(t, cpu.Config{Threads: 2})
	defer d.Close()
	for range 3 { // any form may be the fastest
		p := mustPack(t, d, wholeOf(t, a, kernels.FormAuto))
		require.True(t, slices.ContainsFunc(p.Info().Tried, isSymmetric), "%+v", p.Info().Tried)
		require.Equal(t, d.InUse(), p.Info().Bytes)
		x := make([]float64, a.Cols)
		for i := range x {
			x[i] = float64(i + 1)
		}
		want := reference.Multiply(false, 2, sparse.Matrix[float64](a), x, 0, x)
		require.Equal(t, -1, reference.Check(multiplied(t, d, s, p, a.Rows, a.Cols), want))
		require.NoError(t, p.Free())
	}
	fixed, several := wholeOf(t, a, kernels.FormAuto), wholeOf(t, a, kernels.FormAuto)
	fixed.Fixed, several.Vectors = true, 2
	for _, op := range []*kernels.Packing[float64]{fixed, several} { // the half form does not support these products
		p := mustPack(t, d, op)
		require.False(t, slices.ContainsFunc(p.Info().Tried, isSymmetric))
		require.NoError(t, p.Free())
	}
}

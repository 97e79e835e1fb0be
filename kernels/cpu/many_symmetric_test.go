package cpu_test

import (
	"fmt"
	"math"
	"math/rand"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/reference"
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

func TestHalfOfASymmetricMatrixMultipliesSeveralVectorsAsEach(t *testing.T) {
	if !form.FastSymmetricMany(simd.Default()) {
		t.Skip("these instructions multiply one vector after the other")
	}
	rng := rand.New(rand.NewSource(1))
	for name, c := range map[string]struct {
		a    *sparse.CSR[float64]
		form kernels.Form
	}{
		"diagonals": {symmetricCSR(rng, 700, -300, -41, -40, -39, -1, 0, 1, 39, 40, 41, 300), symmetricForm},
		"blocks":    {symmetricCSRBlocks(rng, 100, 5, -99, -40, -1, 1, 40, 99), symmetricBlocks},
	} {
		for k, v := range c.a.Val {
			c.a.Val[k] = math.Abs(v) // an infinite alpha makes no NaN of it
		}
		for _, threads := range []int{1, 3} {
			t.Run(fmt.Sprintf("%s, %d workers", name, threads), func(t *testing.T) {
				d, s := open(t, cpu.Config{Threads: threads, Grain: 1})
				op := wholeOf(t, c.a, c.form)
				op.InPlace = false
				p := mustPack(t, d, op)
				require.Equal(t, c.form, p.Info().Form)
				require.True(t, p.(kernels.ManyMultiplier).MultipliesMany())
				for _, k := range []int{15, 40} {
					checkSymmetricMany(t, rng, d, s, p, c.a, k)
				}
				require.NoError(t, p.Free())
				require.NoError(t, d.Close())
			})
		}
	}
}

// checkSymmetricMany multiplies k vectors.
func checkSymmetricMany(t *testing.T, rng *rand.Rand, d *cpu.Device, s kernels.Stream, p kernels.Packed, a *sparse.CSR[float64], k int) {
	gap := k % 3
	x, y := make([]float64, a.Rows*(k+gap)), make([]float64, a.Rows*(k+gap))
	column := func(v []float64, j int) (out []float64) {
		for i := j; i < len(v); i += k + gap {
			out = append(out, v[i])
		}
		return out
	}
	for _, c := range []struct{ alpha, beta float64 }{{-1.5, .3}, {1, 0}, {math.Inf(1), 1}} {
		for i := range x {
			x[i], y[i] = rng.Float64(), rng.NormFloat64()
		}
		var want []reference.Product
		for j := range k {
			want = append(want, reference.Multiply(false, c.alpha, sparse.Matrix[float64](a), column(x, j), c.beta, column(y, j)))
		}
		for i := range y {
			if i%(k+gap) >= k {
				y[i] = 12345 // between the rows
			} else if c.beta == 0 {
				y[i] = math.NaN()
			}
		}
		block := func(v []float64) kernels.MultiVector[float64] {
			return kernels.MultiVector[float64]{Val: kernels.AdoptArray(d, v), Cols: k, Stride: k + gap}
		}
		require.NoError(t, s.Launch(&kernels.MajorProductManyPacked[float64]{A: p, Alpha: c.alpha, Beta: c.beta, X: block(x), Y: block(y)}))
		for j := range want {
			require.Equal(t, -1, reference.Check(column(y, j), want[j]), "alpha %g, column %d of %d", c.alpha, j, k)
		}
		for i, v := range y {
			require.False(t, i%(k+gap) >= k && v != 12345, "an element between the rows was written")
		}
	}
}

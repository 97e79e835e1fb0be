package cpu

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/reference"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/internal/forms"
	"github.com/msrep-go/msrep/partition"
)

func TestBinsMultiplyCopiesOfXInLines(t *testing.T) {
	const rows, cols, gap = 300, 400, 3
	for _, inPlace := range []bool{false, true} {
		d := open(t, Config{Threads: 3, Grain: 1, NUMANode: -1})
		s, err := d.NewStream()
		require.NoError(t, err)
		r := rand.New(rand.NewPCG(1, 2))
		a := scattered(r, rows, cols, false)
		p := mustPack(t, d, &kernels.Packing[float64]{Part: partition.Part{EndIdx: a.NNZ() - 1, EndMajor: rows - 1, OwnEnd: rows},
			Ptr: a.RowPtr, Idx: a.ColIdx, Val: a.Val, Minors: cols, Form: forms.FormBins, InPlace: inPlace})
		held, buffers := d.InUse(), len(p.Buffers())

		multiply := func(k int) {
			x, y := make([]float64, 2+cols*(k+gap)), make([]float64, rows*k)
			for i := range x {
				x[i] = math.NaN() // also between rows
			}
			x = x[2 : len(x)-gap] // ends with the last row
			for i := range x {
				if i%(k+gap) < k {
					x[i] = r.NormFloat64()
				}
			}
			x[7*(k+gap)] = math.Inf(1)
			x[9*(k+gap)+k-1] = math.NaN()
			block := func(v []float64, stride int) kernels.MultiVector[float64] {
				return kernels.MultiVector[float64]{Val: kernels.AdoptArray(d, v), Cols: k, Stride: stride}
			}
			require.NoError(t, s.Launch(&kernels.MajorProductManyPacked[float64]{A: p, Alpha: .7, X: block(x, k+gap), Y: block(y, k)}))
			for j := range k {
				one, got := make([]float64, cols), make([]float64, rows)
				for i := range one {
					one[i] = x[i*(k+gap)+j]
				}
				for i := range got {
					got[i] = y[i*k+j]
				}
				ref := reference.Multiply(false, .7, a, one, 0, make([]float64, rows))
				require.Equal(t, -1, reference.Check(got, ref), "vector %d of %d", j, k)
			}
		}
		for _, c := range []struct{ k, bytes int }{{1, 0}, {2, 0}, {3, 4 * 8 * cols}, {4, 4 * 8 * cols}, {5, 8 * 8 * cols}, {3, 8 * 8 * cols}, {8, 8 * 8 * cols}, {9, 8 * 8 * cols}} {
			multiply(c.k)
			require.EqualValues(t, held+int64(c.bytes), d.InUse(), "%d vectors", c.k)
			require.Len(t, p.Buffers(), buffers+min(c.bytes, 1))
		}
		require.NoError(t, p.(*packed[float64]).lines.free())
		d.info.Memory = held // no memory for a copy
		multiply(6)
		require.Equal(t, held, d.InUse())
		d.info.Memory = 0
		multiply(6)
		require.Greater(t, d.InUse(), held)
		require.NoError(t, p.Free())
		require.NoError(t, s.Close())
		require.Zero(t, d.InUse())
		require.NoError(t, d.Close())
	}
}

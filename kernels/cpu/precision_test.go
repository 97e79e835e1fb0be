package cpu_test

import (
	"fmt"
	"math/rand"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/reference"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/cpms"
)

func TestRowsThatWorkersShareAreReadInSegmentsToo(t *testing.T) {
	a := unevenCSR(rand.New(rand.NewSource(1)), 90, 70)
	x, rows := make([]float64, a.Cols), make([]float64, a.Rows)
	for i := range x {
		x[i] = float64(i%13) - 5.5
	}
	for i := range rows {
		rows[i] = float64(i%11) - 4.5
	}
	part := splitOf(t, a, 1)[0]
	for _, precision := range []kernels.Segments{{Count: 2, Read: 1}, {Count: 4, Read: 1}, {Count: 4, Read: 2}, {Count: 4, Read: 3}, {Count: 4, Read: 4}} {
		cut := *a
		cut.Val = slices.Clone(a.Val)
		for k, v := range cut.Val {
			cut.Val[k] = cpms.Keep(v, precision.Read*64/precision.Count, cpms.Truncate)
		}
		for _, form := range []kernels.Form{kernels.FormCSR, "ell", "pellr"} {
			for _, threads := range []int{1, 2, 7} {
				for _, inPlace := range []bool{false, true} {
					t.Run(fmt.Sprintf("%d of %d segments, %s, %d workers, in place %v", precision.Read, precision.Count, form, threads, inPlace), func(t *testing.T) {
						d, s := open(t, cpu.Config{Threads: threads, Grain: 1})
						op := packing(a, part, form, inPlace)
						op.Segments = precision
						p := mustPack(t, d, op)
						require.False(t, p.(kernels.ManyMultiplier).MultipliesMany(), "the rows in place have whole values")
						y := make([]float64, a.Rows)
						require.NoError(t, s.Launch(&kernels.HostProduct[float64]{A: p, Alpha: 1, X: x, Y: y}))
						require.Equal(t, -1, reference.Check(y, reference.Multiply(false, 1, sparse.Matrix[float64](&cut), x, 0, y)))
						y = make([]float64, a.Cols)
						require.NoError(t, s.Launch(&kernels.HostProduct[float64]{A: p, Alpha: 1, X: rows, Y: y, Minor: true}))
						require.Equal(t, -1, reference.Check(y, reference.Multiply(true, 1, sparse.Matrix[float64](&cut), rows, 0, y)))
						require.NoError(t, p.Free())
						require.Zero(t, d.InUse())
						require.NoError(t, d.Close())
					})
				}
			}
		}
	}
}

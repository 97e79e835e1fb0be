//go:build cuda

package nvidia

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/devicetest"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/nvidia/internal/cusparse"
	"github.com/msrep-go/msrep/sparse"
)

func TestTriangularSystemsAgree(t *testing.T) {
	t.Run("float64", solvesTriangular[float64])
	t.Run("float32", solvesTriangular[float32])
}

func solvesTriangular[V sparse.Value](t *testing.T) {
	d, s := open(t, Config{})
	rapid.Check(t, func(t *rapid.T) {
		devicetest.Triangular[V](t, func(require.TestingT) (kernels.Device, kernels.Stream) { return d, s })
	})
}

func TestCuSPARSESolvesTriangularSystems(t *testing.T) {
	if _, err := cusparse.Version(); err != nil {
		t.Skip(err)
	}
	d, s := open(t, Config{})
	for _, upper := range []bool{false, true} {
		for _, unit := range []bool{false, true} {
			// 4 0 0   or its mirror image
			// 1 2 0
			// 3 0 5
			op := &kernels.TrianglePacking[float64]{Ptr: []int64{0, 0, 1, 2}, Idx: []int32{0, 0}, Val: []float64{1, 3}, Diag: []float64{4, 2, 5}}
			want := []float64{2, -0.5, -1}
			if unit {
				op.Diag, want = nil, []float64{8, -7, -23}
			}
			b := []float64{8, 1, 1}
			if upper {
				op.Upper, op.Ptr, op.Idx, op.Val = true, []int64{0, 1, 2, 2}, []int32{2, 2}, []float64{3, 1}
				b[0], b[2], want[0], want[2] = b[2], b[0], want[2], want[0]
				if !unit {
					op.Diag = []float64{5, 2, 4}
				}
			}
			p, err := d.PackTriangleCuSPARSE(op)
			require.NoError(t, err)
			from, to := devicetest.Upload(t, s, d, b), devicetest.Upload(t, s, d, []float64{math.NaN(), math.NaN(), math.NaN()})
			one := func(a kernels.Array[float64]) kernels.MultiVector[float64] {
				return kernels.MultiVector[float64]{Val: a, Cols: 1, Stride: 1}
			}
			require.NoError(t, s.Launch(&kernels.TriangularSolve[float64]{A: p, Alpha: 2, B: one(from), X: one(to)}))
			x := devicetest.Download(t, s, to)
			for i := range want {
				require.InDelta(t, 2*want[i], x[i], 1e-14, "upper %v, unit %v, row %d", upper, unit, i)
			}
			two := kernels.MultiVector[float64]{Val: from, Cols: 2, Stride: 2}
			require.ErrorIs(t, s.Launch(&kernels.TriangularSolve[float64]{A: p, Alpha: 2, B: two, X: two}), kernels.ErrNotSupported)
			require.ErrorIs(t, s.Launch(&kernels.TriangularSolve[float64]{A: p, Alpha: 2, B: one(from), X: one(to.Sub(0, 2))}), kernels.ErrArgument)
			require.NoError(t, p.Free())
			require.ErrorIs(t, s.Launch(&kernels.TriangularSolve[float64]{A: p, Alpha: 2, B: one(from), X: one(to)}), kernels.ErrClosed)
			require.NoError(t, from.Free())
			require.NoError(t, to.Free())
		}
	}
	_, err := d.PackTriangleCuSPARSE(&kernels.TrianglePacking[float64]{Ptr: []int64{0}})
	require.ErrorIs(t, err, kernels.ErrNotSupported)
	require.Zero(t, d.InUse())
}

package eigen

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/solver/internal/space"
)

// chain multiplies by the tridiagonal matrix with i^2/n^2 on and 1 beside its diagonal. With rounded, products have the accuracy of
// float32.
type chain struct {
	n       int
	rounded bool
}

func (c chain) Dims() (rows, cols int) { return c.n, c.n }

func (c chain) SpMV(_ context.Context, _ msrep.Transpose, alpha float64, x []float64, _ float64, y []float64) error {
	for i := range y {
		sum := float64(i*i) / float64(c.n*c.n) * x[i]
		if i > 0 {
			sum += x[i-1]
		}
		if i < c.n-1 {
			sum += x[i+1]
		}
		if y[i] = alpha * sum; c.rounded {
			y[i] = float64(float32(y[i]))
		}
	}
	return nil
}

// levelOf returns the largest magnitude of v'w for different vectors of a basis.
func levelOf(l *lanczos) (largest float64) {
	for i, row := range l.Inner(l.v, l.v) {
		for j, e := range row {
			if i != j {
				largest = max(largest, math.Abs(e))
			}
		}
	}
	return largest
}

// A basis stays orthogonal over restarts, although most of its vectors are made orthogonal to two others only.
func TestBasisStaysOrthogonal(t *testing.T) {
	for rounded, most := range map[bool]float64{false: 1e-10, true: 1e-5} {
		r, err := newRun(t.Context(), MethodLanczos, chain{3000, rounded}, nil, Options{Tol: 1e-9})
		require.NoError(t, err)
		start := r.take(1)[0]
		require.True(t, r.random(start, nil))
		l := &lanczos{run: r, count: r.opt.Count}
		l.v, l.grown, l.semi, l.look.next = append(l.v, start), 24, true, math.MaxInt
		l.levels.reset(0)
		for range 20 {
			require.NoError(t, l.extend())
			require.LessOrEqual(t, levelOf(l), most)
			d, err := l.t.decompose(nil)
			require.NoError(t, err)
			order, _, converged, _ := l.converged(d.values, d.last)
			l.restart(d, order, converged)
		}
		require.NotEqual(t, rounded, l.semi, "rounding errors of products are larger than estimated")
		require.NotContains(t, l.v, space.None)
	}
}

package incomplete

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestILU0EqualsTheMatrixAtItsEntries(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 40 {
		d := randomMatrix(r, n, 0.2, 1.5)
		f, err := ILU0(t.Context(), d.csr())
		require.NoError(t, err)
		requireTriangles(t, f)
		require.Zero(t, f.Replaced)
		require.Equal(t, d.csr().NNZ(), f.NNZ())
		l, u := f.triangles()
		lu := l.times(u)
		for i := range d {
			for j, v := range d[i] {
				if v != 0 {
					require.InDelta(t, v, lu[i][j], 1e-13*(1+math.Abs(d[i][i])), "n = %d, row %d, column %d", n, i, j)
				}
			}
		}
	}
}

// A matrix whose elimination makes no other entries has exact factors.
func TestILU0WithoutFillIsLU(t *testing.T) {
	n := 30
	tridiagonal, arrow := zeros(n), zeros(n)
	for i := range n {
		tridiagonal[i][i], arrow[i][i] = 3, 2
		arrow[i][n-1], arrow[n-1][i] = 1, -1
		if i > 0 {
			tridiagonal[i][i-1], tridiagonal[i-1][i] = -1.25, 0.75
		}
	}
	arrow[n-1][n-1] = 5
	for _, d := range []dense{tridiagonal, arrow} {
		f, err := ILU0(t.Context(), d.csr())
		require.NoError(t, err)
		x := make([]float64, n)
		for i := range x {
			x[i] = float64(i - 7)
		}
		y := d.apply(false, x)
		f.Solve(y)
		require.InDeltaSlice(t, x, y, 1e-12)
		y = d.apply(true, x)
		f.SolveTransposed(y)
		require.InDeltaSlice(t, x, y, 1e-12)
	}
}

func TestPivotsOfZeroAreReplaced(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for n := 1; n < 30; n++ {
		d := randomMatrix(r, n, 0.3, 0)
		clear(d[n/2])
		for name, factorise := range map[string]func() (*Factors, error){
			"ilu0": func() (*Factors, error) { return ILU0(t.Context(), d.csr()) },
			"ilut": func() (*Factors, error) {
				return ILUT(t.Context(), d.csr(), Threshold{Drop: 1e-3, Fill: 10, Pivot: 0.1})
			},
		} {
			f, err := factorise()
			require.NoError(t, err, name)
			requireTriangles(t, f)
			require.Positive(t, f.Replaced, name)
		}
	}
}

func TestFactorisationsEndWithTheirContext(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	d := randomMatrix(rand.New(rand.NewPCG(5, 6)), 500, 1, 2)
	_, err := ILU0(ended, d.csr())
	require.ErrorIs(t, err, context.Canceled)
	_, err = ILUT(ended, d.csr(), Threshold{Fill: math.Inf(1)})
	require.ErrorIs(t, err, context.Canceled)
	_, err = IC0(ended, d.symmetric().csr())
	require.ErrorIs(t, err, context.Canceled)
}

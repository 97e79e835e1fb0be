package incomplete

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestIC0EqualsTheMatrixAtItsEntries(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 40 {
		d := randomMatrix(r, n, 0.2, 1).symmetric()
		f, err := IC0(t.Context(), d.csr())
		require.NoError(t, err)
		requireTriangles(t, f)
		require.Zero(t, f.Shift)
		l, u := f.triangles()
		product := l.times(u)
		for i := range d {
			require.Positive(t, f.Inverse[i])
			for j, v := range d[i] {
				require.InDelta(t, l[j][i]*u[i][i], u[i][j], 1e-13*d[i][i], "U is D L'")
				if v != 0 {
					require.InDelta(t, v, product[i][j], 1e-13*d[i][i], "n = %d, row %d, column %d", n, i, j)
				}
			}
		}
	}
}

// Meijerink and van der Vorst: the pivots of an M-matrix are positive, and L has no positive entry.
func TestIC0OfAnMMatrixNeedsNoShift(t *testing.T) {
	f, err := IC0(t.Context(), laplacian(20).csr())
	require.NoError(t, err)
	require.Zero(t, f.Shift)
	for _, d := range f.Inverse {
		require.Positive(t, d)
	}
	for _, v := range f.Lower.Val {
		require.Negative(t, v)
	}
}

// Kershaw (1978): this matrix is positive definite, but its incomplete factor has the pivot -5.
func TestIC0ShiftsTheDiagonal(t *testing.T) {
	d := dense{{3, -2, 0, 2}, {-2, 3, -2, 0}, {0, -2, 3, -2}, {2, 0, -2, 3}}
	f, err := IC0(t.Context(), d.csr())
	require.NoError(t, err)
	require.Equal(t, 0.25, f.Shift)
	l, u := f.triangles()
	product := l.times(u)
	for i := range d {
		require.Positive(t, f.Inverse[i])
		for j, v := range d[i] {
			if i == j {
				v *= 1.25
			}
			if v != 0 {
				require.InDelta(t, v, product[i][j], 1e-14)
			}
		}
	}
}

func TestIC0NamesTheRowThatIsNotPositive(t *testing.T) {
	for _, bad := range []float64{0, -1} {
		d := laplacian(3)
		d[5][5] = bad
		_, err := IC0(t.Context(), d.csr())
		var not *NotPositive
		require.ErrorAs(t, err, &not)
		require.Equal(t, 5, not.Row)
	}
	_, err := IC0(t.Context(), dense{{1e-9, 1e9}, {1e9, 1}}.csr())
	var not *NotPositive
	require.ErrorAs(t, err, &not)
	require.Equal(t, 1, not.Row)
}

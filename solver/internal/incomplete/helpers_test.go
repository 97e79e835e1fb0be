package incomplete

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/sparse"
)

// dense is a square matrix by rows.
type dense [][]float64

func zeros(n int) dense {
	d := make(dense, n)
	for i := range d {
		d[i] = make([]float64, n)
	}
	return d
}

// csr returns the entries that are not zero.
func (d dense) csr() *sparse.CSR[float64] {
	m := &sparse.CSR[float64]{Rows: len(d), Cols: len(d), RowPtr: []int64{0}}
	for _, row := range d {
		for j, v := range row {
			if v != 0 {
				m.ColIdx, m.Val = append(m.ColIdx, int32(j)), append(m.Val, v)
			}
		}
		m.RowPtr = append(m.RowPtr, int64(len(m.Val)))
	}
	return m
}

// times returns d*e.
func (d dense) times(e dense) dense {
	out := zeros(len(d))
	for i, row := range d {
		for k, v := range row {
			if v == 0 {
				continue
			}
			for j, w := range e[k] {
				out[i][j] += v * w
			}
		}
	}
	return out
}

// apply returns d*x, or d'*x.
func (d dense) apply(transposed bool, x []float64) []float64 {
	y := make([]float64, len(x))
	for i, row := range d {
		for j, v := range row {
			if transposed {
				y[j] += v * x[i]
			} else {
				y[i] += v * x[j]
			}
		}
	}
	return y
}

// triangles returns L and U of n rows.
func (f *Factors) triangles() (l, u dense) {
	n := len(f.Inverse)
	l, u = zeros(n), zeros(n)
	for i := range n {
		l[i][i], u[i][i] = 1, 1/f.Inverse[i]
		col, val := f.Lower.row(i)
		for k, j := range col {
			l[i][j] = val[k]
		}
		col, val = f.Upper.row(i)
		for k, j := range col {
			u[i][j] = val[k] / f.Inverse[i]
		}
	}
	return l, u
}

// requireTriangles checks that L and U are triangles with sorted columns and finite values.
func requireTriangles(t *testing.T, f *Factors) {
	t.Helper()
	n := len(f.Inverse)
	for i := range n {
		require.False(t, f.Inverse[i] == 0 || math.IsNaN(f.Inverse[i]) || math.IsInf(f.Inverse[i], 0), "pivot %d: %g", i, f.Inverse[i])
		for _, r := range []*Rows{&f.Lower, &f.Upper} {
			col, val := r.row(i)
			for k, j := range col {
				require.Equal(t, r == &f.Lower, int(j) < i, "row %d, column %d", i, j)
				require.NotEqual(t, int(j), i)
				require.False(t, k > 0 && col[k-1] >= j, "row %d: columns %v", i, col)
				require.False(t, math.IsNaN(val[k]) || math.IsInf(val[k], 0))
			}
		}
	}
}

// randomMatrix has a dense row and a dense column now and then, and the diagonal times diagonal.
func randomMatrix(r *rand.Rand, n int, density, diagonal float64) dense {
	d := zeros(n)
	for i := range d {
		for j := range d {
			if r.Float64() < density {
				d[i][j] = r.NormFloat64()
			}
		}
	}
	if n > 0 && r.IntN(3) == 0 {
		i, j := r.IntN(n), r.IntN(n)
		for k := range n {
			d[i][k], d[k][j] = r.NormFloat64(), r.NormFloat64()
		}
	}
	for i := range d {
		sum := 0.0
		for _, v := range d[i] {
			sum += math.Abs(v)
		}
		d[i][i] = diagonal * (sum + 1)
	}
	return d
}

// symmetric returns d + d' with a positive diagonal that makes it definite.
func (d dense) symmetric() dense {
	s := zeros(len(d))
	for i := range d {
		for j := range d {
			if i != j {
				s[i][j] = d[i][j] + d[j][i]
				s[i][i] += math.Abs(s[i][j])
			}
		}
		s[i][i]++
	}
	return s
}

// laplacian is the matrix of the 5-point stencil on a square of m x m points.
func laplacian(m int) dense {
	d := zeros(m * m)
	for i := range d {
		d[i][i] = 4
		if i%m > 0 {
			d[i][i-1], d[i-1][i] = -1, -1
		}
		if i >= m {
			d[i][i-m], d[i-m][i] = -1, -1
		}
	}
	return d
}

// laplacianRows is laplacian for large m.
func laplacianRows(m int) *sparse.CSR[float64] {
	a := &sparse.CSR[float64]{Rows: m * m, Cols: m * m, RowPtr: []int64{0}}
	for i := range m * m {
		for _, e := range []struct {
			is bool
			j  int
			v  float64
		}{{i >= m, i - m, -1}, {i%m > 0, i - 1, -1}, {true, i, 4}, {i%m < m-1, i + 1, -1}, {i < m*m-m, i + m, -1}} {
			if e.is {
				a.ColIdx, a.Val = append(a.ColIdx, int32(e.j)), append(a.Val, e.v)
			}
		}
		a.RowPtr = append(a.RowPtr, int64(len(a.Val)))
	}
	return a
}

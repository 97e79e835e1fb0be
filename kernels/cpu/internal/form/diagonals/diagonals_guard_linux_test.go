package diagonals_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/reference"
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/formtest"
	"github.com/msrep-go/msrep/sparse"
)

func TestDiagonalsStayInsideTheirVectors(t *testing.T) {
	formtest.EachLevel(t, checkDiagonalsBesideVectors[float64], checkDiagonalsBesideVectors[float32])
}

// checkDiagonalsBesideVectors multiplies by up to three diagonals of every number of columns up to
// 50. The outer diagonals leave x at each lane in turn. x begins or ends at an inaccessible page,
// and so does the y of the transposed products.
func checkDiagonalsBesideVectors[V sparse.Value](t *testing.T, l simd.Level) {
	r := rand.New(rand.NewPCG(1, 2))
	for cols := 1; cols <= 50; cols++ {
		for _, distance := range []int{1, 2, 7, 15, 16, 29} {
			p := formtest.Pattern{Cols: cols}
			for i := range cols + r.IntN(20) - 5 {
				var row []int32
				for c := i - distance; c <= i+distance; c += distance {
					if c >= 0 && c < cols {
						row = append(row, int32(c))
					}
				}
				p.Rows = append(p.Rows, row)
			}
			for kind, value := range formtest.ValueKinds {
				a, f, x, y := drawDiagonals[V](t, l, r, p, value)
				rows := make([]V, a.Rows)
				for i := range rows {
					rows[i] = V(r.NormFloat64())
				}
				want := reference.Multiply(false, 3, a, x, 0, y)
				wantTransposed := reference.Multiply(true, 3, a, rows, 1, x)
				var g formtest.Guards
				for _, atEnd := range []bool{false, true} {
					f.Multiply(3, 0, formtest.Guarded(t, &g, x, atEnd), y)
					require.Equal(t, -1, reference.Check(y, want), "%d columns, %d away, values %s, %s: row", cols, distance, kind, f.Name())
					z := formtest.Guarded(t, &g, x, atEnd)
					f.MultiplyTransposed(3, rows, func(lo, hi int) []V { return z[lo:hi] })
					require.Equal(t, -1, reference.Check(z, wantTransposed), "%d columns, %d away, values %s, %s, transposed: column", cols, distance, kind, f.Name())
				}
				g.Free(t)
			}
		}
	}
}

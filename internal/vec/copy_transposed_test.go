package vec

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/sparse"
)

// Elements between the vectors do not change, and elements after them are neither read nor written:
// the memory of both grids ends with the last element.
func TestTransposedVectorsEqualThoseOfPlainGo(t *testing.T) {
	t.Run("float64", testTurn[float64])
	t.Run("float32", testTurn[float32])
}

func testTurn[V sparse.Value](t *testing.T) {
	for _, l := range simd.Levels()[1:] {
		defer setLevel(l)()
		for count := 1; count <= 18; count++ {
			for _, n := range []int{0, 1, 2, 3, 4, 5, 7, 8, transposedAtOnce - 1, transposedAtOnce, transposedAtOnce + 3, 2*transposedAtOnce + 6} {
				for gap := range 2 {
					by := [2]Grid[V]{{I: 1, J: n + 3*gap}, {I: count + gap, J: 1}}
					for way := range by {
						from, to, want := by[way], by[1-way], by[1-way]
						from.Val, to.Val, want.Val = counted[V](from, n, count), blank[V](to, n, count), blank[V](to, n, count)
						transposeGeneric(0, n, 0, count, from, want)
						CopyTransposed(n, count, from, to)
						require.Equal(t, want.Val, to.Val, fmt.Sprintf("%s, %d vectors of %d, gap %d, way %d", l, count, n, gap, way))
					}
				}
			}
		}
	}
}

// blank returns memory of a grid of vectors, all -1.
func blank[V sparse.Value](g Grid[V], n, count int) []V {
	if n == 0 {
		return nil
	}
	val := make([]V, (n-1)*g.I+(count-1)*g.J+1)
	for i := range val {
		val[i] = -1
	}
	return val
}

// counted returns memory of a grid of vectors, all elements different.
func counted[V sparse.Value](g Grid[V], n, count int) []V {
	val := blank[V](g, n, count)
	for i := range val {
		val[i] = V(i + 1)
	}
	return val
}

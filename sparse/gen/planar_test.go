package gen

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPlanarGraphsHaveTheDegreesOfTheirFamilies(t *testing.T) {
	for _, c := range []struct {
		kind           string
		mean           float64
		fewest, widest int64
	}{
		{"delaunay", 6, 2, 8}, {"rgg", 15.6, 2, 48}, {"road", 2.4, 0, 4}, {"quads", 4, 2, 4}, {"bubbles", 3, 1, 3},
	} {
		m, _ := generateAll(t, "planar:n=300,kind="+c.kind)
		require.InEpsilon(t, c.mean, float64(m.NNZ())/float64(m.Rows), 0.03, c.kind)
		for i, k := range lengths(m) {
			require.LessOrEqual(t, k, c.widest, c.kind)
			require.GreaterOrEqual(t, k, c.fewest, c.kind)
			require.Nil(t, at(m, i, i), c.kind)
		}
	}
}

func TestEachCellOfADelaunayGraphHasOneDiagonal(t *testing.T) {
	m, _ := generateAll(t, "planar:nx=20,ny=10")
	for y := range 9 {
		for x := range 19 {
			i := y*20 + x
			falling, rising := at(m, i, i+21) != nil, at(m, i+1, i+20) != nil
			require.NotEqual(t, falling, rising, "cell %d, %d", x, y)
		}
	}
}

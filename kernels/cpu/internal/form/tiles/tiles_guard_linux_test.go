package tiles_test

import (
	"testing"

	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/formtest"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/tiles"
	"github.com/msrep-go/msrep/sparse"
	"github.com/stretchr/testify/require"
)

func TestTilesReadNothingBehindTheLastRowOfX(t *testing.T) {
	formtest.EachLevel(t, checkLastTile[float64], checkLastTile[float32])
}

// checkLastTile multiplies blocks of vectors that do not fill a register by a last column that ends
// a tile.
func checkLastTile[V sparse.Value](t *testing.T, l simd.Level) {
	const cols = 8
	f := formtest.Must(tiles.NewTiles(form.Rows[V]{Ptr: []int64{0, 1}, Idx: []int32{cols - 1}, Val: []V{2}, Cols: cols}, tiles.TileOptions[V]{Level: l, Cols: cols}))(t)
	var g formtest.Guards
	defer g.Free(t)
	for k := 2; k < 20; k++ {
		x := make([]V, cols*k)
		for i := range x {
			x[i] = V(i)
		}
		y := make([]V, k)
		f.(form.Many[V]).MultiplyMany(1, 0, form.MultiVector[V]{Val: formtest.Guarded(t, &g, x, true), Cols: k, Stride: k}, form.MultiVector[V]{Val: y, Cols: k, Stride: k})
		for j, v := range y {
			require.Equal(t, 2*x[(cols-1)*k+j], v)
		}
	}
}

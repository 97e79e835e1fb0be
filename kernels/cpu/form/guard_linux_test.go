package form_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels/cpu/form"
	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/sparse"
)

// guards is memory between inaccessible pages: a kernel that leaves its arrays ends the test
// program with a fault.
type guards struct{ maps [][]byte }

// bytes returns n zero bytes aligned to align. They end at the page after them, as far as align
// allows, or begin at the page before.
func (g *guards) bytes(n, align int64, atEnd bool) ([]byte, error) {
	page := int64(unix.Getpagesize())
	inner := (n + page - 1) / page * page
	m, err := unix.Mmap(-1, 0, int(inner+2*page), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return nil, err
	}
	g.maps = append(g.maps, m)
	for _, guard := range [][]byte{m[:page], m[page+inner:]} {
		if err := unix.Mprotect(guard, unix.PROT_NONE); err != nil {
			return nil, err
		}
	}
	from := page
	if atEnd {
		from += (inner - n) / align * align
	}
	return m[from : from+n : from+n], nil
}

func (g *guards) free(t require.TestingT) {
	for _, m := range g.maps {
		require.NoError(t, unix.Munmap(m))
	}
	g.maps = nil
}

// guarded returns a copy of v between guards.
func guarded[T mem.Elem](t require.TestingT, g *guards, v []T, atEnd bool) []T {
	b, err := g.bytes(int64(len(v))*mem.Size[T](), mem.Size[T](), atEnd)
	require.NoError(t, err)
	s, ok := mem.Slice[T](b, int64(len(v)))
	require.True(t, ok)
	copy(s, v)
	return s
}

func TestGuardsAreOutsideTheArrays(t *testing.T) {
	var g guards
	defer g.free(t)
	b, err := g.bytes(100, 64, true)
	require.NoError(t, err)
	require.Len(t, b, 100)
	require.Len(t, guarded(t, &g, []float64{1, 2, 3}, false), 3)
}

func TestTilesReadNothingBehindTheLastRowOfX(t *testing.T) {
	eachLevel(t, checkLastTile[float64], checkLastTile[float32])
}

// checkLastTile multiplies blocks of vectors that do not fill a register by a last column that ends
// a tile.
func checkLastTile[V sparse.Value](t *testing.T, l simd.Level) {
	const cols = 8
	f := must(form.NewTiles(form.Rows[V]{Ptr: []int64{0, 1}, Idx: []int32{cols - 1}, Val: []V{2}, Cols: cols}, form.TileOptions[V]{Level: l, Cols: cols}))(t)
	var g guards
	defer g.free(t)
	for k := 2; k < 20; k++ {
		x := make([]V, cols*k)
		for i := range x {
			x[i] = V(i)
		}
		y := make([]V, k)
		f.(form.Many[V]).MultiplyMany(1, 0, simd.MultiVector[V]{Val: guarded(t, &g, x, true), Cols: k, Stride: k}, simd.MultiVector[V]{Val: y, Cols: k, Stride: k})
		for j, v := range y {
			require.Equal(t, 2*x[(cols-1)*k+j], v)
		}
	}
}

package cuda_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/reference"
	"github.com/msrep-go/msrep/sparse"
)

// product is a way to compute one of the two products of a part.
type product[V sparse.Value] struct {
	name string
	run  func(*gpu, *part[V]) []V
	want func(*part[V]) reference.Product
}

func products[V sparse.Value]() []product[V] {
	gathered, scattered := (*part[V]).gathered, (*part[V]).scattered
	list := []product[V]{
		{"gather by merge path", gatherMerge[V], gathered},
		{"gather of coordinates", func(g *gpu, p *part[V]) []V { return gatherCOO(g, p, 0) }, gathered},
		{"gather of coordinates further down", func(g *gpu, p *part[V]) []V { return gatherCOO(g, p, 1000) }, gathered},
		{"scatter", scatter[V], scattered},
		{"scatter of coordinates", scatterCOO[V], scattered},
	}
	for lanes := 1; lanes <= 32; lanes *= 2 {
		list = append(list, product[V]{
			fmt.Sprintf("gather with %d lanes", lanes),
			func(g *gpu, p *part[V]) []V { return gatherVector(g, p, lanes) }, gathered,
		})
	}
	segments := func(g *gpu, p *part[float64]) []float64 { return gatherInSegments(g, p, 2, 2, true) }
	if run, ok := any(segments).(func(*gpu, *part[V]) []V); ok {
		list = append(list, product[V]{"gather in segments", run, gathered})
	}
	return append(list, ellProducts[V]()...)
}

func TestProductsAgreeWithTheReference(t *testing.T) {
	t.Run("float64", func(t *testing.T) { agree[float64](t) })
	t.Run("float32", func(t *testing.T) { agree[float32](t) })
}

func agree[V sparse.Value](t *testing.T) {
	for _, way := range products[V]() {
		t.Run(way.name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				p := parts[V]().Draw(t, "part")
				g := newGPU(t)
				g.blocks = rapid.Int64Range(0, 3).Draw(t, "blocks")
				g.offset = rapid.IntRange(0, 3).Draw(t, "offset")
				got := way.run(g, p)
				g.ok()
				want := way.want(p)
				if i := reference.Check(got, want); i >= 0 {
					t.Fatalf("element %d of %d: %v, it must be %v", i, len(want.Y), got[i:min(i+1, len(got))], want.Y[i:min(i+1, len(want.Y))])
				}
			})
		})
	}
}

func TestTheSameProductHasTheSameBitsForEveryGrid(t *testing.T) {
	for _, way := range products[float64]() {
		t.Run(way.name, func(t *testing.T) {
			t.Parallel()
			if way.name == "scatter" || way.name == "scatter of coordinates" {
				t.Skip("atomics")
			}
			rapid.Check(t, func(t *rapid.T) {
				p := parts[float64]().Draw(t, "part")
				one, all := newGPU(t), newGPU(t)
				one.blocks = 1
				a, b := way.run(one, p), way.run(all, p)
				one.ok()
				all.ok()
				for i := range a {
					require.Equal(t, math.Float64bits(a[i]), math.Float64bits(b[i]))
				}
			})
		})
	}
}

// A block that processes all groups continues after the group before: between empty
// rows, short rows, and rows longer than a group.
func TestABlockThatProcessesAllGroupsFindsItsRows(t *testing.T) {
	p := &part[float64]{ptr: []int64{0}, cols: 50, alpha: 0.5, beta: -2}
	add := func(rows, length int) {
		for range rows {
			for range length {
				k := len(p.idx)
				p.idx, p.val = append(p.idx, int32(k*7%p.cols)), append(p.val, float64(k%11)-4.5)
			}
			p.ptr = append(p.ptr, int64(len(p.idx)))
		}
	}
	for range 3 {
		add(1, 700)
		add(150, 0)
		add(60, 1)
		add(40, 0)
		add(30, 13)
	}
	p.end = int64(len(p.idx))
	fill := func(n int) []float64 {
		v := make([]float64, n)
		for i := range v {
			v[i] = float64(i%17) - 7.25
		}
		return v
	}
	p.x, p.xt, p.y, p.yt = fill(p.cols), fill(p.rows()), fill(p.rows()), fill(p.cols)
	for _, way := range products[float64]() {
		for _, blocks := range []int64{1, 2} {
			g := newGPU(t)
			g.blocks = blocks
			got := way.run(g, p)
			g.ok()
			require.Equal(t, -1, reference.Check(got, way.want(p)), way.name)
		}
	}
}

func TestNaNInYVanishesWithBetaZeroAndStaysOtherwise(t *testing.T) {
	nan := math.NaN()
	for _, way := range products[float64]() {
		p := &part[float64]{
			ptr: []int64{0, 2, 2, 3}, idx: []int32{0, 1, 1}, val: []float64{1, 2, 3}, cols: 2, end: 3, alpha: 1,
			x: []float64{1, 1}, xt: []float64{1, 1, 1}, y: []float64{nan, nan, nan}, yt: []float64{nan, nan},
		}
		g := newGPU(t)
		got := way.run(g, p)
		g.ok()
		require.Equal(t, -1, reference.Check(got, way.want(p)), way.name)
		for _, v := range got {
			require.False(t, math.IsNaN(v), way.name)
		}
		p.beta = 1
		g = newGPU(t)
		for _, v := range way.run(g, p) {
			require.True(t, math.IsNaN(v), way.name)
		}
		g.ok()
	}
}

// An infinity must not affect other rows in the same warp, tile or run.
func TestAnInfinityStaysInItsRow(t *testing.T) {
	const rows, length = 70, 13
	p := &part[float64]{ptr: []int64{0}, cols: 2, end: rows * length, alpha: 1, x: []float64{1, math.Inf(1)}, y: make([]float64, rows)}
	for r := range rows {
		for k := range length {
			c := int32(0)
			if r%7 == 3 && k == r%length {
				c = 1
			}
			p.idx, p.val = append(p.idx, c), append(p.val, 1)
		}
		p.ptr = append(p.ptr, int64((r+1)*length))
	}
	for _, way := range products[float64]() {
		if way.name[:6] != "gather" {
			continue
		}
		g := newGPU(t)
		got := way.run(g, p)
		g.ok()
		require.Equal(t, -1, reference.Check(got, p.gathered()), way.name)
	}
}

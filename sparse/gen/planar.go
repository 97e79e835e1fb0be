package gen

import (
	"math"

	"github.com/msrep-go/msrep/sparse"
)

var planarInfo = Info{
	Name:    "planar",
	Summary: "graphs of points in the plane, one at each point of a grid, joined to their neighbours; symmetric, no diagonal",
	Example: "planar:kind=rgg,n=2000",
	Params: []Param{
		{"kind", "delaunay", "delaunay (a grid with a random diagonal in each cell, 6 neighbours on average), rgg (points shifted at random, joined within a radius, 16), road (a grid with edges left out, 2.4), quads (4) or bubbles (honeycomb, 3)"},
		{"n", "100", "points along each axis"},
		{"nx", "", "points along x, which varies fastest; n unless given"},
		{"ny", "", "points along y; n unless given"},
		valueParam, seedParam,
	},
}

// planarReach is the largest distance, along each axis, between neighbours.
var planarReach = map[string]int64{"delaunay": 1, "rgg": 3, "road": 1, "quads": 1, "bubbles": 1}

// rggRadius gives pi*r^2 - 1 = 15.8 neighbours on average, like rgg_n_2_24_s0.
const rggRadius = 2.3

// roadEdges is the fraction of the edges of the grid that a road map keeps.
const roadEdges = 0.6

func planar(p *params) *plan {
	kind := p.choice("kind", "delaunay", "rgg", "road", "quads", "bubbles")
	n := p.dim("n", 1)
	g := points{nx: p.dimOr("nx", 1, n), ny: p.dimOr("ny", 1, n), kind: kind, seed: p.seed().sub(columnStream), reach: planarReach[kind]}
	if g.nx*g.ny > sparse.MaxDim {
		p.fail("%d x %d points are more than %d, which is not supported (indices are 32 bits wide)", g.nx, g.ny, sparse.MaxDim)
		g.nx, g.ny = 1, 1
	}
	rows := g.nx * g.ny
	degree := map[string]int64{"delaunay": 6, "rgg": 17, "road": 3, "quads": 4, "bubbles": 3}[kind]
	pl := &plan{rows: rows, cols: rows, entries: rows * degree, symmetric: true}
	pl.setValues(p)
	pl.lengths = perRow(func(i int64) (k int64) {
		g.neighbours(i, func(int64) { k++ })
		return k
	})
	pl.row = func(i int64, col []int32, _ *scratch) {
		k := 0
		g.neighbours(i, func(j int64) {
			col[k] = int32(j)
			k++
		})
	}
	return pl
}

// points are the points of a grid, numbered y*nx + x.
type points struct {
	nx, ny int64
	kind   string
	seed   seed
	reach  int64
}

// neighbours calls visit for every neighbour of point i, in ascending order.
func (g points) neighbours(i int64, visit func(j int64)) {
	x, y := i%g.nx, i/g.nx
	for v := max(y-g.reach, 0); v <= min(y+g.reach, g.ny-1); v++ {
		for u := max(x-g.reach, 0); u <= min(x+g.reach, g.nx-1); u++ {
			j := v*g.nx + u
			if j != i && g.linked(min(i, j), max(i, j)) {
				visit(j)
			}
		}
	}
}

// linked reports whether the points i < j are neighbours.
func (g points) linked(i, j int64) bool {
	dx, dy := j%g.nx-i%g.nx, j/g.nx-i/g.nx
	along := dx == 0 || dy == 0
	switch g.kind {
	case "rgg":
		ax, ay := g.moved(i)
		bx, by := g.moved(j)
		return math.Hypot(bx-ax, by-ay) <= rggRadius
	case "road":
		return along && g.seed.at(uint64(2*i+dy)) < threshold(roadEdges)
	case "bubbles": // all horizontal edges, every other vertical one
		return dy == 0 || dx == 0 && (i%g.nx+i/g.nx)%2 == 0
	case "quads":
		return along
	}
	// The upper left corner of the cell between the two is i or the point left of i.
	return along || g.seed.at(uint64(i+min(dx, 0)))>>63 == uint64(max(dx, 0))
}

// moved returns the shifted position of point i of a random geometric graph.
func (g points) moved(i int64) (x, y float64) {
	return float64(i%g.nx) + g.seed.uniform(uint64(2*i))/2, float64(i/g.nx) + g.seed.uniform(uint64(2*i+1))/2
}

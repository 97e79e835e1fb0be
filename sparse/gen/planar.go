package gen

import (
	"math"

	"github.com/msrep-go/msrep/sparse"
)

var planarInfo = Info{
	Name:    "planar",
	Summary: "graphs of points in the plane, one on each place of a grid, with their neighbours; symmetric, no diagonal",
	Example: "planar:kind=rgg,n=2000",
	Params: []Param{
		{"kind", "delaunay", "delaunay (grid and a random diagonal in each cell, 6 neighbours in the mean), rgg (moved at random, all within a radius, 16), road (grid with edges left out, 2.4), quads (4) or bubbles (honeycomb, 3)"},
		{"n", "100", "points along each axis"},
		{"nx", "", "points along x, which varies fastest; n unless given"},
		{"ny", "", "points along y; n unless given"},
		valueParam, seedParam,
	},
}

// planarReach is how far, along each axis, neighbours of a point may be.
var planarReach = map[string]int64{"delaunay": 1, "rgg": 3, "road": 1, "quads": 1, "bubbles": 1}

// rggRadius gives a mean of pi*r^2 - 1 = 15.8 neighbours, as rgg_n_2_24_s0 has.
const rggRadius = 2.3

// roadShare is the share of the edges of the grid that a road map keeps.
const roadShare = 0.6

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

// points are places of a grid, numbered y*nx + x.
type points struct {
	nx, ny int64
	kind   string
	seed   seed
	reach  int64
}

// neighbours calls visit with the number of every neighbour of point i, rising.
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

// linked says whether the points i < j are neighbours.
func (g points) linked(i, j int64) bool {
	dx, dy := j%g.nx-i%g.nx, j/g.nx-i/g.nx
	along := dx == 0 || dy == 0
	switch g.kind {
	case "rgg":
		ax, ay := g.moved(i)
		bx, by := g.moved(j)
		return math.Hypot(bx-ax, by-ay) <= rggRadius
	case "road":
		return along && g.seed.at(uint64(2*i+dy)) < chance(roadShare)
	case "bubbles": // rows are whole, every other rung between them
		return dy == 0 || dx == 0 && (i%g.nx+i/g.nx)%2 == 0
	case "quads":
		return along
	}
	// The cell between the two has its upper left corner at i, or one to the left.
	return along || g.seed.at(uint64(i+min(dx, 0)))>>63 == uint64(max(dx, 0))
}

// moved is where point i of a random geometric graph is.
func (g points) moved(i int64) (x, y float64) {
	return float64(i%g.nx) + g.seed.uniform(uint64(2*i))/2, float64(i/g.nx) + g.seed.uniform(uint64(2*i+1))/2
}

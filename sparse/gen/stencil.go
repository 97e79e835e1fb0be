package gen

import (
	"strconv"

	"github.com/msrep-go/msrep/sparse"
)

var stencilInfo = Info{
	Name:    "stencil",
	Summary: "finite differences on a 2- or 3-dimensional grid; symmetric, one row per grid point",
	Example: "stencil:n=1000,points=9",
	Params: []Param{
		{"dims", "", "2 or 3; follows from points unless given"},
		{"points", "", "5 or 9 (2 dimensions), 7 or 27 (3); 5 or 7 unless given"},
		{"n", "100", "grid points along each axis"},
		{"nx", "", "grid points along x, which varies fastest; n unless given"},
		{"ny", "", "grid points along y; n unless given"},
		{"nz", "", "grid points along z; n unless given, 1 in 2 dimensions"},
		{"value", "laplace", "laplace (points-1 on the diagonal, else -1), random or ones"},
		seedParam,
	},
}

// grid is a box of grid points, numbered (z*ny + y)*nx + x.
type grid struct{ nx, ny, nz int64 }

// step is the offset of a neighbour from its point.
type step struct{ x, y, z int64 }

func stencil(p *params) *plan {
	dims, points := stencilShape(p)
	n := p.dim("n", 1)
	g := grid{p.dimOr("nx", 1, n), p.dimOr("ny", 1, n), 1}
	if dims == 3 {
		g.nz = p.dimOr("nz", 1, n)
	} else if p.given("nz") && p.dim("nz", 1) != 1 {
		p.fail("nz=%s: a stencil of 2 dimensions has no z axis", clip(p.value["nz"]))
	}
	rows := g.nx * g.ny // below 2^62
	if rows > sparse.MaxDim || rows*g.nz > sparse.MaxDim {
		p.fail("a grid of %d x %d x %d has more than %d points, which is not supported (indices are 32 bits wide)", g.nx, g.ny, g.nz, sparse.MaxDim)
		g, rows = grid{1, 1, 1}, 1
	}
	rows *= g.nz
	pl := &plan{rows: rows, cols: rows, entries: rows * points, symmetric: true}
	if p.choice("value", "laplace", "random", "ones") == "laplace" {
		p.seed()
		pl.field = sparse.Integer
		pl.value = func(i, j int64) float64 {
			if i == j {
				return float64(points - 1)
			}
			return -1
		}
	} else {
		pl.setValues(p)
	}
	steps := stencilSteps(dims, points)
	pl.lengths = perRow(func(i int64) (n int64) {
		g.neighbours(i, steps, func(int64) { n++ })
		return n
	})
	pl.row = func(i int64, col []int32, _ *scratch) {
		k := 0
		g.neighbours(i, steps, func(j int64) {
			col[k] = int32(j)
			k++
		})
	}
	return pl
}

// stencilShape returns dims and points; the spec may give one of them, both or neither.
func stencilShape(p *params) (dims, points int64) {
	dimsOf := map[int64]int64{5: 2, 9: 2, 7: 3, 27: 3}
	switch {
	case p.given("points"):
		points, _ = parseCount(p.choice("points", "5", "7", "9", "27"))
		dims = dimsOf[points]
		if p.given("dims") && p.choice("dims", "2", "3") != strconv.FormatInt(dims, 10) {
			p.fail("points=%d is a stencil of %d dimensions, not %s", points, dims, clip(p.value["dims"]))
		}
		return dims, points
	case p.given("dims") && p.choice("dims", "2", "3") == "3":
		return 3, 7
	}
	return 2, 5
}

// stencilSteps returns the steps to all neighbours and to the point itself, in the order
// of the point numbers.
func stencilSteps(dims, points int64) (steps []step) {
	box := points == 9 || points == 27
	for z := int64(-1); z <= 1; z++ {
		for y := int64(-1); y <= 1; y++ {
			for x := int64(-1); x <= 1; x++ {
				axes := x*x + y*y + z*z // number of coordinates that change
				if (z == 0 || dims == 3) && (box || axes <= 1) {
					steps = append(steps, step{x, y, z})
				}
			}
		}
	}
	return steps
}

// neighbours calls visit for every point that a step from point i leads to, in ascending
// order.
func (g grid) neighbours(i int64, steps []step, visit func(j int64)) {
	x, y, z := i%g.nx, i/g.nx%g.ny, i/(g.nx*g.ny)
	for _, s := range steps {
		x, y, z := x+s.x, y+s.y, z+s.z
		if x >= 0 && x < g.nx && y >= 0 && y < g.ny && z >= 0 && z < g.nz {
			visit((z*g.ny+y)*g.nx + x)
		}
	}
}

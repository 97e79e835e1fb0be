package gen

import "github.com/msrep-go/msrep/sparse"

var cfdInfo = Info{
	Name:    "cfd",
	Summary: "flow on a 3-dimensional grid: several unknowns per cell and a full block per pair of neighbouring cells; the structure is symmetric",
	Example: "cfd:n=50,unknowns=5,points=27",
	Params: []Param{
		{"n", "10", "cells along each axis"},
		{"unknowns", "5", "unknowns per cell, 1 to 64: the size of a block"},
		{"points", "7", "7 or 27: the cell and its neighbours"},
		valueParam, seedParam,
	},
}

func cfd(p *params) *plan {
	n := p.count("n", 1, 1290) // n^3 is below 2^31
	b := p.count("unknowns", 1, 64)
	points := int64(7)
	if p.choice("points", "7", "27") == "27" {
		points = 27
	}
	g := grid{n, n, n}
	rows := n * n * n * b
	if rows > sparse.MaxDim {
		p.fail("%d x %d x %d cells of %d unknowns are more than %d rows", n, n, n, b, sparse.MaxDim)
		g, rows = grid{1, 1, 1}, b
	}
	steps := stencilSteps(3, points)
	pl := &plan{rows: rows, cols: rows, entries: rows * points * b}
	pl.setValues(p)
	pl.lengths = perRow(func(i int64) (length int64) {
		g.neighbours(i/b, steps, func(int64) { length += b })
		return length
	})
	pl.row = func(i int64, col []int32, _ *scratch) {
		k := 0
		g.neighbours(i/b, steps, func(j int64) {
			for u := range b {
				col[k] = int32(j*b + u)
				k++
			}
		})
	}
	return pl
}

package plot

import (
	"cmp"
	"fmt"
	"math"
)

// Sizes of a heat map.
const (
	heatRow = 20 // height of a row of cells
	// heatFull is the ratio to Level, or its inverse, that has the full colour.
	heatFull = 2.0
)

// Colours of cells, above and below Level.
const (
	aboveColour = "#4d9cc9"
	belowColour = "#e28e4d"
)

func heatHeight(f Figure) int {
	return plotTop + heatRow*max(len(f.Series), 1) + axisHeight + legendLine + 4
}

// drawHeat draws the cells with their numbers, the names of rows and columns, and the colour legend.
func drawHeat(c canvas, f Figure) {
	columns, names := 1.0, 0
	for _, s := range f.Series {
		names = max(names, len([]rune(s.Name)))
		for _, x := range s.X {
			columns = max(columns, x)
		}
	}
	x := axis{lo: 0.5, hi: columns + 0.5, from: 24 + charWidth*float64(names), to: chartWidth - plotRight}
	level := cmp.Or(f.Level, 1)
	for r, s := range f.Series {
		top := float64(plotTop + heatRow*r)
		c.text(point{x.from - 4, top + 14}, end, s.Name, plain)
		for i, v := range s.Y {
			left, right := x.at(s.X[i]-0.5), x.at(s.X[i]+0.5)
			cell := []point{{left, top}, {right, top}, {right, top + heatRow}, {left, top + heatRow}}
			c.shape(cell, heatColour(v/level), false, fmt.Sprintf("%s, %s: %s", s.Name, f.nameAt(s.X[i]), shortNumber(v)))
			c.text(point{(left + right) / 2, top + 14}, middle, fmt.Sprintf("%.2f", v), onCell)
		}
	}
	bottom := float64(plotTop + heatRow*len(f.Series))
	for _, m := range f.xTicks(x) {
		c.text(point{x.at(m.X), bottom + 14}, middle, m.Label, plain)
	}
	c.text(point{(x.from + x.to) / 2, bottom + 30}, middle, f.XLabel, plain)
	c.text(point{11, (plotTop + bottom) / 2}, middle, f.YLabel, up)
	note := fmt.Sprintf("blue: above %s, orange: below", shortNumber(level))
	if len(f.Series) > 0 {
		note = fmt.Sprintf("%s; %s", f.Series[0].Origin, note)
	}
	c.text(point{chartWidth / 2, bottom + axisHeight + 10}, middle, note, plain)
}

// heatColour returns a colour between white, for 1, and blue for larger ratios or orange for smaller ones.
func heatColour(ratio float64) string {
	full, share := ink(aboveColour), math.Log(ratio)/math.Log(heatFull)
	if share < 0 {
		full, share = ink(belowColour), -share
	}
	if math.IsNaN(share) {
		share = 0
	}
	mix := func(v uint8) uint8 { return uint8(math.Round(255 + min(share, 1)*(float64(v)-255))) }
	return fmt.Sprintf("#%02x%02x%02x", mix(full.R), mix(full.G), mix(full.B))
}

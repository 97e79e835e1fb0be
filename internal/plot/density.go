package plot

import (
	"fmt"
	"image"
	"image/color"
	"math"
)

// Grid is a matrix in bins: how many of the positions of each bin are occupied.
type Grid struct {
	Rows, Cols     int       // bins
	OfRows, OfCols int       // size of the matrix
	Share          []float64 // of the occupied positions of each bin, row by row; 0 for none, 1 for all
}

// exact reports whether each bin is one position.
func (g *Grid) exact() bool { return g.Rows == g.OfRows && g.Cols == g.OfCols }

// Sizes of a density figure.
const (
	densityWidth  = 420
	densityLeft   = 58
	densityRight  = 12
	densitySquare = densityWidth - densityLeft - densityRight
	densityLeast  = 40                    // height of the picture of a matrix with few rows
	densityMost   = densitySquare * 4 / 3 // and with few columns
	legendHeight  = 34
	legendLetter  = 6.6 // width of a letter of the legend, in any font
)

// Colours of bins: from few entries to many, and of full bins. Their lightness falls, so they can be told apart
// without hue.
var (
	fewColour  = color.RGBA{0x8d, 0xbd, 0xe3, 255}
	manyColour = color.RGBA{0x08, 0x3f, 0x85, 255}
	fullColour = color.RGBA{0, 0, 0, 255}
)

// picture returns the height of the picture of a grid, whose width is densitySquare.
func (g *Grid) picture() float64 {
	if g.OfCols == 0 || g.OfRows == 0 {
		return densityLeast
	}
	return min(max(densitySquare*float64(g.OfRows)/float64(g.OfCols), densityLeast), densityMost)
}

func densityHeight(f Figure) int {
	return plotTop + int(f.Grid.picture()) + axisHeight + legendHeight
}

// least returns the smallest share of the bins with entries that are not full, or 0 if there are none.
func (g *Grid) least() (least float64) {
	for _, s := range g.Share {
		if s > 0 && s < 1 && (least == 0 || s < least) {
			least = s
		}
	}
	return least
}

// shadeOf returns the colour of a share above 0. The scale is logarithmic, from least to 1.
func shadeOf(share, least float64) color.RGBA {
	if share >= 1 {
		return fullColour
	}
	t := 0.0
	if least < 1 {
		t = 1 - math.Log(share)/math.Log(least)
	}
	mix := func(a, b uint8) uint8 {
		return uint8(math.Round(float64(a) + min(max(t, 0), 1)*(float64(b)-float64(a))))
	}
	return color.RGBA{mix(fewColour.R, manyColour.R), mix(fewColour.G, manyColour.G), mix(fewColour.B, manyColour.B), 255}
}

// fewBins is the number of bins with entries up to which they are drawn larger than they are, so that they can be seen.
const fewBins = 400

// smallBins is the number of bins in a direction from which a bin is small.
const smallBins = 128

// pixels returns an image with a pixel for each bin. Bins without entries are transparent.
func (g *Grid) pixels(least float64) image.Image {
	img := image.NewNRGBA(image.Rect(0, 0, g.Cols, g.Rows))
	occupied := 0
	for _, s := range g.Share {
		if s > 0 {
			occupied++
		}
	}
	wide, high := 0, 0 // how far a bin extends to each side
	if occupied <= fewBins {
		wide, high = min(g.Cols/smallBins, 1), min(g.Rows/smallBins, 1)
	}
	for k, s := range g.Share {
		if s == 0 {
			continue
		}
		i, j := k/g.Cols, k%g.Cols
		for y := max(i-high, 0); y <= min(i+high, g.Rows-1); y++ {
			for x := max(j-wide, 0); x <= min(j+wide, g.Cols-1); x++ {
				if g.Share[y*g.Cols+x] == 0 || x == j && y == i {
					img.Set(x, y, shadeOf(s, least))
				}
			}
		}
	}
	return img
}

// drawDensity draws the bins, the axes and the legend.
func drawDensity(c canvas, f Figure) {
	g := f.Grid
	height := float64(int(g.picture()))
	a, b := point{densityLeft, plotTop}, point{densityLeft + densitySquare, plotTop + height}
	least := g.least()
	if len(g.Share) > 0 {
		c.image(a, b, g.pixels(least), g.Cols > densitySquare/2 || float64(g.Rows) > height/2)
	}
	p, q := point{a.x - 1, a.y - 1}, point{b.x + 1, b.y + 1} // the frame covers no bin
	c.line([]point{p, {q.x, p.y}, q, {p.x, q.y}, p}, axisColour, 1, nil)
	x := axis{lo: 0, hi: float64(max(g.OfCols, 1)), from: a.x, to: b.x}
	y := axis{lo: 0, hi: float64(max(g.OfRows, 1)), from: a.y, to: b.y}
	for _, v := range whole(x, g.OfCols) {
		c.line([]point{{x.at(v), b.y}, {x.at(v), b.y + 4}}, axisColour, 1, nil)
		label := shortNumber(v)
		half := charWidth / 2 * float64(len(label))
		c.text(point{min(x.at(v), densityWidth-2-half), b.y + 16}, middle, label, plain)
	}
	last := math.Inf(-1)
	for _, v := range whole(y, g.OfRows) {
		at := y.at(v)
		c.line([]point{{a.x - 4, at}, {a.x, at}}, axisColour, 1, nil)
		if at-last >= fontSize { // few pixels may have many rows
			c.text(point{a.x - 6, at + 4}, end, shortNumber(v), plain)
			last = at
		}
	}
	c.text(point{(a.x + b.x) / 2, b.y + 31}, middle, f.XLabel, plain)
	c.text(point{11, (a.y + b.y) / 2}, middle, f.YLabel, up)
	drawDensityLegend(c, g, least, b.y+axisHeight+8)
}

// whole returns the ticks of an axis that are whole numbers.
func whole(a axis, n int) (out []float64) {
	for _, v := range a.ticks() {
		if v == math.Floor(v) && v <= float64(n) {
			out = append(out, v)
		}
	}
	return out
}

// drawDensityLegend draws what the colours mean, in one line at y.
func drawDensityLegend(c canvas, g *Grid, least, y float64) {
	box := func(x float64, full bool, label string) float64 {
		corners := []point{{x, y}, {x + 14, y}, {x + 14, y + 10}, {x, y + 10}, {x, y}}
		if full {
			img := image.NewNRGBA(image.Rect(0, 0, 1, 1))
			img.Set(0, 0, fullColour)
			c.image(corners[0], corners[2], img, false)
		}
		c.line(corners, axisColour, 1, nil)
		c.text(point{x + 18, y + 9}, start, label, plain)
		return x + 18 + legendLetter*float64(len(label)) + 12
	}
	if g.exact() {
		box(box(densityLeft, false, "no entry"), true, "entry")
		return
	}
	x := box(densityLeft, false, "empty")
	if least > 0 {
		const width = 96
		img := image.NewNRGBA(image.Rect(0, 0, width, 1))
		for i := range width {
			img.Set(i, 0, shadeOf(min(math.Pow(least, 1-float64(i)/(width-1)), 1-1e-12), least))
		}
		label := percent(least)
		c.text(point{x, y + 9}, start, label, plain)
		x += legendLetter*float64(len(label)) + 4
		c.image(point{x, y}, point{x + width, y + 10}, img, true)
		x += width + 10
	}
	box(x, true, "full (all positions)")
}

// percent formats a share.
func percent(share float64) string {
	if share < 1e-5 {
		return fmt.Sprintf("%.0e", share)
	}
	return fmt.Sprintf("%.2g %%", 100*share)
}

package plot

import "fmt"

// barWidth is the width of a bar over the distance to the next bar.
const barWidth = 0.9

// stackTops returns the total height of the bars at each x.
func stackTops(f Figure) map[float64]float64 {
	tops := map[float64]float64{}
	for _, s := range f.Series {
		for i, x := range s.X {
			tops[x] += s.Y[i]
		}
	}
	return tops
}

// bar is how the bars of a series are drawn.
type bar struct {
	colour string
	hollow bool
	hatch  hatch
}

// barOf returns the look of the bars of a series: outlines for a figure of the paper, and hatches above the first
// series, so that stacked bars can be told apart without colours.
func (f Figure) barOf(k int) bar {
	return bar{colourOf(f.Series, k), f.Series[k].Origin == Paper, hatch(k % hatches)}
}

// drawBars draws the series; bars at the same x are stacked.
func drawBars(c canvas, f Figure, x, y axis) {
	tops := map[float64]float64{}
	for k, s := range f.Series {
		for i, at := range s.X {
			from := tops[at]
			tops[at] += s.Y[i]
			if s.Y[i] <= 0 {
				continue
			}
			drawBar(c, f.barOf(k), point{x.at(at - barWidth/2), y.at(max(from, y.lo))}, point{x.at(at + barWidth/2), y.at(tops[at])},
				fmt.Sprintf("%s: %s, %s", s.Name, f.nameAt(at), shortNumber(s.Y[i])))
		}
	}
	if f.Level != 0 {
		c.line([]point{{x.from, y.at(f.Level)}, {x.to, y.at(f.Level)}}, noteColour, 1, nil)
	}
}

// drawBar draws a bar between two corners.
func drawBar(c canvas, b bar, p, q point, what string) {
	c.shape([]point{p, {q.x, p.y}, q, {p.x, q.y}}, b.colour, b.hollow, what)
	if !b.hollow {
		b.hatch.draw(c, p, q)
	}
}

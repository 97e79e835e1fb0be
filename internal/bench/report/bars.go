package report

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
			drawBar(c, point{x.at(at - barWidth/2), y.at(from)}, point{x.at(at + barWidth/2), y.at(tops[at])}, colourOf(f.Series, k), s.Origin,
				fmt.Sprintf("%s: %s, %s", s.Name, f.nameAt(at), shortNumber(s.Y[i])))
		}
	}
	if f.Level != 0 {
		c.line([]point{{x.from, y.at(f.Level)}, {x.to, y.at(f.Level)}}, noteColour, 1, nil)
	}
}

// drawBar draws a bar between two corners: filled, or as an outline for a figure of the paper.
func drawBar(c canvas, a, b point, colour string, o Origin, what string) {
	c.shape([]point{a, {b.x, a.y}, b, {a.x, b.y}}, colour, o == Paper, what)
}

package plot

// hatch is a pattern of lines on a filled rectangle; 0 has none.
type hatch int

// hatches is the number of patterns.
const hatches = 5

// hatchStep is the distance of two lines of a hatch, in x or in y.
const hatchStep = 5

// draw draws the lines of the hatch into the rectangle with corners p and q.
func (h hatch) draw(c canvas, p, q point) {
	lo, hi := point{min(p.x, q.x), min(p.y, q.y)}, point{max(p.x, q.x), max(p.y, q.y)}
	line := func(a, b point) { c.line([]point{a, b}, paperColour, 0.8, nil) }
	if h == 1 || h == 3 { // up to the right: x + y is constant
		for s := (float64(int((lo.x+lo.y)/hatchStep)) + 1) * hatchStep; s < hi.x+hi.y; s += hatchStep {
			a, b := max(lo.x, s-hi.y), min(hi.x, s-lo.y)
			line(point{a, s - a}, point{b, s - b})
		}
	}
	if h == 2 || h == 3 { // down to the right: y - x is constant
		for s := (float64(int((lo.y-hi.x+1e6)/hatchStep))+1)*hatchStep - 1e6; s < hi.y-lo.x; s += hatchStep {
			a, b := max(lo.x, lo.y-s), min(hi.x, hi.y-s)
			line(point{a, a + s}, point{b, b + s})
		}
	}
	if h == 4 {
		for y := lo.y + 2; y < hi.y; y += hatchStep - 1 {
			line(point{lo.x, y}, point{hi.x, y})
		}
	}
}

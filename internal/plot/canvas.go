package plot

import "image"

// canvas is the drawing surface of a chart: an SVG or a PNG. Coordinates are in units of the chart, x to the right
// and y down.
type canvas interface {
	// line draws a line through points. dash holds the lengths of dashes and gaps alternately; nil draws a solid
	// line.
	line(points []point, colour string, width float64, dash []float64)
	// shape fills a polygon, or draws its outline if hollow. what describes the shape in formats with descriptions.
	shape(points []point, colour string, hollow bool, what string)
	// text writes s.
	text(at point, anchor anchor, s string, style style)
	// image draws img into the box with corners a and b. smooth interpolates between pixels; otherwise each pixel
	// is a rectangle.
	image(a, b point, img image.Image, smooth bool)
}

// style is a set of properties of a text.
type style int

// The properties.
const (
	plain  style = 0
	bold   style = 1 << iota
	up           // reads from bottom to top
	onCell       // stands on a light cell of a heat map, also on dark pages
)

// moved is a canvas whose origin is at a position of another one.
type moved struct {
	canvas
	by point
}

func (m moved) at(p point) point { return point{p.x + m.by.x, p.y + m.by.y} }

func (m moved) all(points []point) []point {
	out := make([]point, len(points))
	for i, p := range points {
		out[i] = m.at(p)
	}
	return out
}

func (m moved) line(points []point, colour string, width float64, dash []float64) {
	m.canvas.line(m.all(points), colour, width, dash)
}

func (m moved) shape(points []point, colour string, hollow bool, what string) {
	m.canvas.shape(m.all(points), colour, hollow, what)
}

func (m moved) text(at point, anchor anchor, s string, style style) {
	m.canvas.text(m.at(at), anchor, s, style)
}

func (m moved) image(a, b point, img image.Image, smooth bool) {
	m.canvas.image(m.at(a), m.at(b), img, smooth)
}

// point is a position on a canvas.
type point struct{ x, y float64 }

// anchor is the part of a text that lies at its position.
type anchor string

// The anchors, as SVG names them.
const (
	start  anchor = "start"
	middle anchor = "middle"
	end    anchor = "end"
)

package report

// canvas is the drawing surface of a chart: an SVG or a PNG. Coordinates are in units of the chart, x to the right
// and y down.
type canvas interface {
	// line draws a line through points. dash holds the lengths of dashes and gaps alternately; nil draws a solid
	// line.
	line(points []point, colour string, width float64, dash []float64)
	// shape fills a polygon, or draws its outline if hollow. what describes the shape in formats with descriptions.
	shape(points []point, colour string, hollow bool, what string)
	// text writes s; with up, it reads from bottom to top.
	text(at point, anchor anchor, s string, bold, up bool)
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

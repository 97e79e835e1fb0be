package report

// canvas is what a chart is drawn on: an SVG or a PNG. Places are in the units of
// the chart, x to the right and y down.
type canvas interface {
	// line joins points; dash has lengths of lines and gaps in turn, nil for a whole
	// line.
	line(points []point, colour string, width float64, dash []float64)
	// shape fills a polygon, or draws its outline where it is hollow. what says what it
	// stands for, to those who can ask.
	shape(points []point, colour string, hollow bool, what string)
	// text writes s; up turns it to read from below to above.
	text(at point, anchor anchor, s string, bold, up bool)
}

// point is a place on a canvas.
type point struct{ x, y float64 }

// anchor says which part of a text is at its place.
type anchor string

// The anchors, as SVG names them.
const (
	start  anchor = "start"
	middle anchor = "middle"
	end    anchor = "end"
)

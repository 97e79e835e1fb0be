package plot

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Sizes of a chart in its own units. A chart is narrow because a phone shows it at about this width, with readable
// text.
const (
	chartWidth  = 360
	plotHeight  = 210
	plotLeft    = 52
	plotRight   = 10
	plotTop     = 26
	axisHeight  = 38 // numbers and label below the plot
	legendLine  = 15
	fontSize    = 11
	charWidth   = 5.8 // average, at fontSize
	lineWidth   = 1.6
	markSize    = 2.4
	legendChars = 52 // characters in a line of the legend
	nameWidth   = 12 // between two upright names below the plot
	nameLetter  = 6  // of a letter of an upright name
	nameGap     = 8  // between upright names and the label of the axis
	nameLetters = 24 // letters of an upright name that are drawn; the rest is cut off
)

// colours distinguish series, also for most colour-blind people (Okabe and Ito, 2008).
var colours = []string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000", "#7f7f7f"}

// Colours of parts other than series.
const (
	paperColour = "#fff" // of the page; a cell of a heat map may be #ffffff, which stays white on dark pages
	inkColour   = "#000000"
	axisColour  = "#444444"
	gridColour  = "#dddddd"
	noteColour  = "#777777" // for Level and Marks
)

// variable returns the name of the variable that holds a colour in a page, or "" for the colours of cells, which are
// the same on light and dark pages.
func variable(colour string) string {
	switch colour {
	case paperColour:
		return "--paper"
	case inkColour:
		return "--ink"
	case axisColour:
		return "--axis"
	case gridColour:
		return "--grid"
	case noteColour:
		return "--note"
	}
	if k := slices.Index(colours, colour); k >= 0 {
		return fmt.Sprintf("--s%d", k)
	}
	return ""
}

// colourOf gives series of the same name the same colour: our series and the paper's differ in dashes and marks.
func colourOf(series []Series, k int) string {
	seen := map[string]int{}
	for _, s := range series[:k+1] {
		if _, ok := seen[s.Name]; !ok {
			seen[s.Name] = len(seen)
		}
	}
	return colours[seen[series[k].Name]%len(colours)]
}

// look is how a series is drawn.
type look struct {
	colour string
	dash   []float64
	shape  corners
	hollow bool
}

// corners is the shape of marks: a regular polygon of n corners, turned, whose radius is a multiple of markSize.
type corners struct {
	n            int
	turn, radius float64
}

// The shapes of marks.
var (
	disc     = corners{12, 0, 1}
	square   = corners{4, math.Pi / 4, 1}
	diamond  = corners{4, 0, 1.3}
	triangle = corners{3, math.Pi / 6, 1.3}
)

// at returns the corners of the mark at a position.
func (m corners) at(p point) (out []point) {
	for k := range m.n {
		sin, cos := math.Sincos(m.turn + 2*math.Pi*float64(k)/float64(m.n))
		out = append(out, point{p.x + m.radius*markSize*cos, p.y + m.radius*markSize*sin})
	}
	return out
}

// lookOf returns the look of a series: its origin decides it, or its position where it has no origin, so that series
// can be told apart without colours.
func lookOf(series []Series, k int) look {
	if series[k].Origin != "" {
		return originLook(series[k].Origin, colourOf(series, k))
	}
	l := orderLooks[k%len(orderLooks)]
	l.colour = colourOf(series, k)
	return l
}

// originLook returns the look of an origin: measured lines are solid with discs, the paper's have rings.
func originLook(o Origin, colour string) look {
	l := look{colour: colour, shape: disc}
	switch o {
	case Paper:
		l.dash, l.hollow = []float64{2, 3}, true
	case Modelled:
		l.dash, l.shape = []float64{7, 3}, square
	case Counted:
		l.dash, l.shape = []float64{7, 3, 2, 3}, diamond
	case Earlier:
		l.dash, l.shape = []float64{12, 2}, triangle
	}
	return l
}

// orderLooks are the looks of series without an origin.
var orderLooks = []look{
	{shape: disc},
	{shape: square, dash: []float64{7, 3}},
	{shape: triangle, dash: []float64{2, 3}},
	{shape: diamond, dash: []float64{7, 3, 2, 3}},
	{shape: disc, hollow: true, dash: []float64{12, 2}},
	{shape: square, hollow: true, dash: []float64{4, 2}},
	{shape: triangle, hollow: true, dash: []float64{9, 2, 2, 2, 2, 2}},
}

// chartHeight returns the height of a figure with its legend.
func chartHeight(f Figure) int {
	switch f.Kind {
	case Heat:
		return heatHeight(f)
	case Density:
		return densityHeight(f)
	case Timeline:
		return timelineHeight(f)
	}
	return plotTop + plotHeight + belowPlot(f) + legendLine*len(legendLines(f.Series)) + 4
}

// upright reports whether the names below the plot stand upright because they do not fit side by side.
func (f Figure) upright() bool {
	return f.Kind != Heat && charWidth*float64((f.longestName()+1)*len(f.Names)) > chartWidth-plotLeft-plotRight
}

// longestName returns the number of letters of the longest name.
func (f Figure) longestName() (letters int) {
	for _, n := range f.Names {
		letters = max(letters, len([]rune(n.Label)))
	}
	return letters
}

// widthOf returns the width of a figure: the width of all charts, or more for many names.
func widthOf(f Figure) int {
	switch {
	case f.Kind == Density:
		return densityWidth
	case f.Kind == Timeline:
		return timelineWidth
	case !f.upright():
		return chartWidth
	}
	return max(chartWidth, plotLeft+plotRight+nameWidth*len(f.Names))
}

// belowPlot returns the height of the x axis: numbers or names, and the label.
func belowPlot(f Figure) int {
	if !f.upright() {
		return axisHeight
	}
	return axisHeight + max(nameLetter*min(f.longestName(), nameLetters)-fontSize+nameGap, 0)
}

// shortName returns the letters of an upright name that are drawn.
func shortName(s string) string {
	if r := []rune(s); len(r) > nameLetters {
		return string(r[:nameLetters-1]) + "…"
	}
	return s
}

// drawFigure draws the figure on a canvas of size widthOf by chartHeight.
func drawFigure(c canvas, f Figure) {
	c.text(point{float64(widthOf(f)) / 2, 15}, middle, f.Title, bold)
	switch f.Kind {
	case Heat:
		drawHeat(c, f)
		return
	case Density:
		drawDensity(c, f)
		return
	case Timeline:
		drawTimeline(c, f)
		return
	}
	x, y := axes(f)
	drawAxes(c, f, x, y)
	if f.Kind == Bars {
		drawBars(c, f, x, y)
	} else {
		for k, s := range f.Series {
			drawSeries(c, f, s, lookOf(f.Series, k), x, y)
		}
	}
	drawLegend(c, f)
}

func drawAxes(c canvas, f Figure, x, y axis) {
	for _, v := range y.ticks() {
		c.line([]point{{x.from, y.at(v)}, {x.to, y.at(v)}}, gridColour, 1, nil)
		c.text(point{x.from - 4, y.at(v) + 4}, end, shortNumber(v), plain)
	}
	for _, m := range f.xTicks(x) {
		if f.upright() {
			c.line([]point{{x.at(m.X), y.from}, {x.at(m.X), y.to}}, gridColour, 0.5, nil)
			c.text(point{x.at(m.X) + 4, y.from + 5}, end, shortName(m.Label), up)
			continue
		}
		c.line([]point{{x.at(m.X), y.from}, {x.at(m.X), y.from + 4}}, axisColour, 1, nil)
		half := charWidth / 2 * float64(len([]rune(m.Label))) // a name at the right end stays on the chart
		c.text(point{min(x.at(m.X), chartWidth-2-half), y.from + 16}, middle, m.Label, plain)
	}
	if f.Level != 0 {
		c.line([]point{{x.from, y.at(f.Level)}, {x.to, y.at(f.Level)}}, noteColour, 1, nil)
	}
	for _, m := range f.Marks {
		if m.X >= x.lo && m.X <= x.hi {
			c.line([]point{{x.at(m.X), y.from}, {x.at(m.X), y.to}}, noteColour, 1, []float64{1, 3})
			c.text(point{x.at(m.X) + 2, y.to - 2}, start, m.Label, plain)
		}
	}
	c.line([]point{{x.from, y.to}, {x.from, y.from}, {x.to, y.from}}, axisColour, 1, nil)
	c.text(point{(x.from + x.to) / 2, y.from + float64(belowPlot(f)-axisHeight) + 31}, middle, f.XLabel, plain)
	c.text(point{11, (y.from + y.to) / 2}, middle, f.YLabel, up)
}

// xTicks returns the marks of the x axis.
func (f Figure) xTicks(x axis) []Mark {
	if len(f.Names) > 0 {
		return f.Names
	}
	var ticks []Mark
	for _, v := range x.ticks() {
		ticks = append(ticks, Mark{v, shortNumber(v)})
	}
	return ticks
}

// nameAt returns the text of the x axis at x.
func (f Figure) nameAt(x float64) string {
	for _, m := range f.Names {
		if m.X == x {
			return m.Label
		}
	}
	return shortNumber(x)
}

func drawSeries(c canvas, f Figure, s Series, l look, x, y axis) {
	var run []point // joined points; a value without a position ends the line
	flush := func() {
		if len(run) > 1 && !s.Points {
			c.line(run, l.colour, lineWidth, l.dash)
		}
		run = nil
	}
	for i := range s.X {
		if f.Log && s.Y[i] <= 0 {
			flush()
			continue
		}
		run = append(run, point{x.at(s.X[i]), y.at(s.Y[i])})
	}
	flush()
	for i := range s.X {
		if f.Log && s.Y[i] <= 0 || !s.marked(i) {
			continue
		}
		at := point{x.at(s.X[i]), y.at(s.Y[i])}
		if i < len(s.Low) && (s.Low[i] > 0 || !f.Log) {
			c.line([]point{{at.x, y.at(s.Low[i])}, {at.x, y.at(s.High[i])}}, l.colour, 1, nil)
		}
		c.shape(l.shape.at(at), l.colour, l.hollow, fmt.Sprintf("%s: %s, %s", s.Name, f.nameAt(s.X[i]), shortNumber(s.Y[i])))
	}
}

// mostMarks is the largest number of points of a line of which each gets a mark.
const mostMarks = 60

// marked reports whether point i gets a mark: all points, or about mostMarks of a longer line.
func (s Series) marked(i int) bool {
	return s.Points || len(s.X) <= mostMarks || i%(len(s.X)/mostMarks) == 0
}

// legendEntry is one series in the legend.
type legendEntry struct {
	look
	text   string
	series int
	points bool
	column int // in characters
}

// legendLines arranges the names of series in lines.
func legendLines(series []Series) (lines [][]legendEntry) {
	if len(series) == 1 && series[0].Origin == "" {
		return nil // the title and the axes say it
	}
	used := legendChars + 1
	for k, s := range series {
		e := legendEntry{look: lookOf(series, k), text: s.Name, series: k, points: s.Points}
		if s.Origin != Measured && s.Origin != "" {
			e.text += " (" + string(s.Origin) + ")"
		}
		width := len([]rune(e.text)) + 8
		if used+width > legendChars {
			lines, used = append(lines, nil), 0
		}
		e.column = used
		used += width
		lines[len(lines)-1] = append(lines[len(lines)-1], e)
	}
	return lines
}

func drawLegend(c canvas, f Figure) {
	for i, line := range legendLines(f.Series) {
		y := float64(plotTop + plotHeight + belowPlot(f) + legendLine*i + 6)
		for _, e := range line {
			x := 12 + float64(e.column)*(chartWidth-12)/legendChars
			if f.Kind == Bars {
				drawBar(c, f.barOf(e.series), point{x + 6, y + 4}, point{x + 22, y - 4}, e.text)
				c.text(point{x + 28, y + 4}, start, e.text, plain)
				continue
			}
			if !e.points {
				c.line([]point{{x, y}, {x + 24, y}}, e.colour, lineWidth, e.dash)
			}
			c.shape(e.shape.at(point{x + 12, y}), e.colour, e.hollow, e.text)
			c.text(point{x + 28, y + 4}, start, e.text, plain)
		}
	}
}

// shortNumber formats a number in few characters.
func shortNumber(v float64) string {
	switch a := math.Abs(v); {
	case a >= 1e9:
		return fmt.Sprintf("%.3g", v)
	case a != 0 && a < 1e-3:
		digits, exponent, _ := strings.Cut(fmt.Sprintf("%.2e", v), "e")
		return strings.TrimRight(strings.TrimRight(digits, "0"), ".") + "e" + exponent
	case a >= 1e6:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", v/1e6), ".0") + "M"
	case a >= 1e4:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", v/1e3), ".0") + "k"
	}
	return fmt.Sprintf("%.4g", v)
}

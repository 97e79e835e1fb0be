package report

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// Sizes of a chart in its own units. A chart is narrow, so that its text stays
// readable on a phone, where it is shown at about this width.
const (
	chartWidth  = 360
	plotHeight  = 210
	plotLeft    = 52
	plotRight   = 10
	plotTop     = 26
	axisHeight  = 38 // numbers and label below the plot
	legendLine  = 15
	fontSize    = 11
	legendChars = 52 // that fit into a line of the legend
)

// colours tell series apart, also for most colour-blind people (Okabe and Ito,
// 2008).
var colours = []string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000", "#7f7f7f"}

// colourOf gives series of one name the same colour: ours and the paper's differ in
// their dashes.
func colourOf(series []Series, k int) string {
	seen := map[string]int{}
	for _, s := range series[:k+1] {
		if _, ok := seen[s.Name]; !ok {
			seen[s.Name] = len(seen)
		}
	}
	return colours[seen[series[k].Name]%len(colours)]
}

// axis maps values to places.
type axis struct {
	lo, hi   float64
	from, to float64
	log      bool
}

func (a axis) at(v float64) float64 {
	lo, hi := a.lo, a.hi
	if a.log {
		v, lo, hi = math.Log10(v), math.Log10(lo), math.Log10(hi)
	}
	return a.from + (v-lo)/(hi-lo)*(a.to-a.from)
}

// ticks are round values within the axis.
func (a axis) ticks() (t []float64) {
	if a.log {
		for d := math.Floor(math.Log10(a.lo)); d <= math.Ceil(math.Log10(a.hi)); d++ {
			if v := math.Pow(10, d); v >= a.lo*0.999 && v <= a.hi*1.001 {
				t = append(t, v)
			}
		}
		if len(t) >= 2 {
			return t
		}
		return []float64{a.lo, a.hi}
	}
	step := math.Pow(10, math.Floor(math.Log10((a.hi-a.lo)/2)))
	for _, f := range []float64{1, 2, 5, 10} {
		if (a.hi-a.lo)/(step*f) <= 8 {
			step *= f
			break
		}
	}
	for k := math.Ceil(a.lo/step - 1e-9); k*step <= a.hi*(1+1e-9); k++ {
		t = append(t, k*step)
	}
	return t
}

// axes finds the ranges of a figure.
func axes(f Figure) (x, y axis) {
	x, y = axis{lo: math.Inf(1), hi: math.Inf(-1)}, axis{lo: math.Inf(1), hi: math.Inf(-1), log: f.Log}
	widen := func(a *axis, vs []float64) {
		for _, v := range vs {
			if v > 0 || !f.Log {
				a.lo, a.hi = min(a.lo, v), max(a.hi, v)
			}
		}
	}
	for _, s := range f.Series {
		for _, v := range s.X {
			x.lo, x.hi = min(x.lo, v), max(x.hi, v)
		}
		widen(&y, s.Y)
		widen(&y, s.Low)
		widen(&y, s.High)
	}
	if math.IsInf(y.lo, 0) {
		x.lo, x.hi, y.lo, y.hi = 0, 1, 1, 10
	}
	switch {
	case f.Log:
		y.lo, y.hi = y.lo/1.2, y.hi*1.2
	case y.lo >= 0:
		y.lo, y.hi = 0, y.hi*1.05
	}
	if y.hi == y.lo {
		y.hi = y.lo + 1
	}
	if x.hi == x.lo {
		x.lo, x.hi = x.lo-0.5, x.hi+0.5
	}
	x.from, x.to = plotLeft, chartWidth-plotRight
	y.from, y.to = plotTop+plotHeight, plotTop
	return x, y
}

// SVG draws the figure. The text is a whole file, and fits into HTML as it is.
func SVG(f Figure) string {
	var b strings.Builder
	legend := legendLines(f.Series)
	height := plotTop + plotHeight + axisHeight + legendLine*len(legend) + 4
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-label="%s" font-family="sans-serif" font-size="%d">`+"\n",
		chartWidth, height, html.EscapeString(f.Title), fontSize)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="#fff"/>`+"\n", chartWidth, height)
	text(&b, chartWidth/2, 15, "middle", f.Title, `font-weight="bold"`)
	x, y := axes(f)
	drawAxes(&b, f, x, y)
	for k, s := range f.Series {
		drawSeries(&b, s, colourOf(f.Series, k), x, y, f.Log)
	}
	drawLegend(&b, legend, plotTop+plotHeight+axisHeight)
	b.WriteString("</svg>\n")
	return b.String()
}

func text(b *strings.Builder, x, y float64, anchor, s, more string) {
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f" text-anchor="%s" %s>%s</text>`+"\n", x, y, anchor, more, html.EscapeString(s))
}

func drawAxes(b *strings.Builder, f Figure, x, y axis) {
	for _, v := range y.ticks() {
		fmt.Fprintf(b, `<path d="M%.1f %.1fH%.1f" stroke="#ddd"/>`+"\n", x.from, y.at(v), x.to)
		text(b, x.from-4, y.at(v)+4, "end", shortNumber(v), "")
	}
	for _, v := range x.ticks() {
		fmt.Fprintf(b, `<path d="M%.1f %.1fv4" stroke="#444"/>`+"\n", x.at(v), y.from)
		text(b, x.at(v), y.from+16, "middle", shortNumber(v), "")
	}
	fmt.Fprintf(b, `<path d="M%.1f %.1fV%.1fH%.1f" fill="none" stroke="#444"/>`+"\n", x.from, y.to, y.from, x.to)
	text(b, (x.from+x.to)/2, y.from+31, "middle", f.XLabel, "")
	text(b, 0, 0, "middle", f.YLabel, fmt.Sprintf(`transform="translate(11 %.1f) rotate(-90)"`, (y.from+y.to)/2))
}

// dash tells origins apart: measured lines are whole.
func dash(o Origin) string {
	switch o {
	case Paper:
		return ` stroke-dasharray="2 3"`
	case Modelled:
		return ` stroke-dasharray="7 3"`
	}
	return ""
}

func drawSeries(b *strings.Builder, s Series, colour string, x, y axis, log bool) {
	var path strings.Builder
	var marks strings.Builder
	step := "M"
	for i := range s.X {
		if log && s.Y[i] <= 0 {
			step = "M"
			continue
		}
		px, py := x.at(s.X[i]), y.at(s.Y[i])
		fmt.Fprintf(&path, "%s%.1f %.1f", step, px, py)
		step = "L"
		fmt.Fprintf(&marks, `<circle cx="%.1f" cy="%.1f" r="2.4" fill="%s"><title>%s: %s, %s</title></circle>`+"\n",
			px, py, colour, html.EscapeString(s.Name), shortNumber(s.X[i]), shortNumber(s.Y[i]))
		if i < len(s.Low) && (s.Low[i] > 0 || !log) {
			fmt.Fprintf(&marks, `<path d="M%.1f %.1fV%.1f" stroke="%s"/>`+"\n", px, y.at(s.Low[i]), y.at(s.High[i]), colour)
		}
	}
	fmt.Fprintf(b, `<path d="%s" fill="none" stroke="%s" stroke-width="1.6"%s/>`+"\n%s", path.String(), colour, dash(s.Origin), marks.String())
}

// legendEntry is one series in the legend.
type legendEntry struct {
	text, colour string
	origin       Origin
	column       int // in characters
}

// legendLines arranges the names of series in lines.
func legendLines(series []Series) (lines [][]legendEntry) {
	used := legendChars + 1
	for k, s := range series {
		e := legendEntry{text: s.Name, colour: colourOf(series, k), origin: s.Origin}
		if s.Origin != Measured {
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

func drawLegend(b *strings.Builder, lines [][]legendEntry, top float64) {
	for i, line := range lines {
		y := top + float64(legendLine*i) + 10
		for _, e := range line {
			x := 12 + float64(e.column)*(chartWidth-12)/legendChars
			fmt.Fprintf(b, `<path d="M%.1f %.1fh24" stroke="%s" stroke-width="1.6"%s/><circle cx="%.1f" cy="%.1f" r="2.4" fill="%s"/>`+"\n",
				x, y-4, e.colour, dash(e.origin), x+12, y-4, e.colour)
			text(b, x+28, y, "start", e.text, "")
		}
	}
}

// shortNumber writes a number in few characters.
func shortNumber(v float64) string {
	switch a := math.Abs(v); {
	case a >= 1e9 || (a != 0 && a < 1e-3):
		return fmt.Sprintf("%.3g", v)
	case a >= 1e6:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", v/1e6), ".0") + "M"
	case a >= 1e4:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", v/1e3), ".0") + "k"
	}
	return fmt.Sprintf("%.4g", v)
}

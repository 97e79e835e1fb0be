package plot

import (
	"fmt"
	"slices"
)

// Span is a piece of time in a lane of a time line.
type Span struct {
	Lane       int     // index into Figure.Lanes
	Name       string  // what was done; spans of one name look the same
	Start, End float64 // seconds
	Note       string  // more about this span; may be empty
}

// Sizes of a time line.
const (
	timelineWidth = 960
	laneHeight    = 26
	spanHeight    = 18
	laneLetters   = 16 // letters of the name of a lane that are drawn
	legendColumns = 5
)

func timelineHeight(f Figure) int {
	return plotTop + laneHeight*max(len(f.Lanes), 1) + axisHeight + legendLine*legendRows(f) + 4
}

func legendRows(f Figure) int { return (len(spanNames(f)) + legendColumns - 1) / legendColumns }

// spanNames returns the names of spans in the order in which they first occur.
func spanNames(f Figure) (names []string) {
	seen := map[string]bool{}
	for _, s := range f.Spans {
		if !seen[s.Name] {
			seen[s.Name] = true
			names = append(names, s.Name)
		}
	}
	return names
}

// lookOfSpan returns the look of a name.
func (f Figure) lookOfSpan(name string, names []string) bar {
	if k := slices.Index(f.Looks, name); k >= 0 {
		return spanLook(k)
	}
	return spanLook(slices.Index(names, name))
}

// spanLook returns the colour and the hatch of the k-th name.
func spanLook(k int) bar {
	n := len(colours) - 2 // without black and grey
	return bar{colour: colours[k%n], hatch: hatch((k + k/n) % hatches)}
}

// drawTimeline draws a lane for each device, the spans, a time axis from 0 and the legend.
func drawTimeline(c canvas, f Figure) {
	names, letters, last := spanNames(f), 0, 0.0
	for _, l := range f.Lanes {
		letters = max(letters, len([]rune(cut(l, laneLetters))))
	}
	for _, s := range f.Spans {
		last = max(last, s.End)
	}
	unit, name := unitOf(last)
	x := axis{lo: 0, hi: max(last/unit, 1e-9), from: 14 + charWidth*float64(letters+1), to: timelineWidth - 16}
	bottom := float64(plotTop + laneHeight*max(len(f.Lanes), 1))
	for _, v := range x.ticks() {
		c.line([]point{{x.at(v), plotTop}, {x.at(v), bottom + 4}}, gridColour, 1, nil)
		c.text(point{x.at(v), bottom + 16}, middle, shortNumber(v), plain)
	}
	for i, l := range f.Lanes {
		y := plotTop + laneHeight*(float64(i)+0.5)
		c.text(point{x.from - 6, y + 4}, end, cut(l, laneLetters), plain)
		c.line([]point{{x.from, y + laneHeight/2}, {x.to, y + laneHeight/2}}, gridColour, 0.5, nil)
	}
	for _, s := range f.Spans {
		y := plotTop + laneHeight*float64(s.Lane) + (laneHeight-spanHeight)/2
		a, b := point{x.at(s.Start / unit), y}, point{x.at(s.End / unit), y + spanHeight}
		if b.x < a.x+0.8 { // too short to be seen
			b.x = a.x + 0.8
		}
		what := fmt.Sprintf("%s, %s: %s from %s", f.Lanes[s.Lane], s.Name, Seconds(s.End-s.Start), Seconds(s.Start))
		if s.Note != "" {
			what += ", " + s.Note
		}
		look := f.lookOfSpan(s.Name, names)
		if b.x-a.x < 3 {
			look.hatch = 0
		}
		drawBar(c, look, a, b, what)
	}
	c.line([]point{{x.from, plotTop}, {x.from, bottom}, {x.to, bottom}}, axisColour, 1, nil)
	c.text(point{(x.from + x.to) / 2, bottom + 31}, middle, name, plain)
	for k, n := range names {
		at := point{14 + float64(k%legendColumns)*(timelineWidth-28)/legendColumns, bottom + axisHeight + float64(legendLine*(k/legendColumns)) + 2}
		drawBar(c, f.lookOfSpan(n, names), at, point{at.x + 16, at.y + 9}, n)
		c.text(point{at.x + 21, at.y + 9}, start, cut(n, 28), plain)
	}
}

// cut returns s, or its first letters and an ellipsis.
func cut(s string, letters int) string {
	if r := []rune(s); len(r) > letters {
		return string(r[:letters-1]) + "…"
	}
	return s
}

// unitOf returns the unit in which times up to last are drawn.
func unitOf(last float64) (seconds float64, name string) {
	switch {
	case last < 1e-3:
		return 1e-6, "microseconds"
	case last < 1:
		return 1e-3, "milliseconds"
	}
	return 1, "seconds"
}

// Seconds formats a time.
func Seconds(s float64) string {
	switch {
	case s < 1e-6:
		return fmt.Sprintf("%.3g ns", s*1e9)
	case s < 1e-3:
		return fmt.Sprintf("%.3g us", s*1e6)
	case s < 1:
		return fmt.Sprintf("%.3g ms", s*1e3)
	}
	return fmt.Sprintf("%.4g s", s)
}

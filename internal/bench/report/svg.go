package report

import (
	"fmt"
	"html"
	"strings"
)

// SVG draws the figure. The text is a complete file and can be inserted into HTML.
func SVG(f Figure) string {
	var c svgCanvas
	height := chartHeight(f)
	fmt.Fprintf(&c, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-label="%s" font-family="sans-serif" font-size="%d">`+"\n",
		widthOf(f), height, html.EscapeString(f.Title), fontSize)
	fmt.Fprintf(&c, `<rect width="%d" height="%d" fill="#fff"/>`+"\n", widthOf(f), height)
	drawFigure(&c, f)
	c.WriteString("</svg>\n")
	return c.String()
}

// svgCanvas collects the elements of an SVG.
type svgCanvas struct{ strings.Builder }

// path returns the d attribute of a path element.
func path(points []point) string {
	var b strings.Builder
	step := "M"
	for _, p := range points {
		fmt.Fprintf(&b, "%s%.1f %.1f", step, p.x, p.y)
		step = "L"
	}
	return b.String()
}

func (c *svgCanvas) line(points []point, colour string, width float64, dash []float64) {
	fmt.Fprintf(c, `<path d="%s" fill="none" stroke="%s" stroke-width="%g"`, path(points), colour, width)
	if len(dash) > 0 {
		fmt.Fprintf(c, ` stroke-dasharray="%s"`, strings.Trim(fmt.Sprint(dash), "[]"))
	}
	c.WriteString("/>\n")
}

func (c *svgCanvas) shape(points []point, colour string, hollow bool, what string) {
	paint := fmt.Sprintf(`fill="%s"`, colour)
	if hollow {
		paint = fmt.Sprintf(`fill="#fff" stroke="%s"`, colour)
	}
	fmt.Fprintf(c, `<path d="%sZ" %s><title>%s</title></path>`+"\n", path(points), paint, html.EscapeString(what))
}

func (c *svgCanvas) text(at point, anchor anchor, s string, bold, up bool) {
	fmt.Fprintf(c, `<text text-anchor="%s"`, anchor)
	if bold {
		c.WriteString(` font-weight="bold"`)
	}
	if up {
		fmt.Fprintf(c, ` transform="translate(%.1f %.1f) rotate(-90)"`, at.x, at.y)
	} else {
		fmt.Fprintf(c, ` x="%.1f" y="%.1f"`, at.x, at.y)
	}
	fmt.Fprintf(c, ">%s</text>\n", html.EscapeString(s))
}

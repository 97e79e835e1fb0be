package plot

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"html"
	"image"
	"image/png"
	"strings"
)

// SVG draws the figure as a complete file, in black on white.
func SVG(f Figure) string { return drawSVG(f, false) }

// inlineSVG draws the figure for a page, whose style has the colours.
func inlineSVG(f Figure) string { return drawSVG(f, true) }

func drawSVG(f Figure, themed bool) string {
	c := svgCanvas{themed: themed}
	c.begin(widthOf(f), chartHeight(f), f.Title, f.Desc)
	drawFigure(&c, f)
	c.WriteString("</svg>\n")
	return c.String()
}

// svgCanvas collects the elements of an SVG.
type svgCanvas struct {
	strings.Builder
	themed bool // colours are variables of the page
}

// begin writes the start of the file: its size, the texts for readers who cannot see it, and the background.
func (c *svgCanvas) begin(width, height int, title, desc string) {
	label := title
	if desc != "" {
		label += ". " + desc
	}
	family := ` font-family="sans-serif"`
	if c.themed {
		family = ""
	}
	fmt.Fprintf(c, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-label="%s"%s font-size="%d">`+"\n",
		width, height, html.EscapeString(label), family, fontSize)
	if desc != "" && !c.themed {
		fmt.Fprintf(c, "<title>%s</title>\n<desc>%s</desc>\n", html.EscapeString(title), html.EscapeString(desc))
	}
	fmt.Fprintf(c, `<rect width="%d" height="%d" %s/>`+"\n", width, height, c.paint("fill", paperColour))
}

// paint returns an attribute that sets fill or stroke to a colour.
func (c *svgCanvas) paint(what, colour string) string {
	if name := variable(colour); name != "" && c.themed {
		return fmt.Sprintf(`style="%s:var(%s)"`, what, name)
	}
	return fmt.Sprintf(`%s="%s"`, what, colour)
}

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
	fmt.Fprintf(c, `<path d="%s" fill="none" %s stroke-width="%g"`, path(points), c.paint("stroke", colour), width)
	if len(dash) > 0 {
		fmt.Fprintf(c, ` stroke-dasharray="%s"`, strings.Trim(fmt.Sprint(dash), "[]"))
	}
	c.WriteString("/>\n")
}

func (c *svgCanvas) shape(points []point, colour string, hollow bool, what string) {
	paint := c.paint("fill", colour)
	if hollow {
		if c.themed {
			paint = fmt.Sprintf(`style="fill:var(%s);stroke:var(%s)"`, variable(paperColour), variable(colour))
		} else {
			paint = fmt.Sprintf(`fill="%s" stroke="%s"`, paperColour, colour)
		}
	}
	fmt.Fprintf(c, `<path d="%sZ" %s`, path(points), paint)
	if what == "" {
		c.WriteString("/>\n")
		return
	}
	fmt.Fprintf(c, "><title>%s</title></path>\n", html.EscapeString(what))
}

func (c *svgCanvas) text(at point, anchor anchor, s string, style style) {
	fmt.Fprintf(c, `<text text-anchor="%s"`, anchor)
	if style&bold != 0 {
		c.WriteString(` font-weight="bold"`)
	}
	if style&onCell == 0 && c.themed {
		c.WriteString(" " + c.paint("fill", inkColour))
	}
	if style&up != 0 {
		fmt.Fprintf(c, ` transform="translate(%.1f %.1f) rotate(-90)"`, at.x, at.y)
	} else {
		fmt.Fprintf(c, ` x="%.1f" y="%.1f"`, at.x, at.y)
	}
	fmt.Fprintf(c, ">%s</text>\n", html.EscapeString(s))
}

func (c *svgCanvas) image(a, b point, img image.Image, smooth bool) {
	var data bytes.Buffer
	if err := png.Encode(&data, img); err != nil { // an image of at least one pixel in memory can be encoded
		panic(err)
	}
	class, rendering := "", ""
	if c.themed {
		class = ` class="image"`
	}
	if !smooth {
		rendering = ` style="image-rendering:pixelated"`
	}
	fmt.Fprintf(c, `<image x="%.1f" y="%.1f" width="%.1f" height="%.1f" preserveAspectRatio="none"%s%s href="data:image/png;base64,%s"/>`+"\n",
		a.x, a.y, b.x-a.x, b.y-a.y, class, rendering, base64.StdEncoding.EncodeToString(data.Bytes()))
}

package plot

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"math"
	"sync"

	xdraw "golang.org/x/image/draw"
	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"
)

// pngScale is the number of pixels per unit of the chart, enough for print.
const pngScale = 3

// PNG draws the figure like SVG, as an image 1080 pixels wide, or wider for many names.
func PNG(w io.Writer, f Figure) error {
	c, err := newPNGCanvas(widthOf(f), chartHeight(f))
	if err != nil {
		return err
	}
	drawFigure(c, f)
	return png.Encode(w, c.img)
}

// newPNGCanvas returns a white canvas.
func newPNGCanvas(width, height int) (*pngCanvas, error) {
	faces, err := pngFaces()
	if err != nil {
		return nil, err
	}
	c := &pngCanvas{faces: faces, img: image.NewRGBA(image.Rect(0, 0, pngScale*width, pngScale*height))}
	draw.Draw(c.img, c.img.Bounds(), image.White, image.Point{}, draw.Src)
	return c, nil
}

// pngFaces opens the regular and the bold font, which are part of the program. A face has a buffer, so one goroutine
// at a time may use it.
func pngFaces() (faces [2]font.Face, err error) {
	fonts, err := pngFonts()
	if err != nil {
		return faces, err
	}
	for i, f := range fonts {
		// At 72 dpi a point is a pixel.
		if faces[i], err = opentype.NewFace(f, &opentype.FaceOptions{Size: pngScale * fontSize, DPI: 72}); err != nil {
			return faces, err
		}
	}
	return faces, nil
}

var pngFonts = sync.OnceValues(func() (fonts [2]*opentype.Font, err error) {
	for i, data := range [][]byte{goregular.TTF, gobold.TTF} {
		if fonts[i], err = opentype.Parse(data); err != nil {
			return fonts, err
		}
	}
	return fonts, nil
})

// pngCanvas draws into an image.
type pngCanvas struct {
	img   *image.RGBA
	faces [2]font.Face
}

// ink returns paperColour, or a colour written as #rrggbb.
func ink(colour string) color.RGBA {
	if colour == paperColour {
		return color.RGBA{255, 255, 255, 255}
	}
	c := color.RGBA{A: 255}
	fmt.Sscanf(colour, "#%02x%02x%02x", &c.R, &c.G, &c.B)
	return c
}

// fill fills a polygon with corners in pixels.
func (c *pngCanvas) fill(p []point, colour color.RGBA) {
	lo, hi := p[0], p[0]
	for _, q := range p {
		lo, hi = point{min(lo.x, q.x), min(lo.y, q.y)}, point{max(hi.x, q.x), max(hi.y, q.y)}
	}
	box := image.Rect(int(math.Floor(lo.x)), int(math.Floor(lo.y)), int(math.Ceil(hi.x))+1, int(math.Ceil(hi.y))+1)
	r := vector.NewRasterizer(box.Dx(), box.Dy()) // the smallest rasterizer that holds the polygon
	at := func(q point) (x, y float32) {
		return float32(q.x - float64(box.Min.X)), float32(q.y - float64(box.Min.Y))
	}
	r.MoveTo(at(p[0]))
	for _, q := range p[1:] {
		r.LineTo(at(q))
	}
	r.ClosePath()
	r.Draw(c.img, box, image.NewUniform(colour), image.Point{})
}

// pixels scales points to pixels.
func pixels(points []point) []point {
	out := make([]point, len(points))
	for i, p := range points {
		out[i] = point{pngScale * p.x, pngScale * p.y}
	}
	return out
}

func (c *pngCanvas) line(points []point, colour string, width float64, dash []float64) {
	scaled := make([]float64, len(dash))
	for i, d := range dash {
		scaled[i] = pngScale * d
	}
	for _, s := range dashed(pixels(points), scaled) {
		c.segment(s[0], s[1], ink(colour), pngScale*width)
	}
}

// segment draws a straight line that extends beyond its ends by half its width, which closes the corners of a line.
func (c *pngCanvas) segment(a, b point, colour color.RGBA, width float64) {
	length := math.Hypot(b.x-a.x, b.y-a.y)
	if length == 0 {
		return
	}
	u := point{(b.x - a.x) / length * width / 2, (b.y - a.y) / length * width / 2}
	a, b = point{a.x - u.x/2, a.y - u.y/2}, point{b.x + u.x/2, b.y + u.y/2}
	c.fill([]point{{a.x - u.y, a.y + u.x}, {b.x - u.y, b.y + u.x}, {b.x + u.y, b.y - u.x}, {a.x + u.y, a.y - u.x}}, colour)
}

// dashed cuts the line through points into the straight pieces that are drawn.
func dashed(points []point, dash []float64) (pieces [][2]point) {
	on, left, k := true, math.Inf(1), 0
	if len(dash) > 0 {
		left = dash[0]
	}
	for i := 1; i < len(points); i++ {
		a, b := points[i-1], points[i]
		for {
			length := math.Hypot(b.x-a.x, b.y-a.y)
			part := min(left, length)
			next := b
			if part < length {
				next = point{a.x + (b.x-a.x)*part/length, a.y + (b.y-a.y)*part/length}
			}
			if on && part > 0 {
				pieces = append(pieces, [2]point{a, next})
			}
			left -= part
			if left > 0 {
				break
			}
			k++
			on, left = !on, dash[k%len(dash)]
			if a = next; next == b {
				break
			}
		}
	}
	return pieces
}

func (c *pngCanvas) shape(points []point, colour string, hollow bool, _ string) {
	p := pixels(points)
	if !hollow {
		c.fill(p, ink(colour))
		return
	}
	c.fill(p, color.RGBA{255, 255, 255, 255})
	for i := range p {
		c.segment(p[i], p[(i+1)%len(p)], ink(colour), pngScale)
	}
}

func (c *pngCanvas) text(at point, anchor anchor, s string, style style) {
	face := c.faces[0]
	if style&bold != 0 {
		face = c.faces[1]
	}
	// The text is drawn into a mask first, with the baseline at ascent.
	m := face.Metrics()
	width, ascent := font.MeasureString(face, s).Ceil(), m.Ascent.Ceil()
	mask := image.NewAlpha(image.Rect(0, 0, width, ascent+m.Descent.Ceil()))
	d := font.Drawer{Dst: mask, Src: image.Opaque, Face: face, Dot: fixed.P(0, ascent)}
	d.DrawString(s)
	shift := map[bool]int{true: width / 2}[anchor == middle] + map[bool]int{true: width}[anchor == end]
	x, y := int(pngScale*at.x), int(pngScale*at.y)
	to := image.Pt(x-shift, y-ascent)
	if style&up != 0 {
		mask = rotated(mask)
		to = image.Pt(x-ascent, y-width+shift)
	}
	draw.DrawMask(c.img, mask.Bounds().Add(to), image.NewUniform(ink(inkColour)), image.Point{}, mask, image.Point{}, draw.Over)
}

func (c *pngCanvas) image(a, b point, img image.Image, smooth bool) {
	box := image.Rect(int(math.Round(pngScale*a.x)), int(math.Round(pngScale*a.y)), int(math.Round(pngScale*b.x)), int(math.Round(pngScale*b.y)))
	var scaler xdraw.Scaler = xdraw.NearestNeighbor
	if smooth {
		scaler = xdraw.ApproxBiLinear
	}
	scaler.Scale(c.img, box, img, img.Bounds(), xdraw.Over, nil)
}

// rotated returns the mask rotated by a quarter turn to the left.
func rotated(m *image.Alpha) *image.Alpha {
	b := m.Bounds()
	out := image.NewAlpha(image.Rect(0, 0, b.Dy(), b.Dx()))
	for y := range b.Dy() {
		for x := range b.Dx() {
			out.SetAlpha(y, b.Dx()-1-x, m.AlphaAt(x, y))
		}
	}
	return out
}

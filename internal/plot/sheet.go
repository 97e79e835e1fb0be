package plot

import (
	"fmt"
	"image/png"
	"io"
	"path/filepath"
	"slices"
	"strings"
)

// Extensions are the file names that Writer knows.
var Extensions = []string{".html", ".png", ".svg"}

// Writer returns the function that writes a page in the format of a file name, or nil for another name: HTML, or the
// title, the facts and the figures in one PNG or SVG.
func Writer(path string) func(io.Writer, *Page) error {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".html":
		return HTML
	case ".png":
		return pagePNG
	case ".svg":
		return pageSVG
	}
	return nil
}

// Sizes of a page in one picture.
const (
	sheetColumns = 3
	sheetGap     = 16
	sheetTitle   = 34 // height of the title
	factLine     = 15
	factColumn   = 130
	factLetters  = 150
)

// sheet is a page in one picture: the facts, and the figures in columns, each in the shortest column so far.
type sheet struct {
	page          *Page
	figures       []Figure
	at            []point
	width, height int
}

func newSheet(p *Page) *sheet {
	s := &sheet{page: p}
	for _, section := range p.Sections {
		s.figures = append(s.figures, section.Figures...)
	}
	columns := min(max(len(s.figures), 1), sheetColumns)
	widths := make([]int, columns)
	for i, f := range s.figures {
		widths[i%columns] = max(widths[i%columns], widthOf(f))
	}
	widest := slices.Max(append(widths, chartWidth))
	bottoms := make([]int, columns)
	for i := range bottoms {
		bottoms[i] = sheetTitle + factLine*len(p.Facts) + sheetGap
	}
	for _, f := range s.figures {
		k := 0
		for i := range bottoms {
			if bottoms[i] < bottoms[k] {
				k = i
			}
		}
		s.at = append(s.at, point{float64(sheetGap + k*(widest+sheetGap)), float64(bottoms[k])})
		bottoms[k] += chartHeight(f) + sheetGap
	}
	s.width, s.height = sheetGap+columns*(widest+sheetGap), slices.Max(bottoms)
	return s
}

func (s *sheet) draw(c canvas) {
	c.text(point{sheetGap, 24}, start, s.page.Title, bold)
	letters := min(factLetters, int(float64(s.width-factColumn-2*sheetGap)/charWidth))
	for i, f := range s.page.Facts {
		y := float64(sheetTitle + factLine*i + 11)
		c.text(point{sheetGap, y}, start, f[0], plain)
		c.text(point{sheetGap + factColumn, y}, start, cut(f[1], letters), plain)
	}
	for i, f := range s.figures {
		drawFigure(moved{c, s.at[i]}, f)
	}
}

// pagePNG writes the page as one image.
func pagePNG(w io.Writer, p *Page) error {
	s := newSheet(p)
	c, err := newPNGCanvas(s.width, s.height)
	if err != nil {
		return err
	}
	s.draw(c)
	return png.Encode(w, c.img)
}

// pageSVG writes the page as one SVG.
func pageSVG(w io.Writer, p *Page) error {
	s := newSheet(p)
	var c svgCanvas
	c.begin(s.width, s.height, p.Title, s.describe())
	s.draw(&c)
	c.WriteString("</svg>\n")
	_, err := io.WriteString(w, c.String())
	return err
}

// describe returns the facts and the descriptions of the figures.
func (s *sheet) describe() string {
	var b strings.Builder
	for _, f := range s.page.Facts {
		fmt.Fprintf(&b, "%s: %s. ", f[0], f[1])
	}
	for _, f := range s.figures {
		fmt.Fprintf(&b, "%s. %s ", f.Title, f.Desc)
	}
	return strings.TrimSpace(b.String())
}

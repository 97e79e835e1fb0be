package plot

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"os"

	"github.com/msrep-go/msrep/internal/fileio"
	"github.com/msrep-go/msrep/sparse"
)

//go:embed page.html
var pageHTML string

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
	"svg":   func(f Figure) template.HTML { return template.HTML(inlineSVG(f)) }, //nolint:gosec // SVG escapes its texts
	"shade": shade,
	"wide":  wide,
	"main":  func(f Figure) bool { return f.Kind == Density },
}).Parse(pageHTML))

// mostNarrow is the largest width of a figure that a phone shows without scrolling, with readable text.
const mostNarrow = 440

// wide returns the width in pixels of a figure that fills a line of the page, else 0.
func wide(f Figure) int {
	if w := widthOf(f); w > mostNarrow {
		return w
	}
	return 0
}

// shade returns the style of a cell: blue, darker for a smaller number.
func shade(t Table, row, col int) template.CSS {
	if col == 0 || row >= len(t.Shade) || col-1 >= len(t.Shade[row]) {
		return ""
	}
	v := min(max(t.Shade[row][col-1], 0), 1)
	ink := "#000"
	if v < 0.45 {
		ink = "#fff"
	}
	return template.CSS(fmt.Sprintf("background:hsl(210 60%% %.0f%%);color:%s", 25+70*v, ink))
}

// HTML writes the page as one file with styles and figures.
func HTML(w io.Writer, p *Page) error { return pageTemplate.Execute(w, p) }

// Write writes report.html and the files of all figures and tables into dir, and makes dir if it is missing. Errors
// about dir are *sparse.InputError.
func Write(dir string, p *Page) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return &sparse.InputError{Err: err}
	}
	for _, s := range p.Sections {
		for _, f := range s.Figures {
			err := File(fileio.Inside(dir, f.Name+".svg"), func(w io.Writer) error {
				_, err := io.WriteString(w, SVG(f))
				return err
			})
			if err != nil {
				return err
			}
			if err := File(fileio.Inside(dir, f.Name+".png"), func(w io.Writer) error { return PNG(w, f) }); err != nil {
				return err
			}
			if err := File(fileio.Inside(dir, f.Name+".csv"), func(w io.Writer) error { return writeFigureCSV(w, f) }); err != nil {
				return err
			}
		}
		for _, t := range s.Tables {
			if err := File(fileio.Inside(dir, t.Name+".csv"), func(w io.Writer) error { return writeTableCSV(w, t) }); err != nil {
				return err
			}
		}
	}
	return File(fileio.Inside(dir, "report.html"), func(w io.Writer) error { return HTML(w, p) })
}

// File writes one file, which appears after write has succeeded.
func File(path string, write func(io.Writer) error) error {
	out, err := fileio.Create(path)
	if err != nil {
		return &sparse.InputError{Err: err}
	}
	defer out.Close()
	if err := write(out); err != nil {
		return err
	}
	return out.Commit()
}

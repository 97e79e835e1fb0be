package plot

import (
	"encoding/csv"
	"io"
	"regexp"
	"strconv"
)

// writeFigureCSV writes the points of a figure: series, origin, x, y, low, high. For a heat map the series is the
// name of the row.
func writeFigureCSV(w io.Writer, f Figure) error {
	c := csv.NewWriter(w)
	header := []string{"series", "origin", f.XLabel, f.YLabel, "low", "high"}
	if f.Kind == Heat {
		header[0], header[3] = f.YLabel, "value"
	}
	c.Write(header)
	for _, s := range f.Series {
		for i := range s.X {
			low, high := "", ""
			if i < len(s.Low) {
				low, high = exact(s.Low[i]), exact(s.High[i])
			}
			x := exact(s.X[i])
			if len(f.Names) > 0 {
				x = f.nameAt(s.X[i])
			}
			c.Write([]string{s.Name, string(s.Origin), x, exact(s.Y[i]), low, high})
		}
	}
	c.Flush()
	return c.Error()
}

// bracketed matches a number followed by text in brackets.
var bracketed = regexp.MustCompile(`^([-+.0-9e]+) \((.+)\)$`)

// writeTableCSV writes a table for programs: text in brackets after a number gets a separate column.
func writeTableCSV(w io.Writer, t Table) error {
	parted := map[int]bool{} // by column
	for _, row := range t.Rows {
		for j, cell := range row {
			parted[j] = parted[j] || bracketed.MatchString(cell)
		}
	}
	var header []string
	for j, name := range t.Header {
		if header = append(header, name); parted[j] {
			header = append(header, name+" in brackets")
		}
	}
	c := csv.NewWriter(w)
	c.Write(header)
	for _, row := range t.Rows {
		var cells []string
		for j, cell := range row {
			behind := ""
			if m := bracketed.FindStringSubmatch(cell); m != nil {
				cell, behind = m[1], m[2]
			}
			if cells = append(cells, cell); parted[j] {
				cells = append(cells, behind)
			}
		}
		c.Write(cells)
	}
	c.Flush()
	return c.Error()
}

func exact(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

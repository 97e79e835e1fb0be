package report

import (
	"encoding/csv"
	"io"
	"strconv"
)

// writeFigureCSV writes the points of a figure: series, origin, x, y, low, high.
func writeFigureCSV(w io.Writer, f Figure) error {
	c := csv.NewWriter(w)
	c.Write([]string{"series", "origin", f.XLabel, f.YLabel, "low", "high"})
	for _, s := range f.Series {
		for i := range s.X {
			low, high := "", ""
			if i < len(s.Low) {
				low, high = exact(s.Low[i]), exact(s.High[i])
			}
			c.Write([]string{s.Name, string(s.Origin), exact(s.X[i]), exact(s.Y[i]), low, high})
		}
	}
	c.Flush()
	return c.Error()
}

func writeTableCSV(w io.Writer, t Table) error {
	c := csv.NewWriter(w)
	c.Write(t.Header)
	c.WriteAll(t.Rows)
	return c.Error()
}

func exact(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

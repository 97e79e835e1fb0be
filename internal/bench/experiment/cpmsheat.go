package experiment

import (
	"fmt"

	"github.com/msrep-go/msrep/internal/bench/report"
)

// twice formats a speed-up over the paper's baseline and, in brackets, the speed-up over the strong baseline.
func twice(over, strong float64) string { return fmt.Sprintf("%.2f (%.2f)", over, strong) }

// heat returns a table of speed-ups with one row for each of rows.
func heat(name, title, corner string, header, rows []string, over, strong [][]float64) report.Table {
	t := report.Table{Name: name, Title: title, Origin: report.Measured, Header: append([]string{corner}, header...), Fold: true}
	most := 0.0
	for _, row := range over {
		for _, v := range row {
			most = max(most, v)
		}
	}
	for i := range rows {
		cells, shade := []string{rows[i]}, []float64{}
		for k, v := range over[i] {
			cells, shade = append(cells, twice(v, strong[i][k])), append(shade, v/most)
		}
		t.Rows, t.Shade = append(t.Rows, cells), append(t.Shade, shade)
	}
	return t
}

// transposed exchanges the rows and the columns of a table.
func transposed(t report.Table) report.Table {
	out := report.Table{Name: t.Name, Title: t.Title, Origin: t.Origin, Header: []string{t.Header[0]}, Fold: t.Fold}
	for _, row := range t.Rows {
		out.Header = append(out.Header, row[0])
	}
	for k := 1; k < len(t.Header); k++ {
		cells, shade := []string{t.Header[k]}, []float64{}
		for i, row := range t.Rows {
			cells, shade = append(cells, row[k]), append(shade, t.Shade[i][k-1])
		}
		out.Rows, out.Shade = append(out.Rows, cells), append(out.Shade, shade)
	}
	return out
}

// heatMap returns a figure of speed-ups: values[g][k] for graph g and row k.
func heatMap(name, title string, o report.Origin, graphs []report.Mark, yLabel string, rows []string, values [][]float64) report.Figure {
	f := report.Figure{Name: name, Title: title, Kind: report.Heat, XLabel: "graph", YLabel: yLabel, Names: graphs, Level: 1}
	for k, row := range rows {
		line := report.Series{Name: row, Origin: o}
		for g := range values {
			line.Add(float64(g+1), values[g][k])
		}
		f.Series = append(f.Series, line)
	}
	return f
}

// graphNames returns axis labels for the graphs and their mean, at first, first+step, ....
func graphNames(all []cpmsResults, first, step float64) (names []report.Mark) {
	for i := range all {
		names = append(names, report.Mark{X: first + step*float64(i), Label: all[i].short})
	}
	return append(names, report.Mark{X: first + step*float64(len(all)), Label: "mean"})
}

// picked returns the elements of v at the given indices.
func picked[T any](v []T, which []int) (out []T) {
	for _, k := range which {
		out = append(out, v[k])
	}
	return out
}

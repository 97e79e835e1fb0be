package experiment

import (
	"fmt"
	"slices"

	"github.com/msrep-go/msrep/internal/plot"
	segments "github.com/msrep-go/msrep/sparse/cpms"
)

// cpmsFigure9 reports the speed of products.
func cpmsFigure9(all []cpmsResults) plot.Section {
	sec := plot.Section{
		Name: "cpms-fig9", Title: "Figure 9: products on CPUs",
		Intro: []string{
			"Speed of y = A*x with values and x read with the given bits, over the same kernel with both in float64; in brackets, over the product without values. ell uses slices of 8 rows.",
			"The bytes of an entry bound the speed-up over fp64: 12/(4+b) with b bytes of the value, so 1.2, 1.5 and 2 at 48, 32 and 16 bits, and 3 without values. The traffic of x and y lowers the bound. Near columns take 2 bytes instead of 4 if those of a slice span less than 65536: then the bounds are 1.5, 2 and 3 at 48, 32 and 16 bits, over fp64 with 4-byte columns.",
			"The paper's Figure 9 is bars without numbers; its text compares the layouts.",
		},
	}
	const marginally = 1.1 // "at most marginally faster"
	var slow, near, fast, cells int
	for _, format := range cpmsFormats {
		cases := cpmsCases(format)[firstCase:]
		var names []string
		for _, c := range cases {
			names = append(names, c.name)
		}
		over, strong, rows := gains(all, func(r *cpmsResults) []float64 { return r.products[format] })
		means := over[len(over)-1]
		sec.Tables = append(sec.Tables, transposed(heat("cpms-fig9-"+format, format+": speed over fp64", "case", names, rows, over, strong)))
		for _, bank := range cpmsBanks {
			var which []int
			var labels []string
			for i, c := range cases {
				if c.layout.Segments != 0 && c.layout.Bank == bank && !c.near {
					which, labels = append(which, i), append(labels, fmt.Sprintf("%d, %d-seg", c.bits, c.layout.Segments))
				}
			}
			var values [][]float64
			for _, row := range over {
				values = append(values, picked(row, which))
			}
			sec.Figures = append(sec.Figures, heatMap(fmt.Sprintf("cpms-fig9-%s-%s", format, bankFile(bank)), fmt.Sprintf("Figure 9, %s, %s: over fp64", format, bankName(bank)),
				plot.Measured, graphNames(all, 1, 1), "bits that are read", labels, values))
		}
		at := func(row []float64, name string) float64 { return row[slices.Index(names, name)] }
		for _, row := range over[:len(all)] {
			cells++
			small, large, apart := at(row, "32 bits, 2-seg, 128 B"), at(row, "32 bits, 2-seg, 8 KiB"), at(row, "32 bits, 2-seg, separated")
			if small <= marginally {
				slow++
			}
			if large >= (1-sameWithin)*apart {
				near++
			}
			if apart > 1 {
				fast++
			}
		}
		sec.Remarks = append(sec.Remarks, fmt.Sprintf("%s, separated: %.2f at 32 of 64 bits in 2 segments (aim 1.35), %.2f at 16 bits (aim 1.6).",
			format, at(means, "32 bits, 2-seg, separated"), at(means, "16 bits, 4-seg, separated")))
	}
	sec.Remarks = append(sec.Remarks,
		holds("The paper, 32 bits in 2 segments: banks of 128 bytes are at most marginally faster than fp64 (up to 10 % here)", slow, cells),
		holds("Banks of 8 KiB are about as fast as separated segments (no more than 10 % slower)", near, cells),
		holds("Separated segments are faster than fp64", fast, cells))
	return sec
}

// bankFile returns the name of a layout in file names.
func bankFile(bank int) string {
	if bank == segments.Separated {
		return "separated"
	}
	return fmt.Sprintf("bank%d", bank)
}

// gains returns the cost of a product with plain values, and of one without values, over the cost of each case, with
// a row for each graph and one for the means.
func gains(all []cpmsResults, costs func(r *cpmsResults) []float64) (over, strong [][]float64, rows []string) {
	for _, r := range all {
		t := costs(&r)
		var a, b []float64
		for _, v := range t[firstCase:] {
			a, b = append(a, t[plainValues]/v), append(b, t[noValues]/v)
		}
		over, strong, rows = append(over, a), append(strong, b), append(rows, r.name)
	}
	return withMeans(over), withMeans(strong), append(rows, "geometric mean")
}

// twice formats a speed-up over the paper's baseline and, in brackets, the speed-up over the strong baseline.
func twice(over, strong float64) string { return fmt.Sprintf("%.2f (%.2f)", over, strong) }

// heat returns a table of speed-ups with one row for each of rows.
func heat(name, title, corner string, header, rows []string, over, strong [][]float64) plot.Table {
	t := plot.Table{Name: name, Title: title, Origin: plot.Measured, Header: append([]string{corner}, header...), Fold: true}
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
func transposed(t plot.Table) plot.Table {
	out := plot.Table{Name: t.Name, Title: t.Title, Origin: t.Origin, Header: []string{t.Header[0]}, Fold: t.Fold}
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
func heatMap(name, title string, o plot.Origin, graphs []plot.Mark, yLabel string, rows []string, values [][]float64) plot.Figure {
	f := plot.Figure{Name: name, Title: title, Kind: plot.Heat, XLabel: "graph", YLabel: yLabel, Names: graphs, Level: 1}
	for k, row := range rows {
		line := plot.Series{Name: row, Origin: o}
		for g := range values {
			line.Add(float64(g+1), values[g][k])
		}
		f.Series = append(f.Series, line)
	}
	return f
}

// graphNames returns axis labels for the graphs and their mean, at first, first+step, ....
func graphNames(all []cpmsResults, first, step float64) (names []plot.Mark) {
	for i := range all {
		names = append(names, plot.Mark{X: first + step*float64(i), Label: all[i].short})
	}
	return append(names, plot.Mark{X: first + step*float64(len(all)), Label: "mean"})
}

// picked returns the elements of v at the given indices.
func picked[T any](v []T, which []int) (out []T) {
	for _, k := range which {
		out = append(out, v[k])
	}
	return out
}

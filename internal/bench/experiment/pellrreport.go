package experiment

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/msrep-go/msrep/internal/bench"
	"github.com/msrep-go/msrep/internal/bench/paper"
	"github.com/msrep-go/msrep/internal/plot"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/ellpack"
)

// section returns the section of the report.
func (v *pellrView) section(from string) plot.Section {
	sec := plot.Section{Name: "pellr", Title: "The PELLR paper: formats of the ELLPACK family (its Figures 6 and 8 to 12)"}
	sec.Intro = []string{
		fmt.Sprintf("%d square matrices from %s, by sigma, the standard deviation (σ) of the lengths of their rows. A ratio above 1 says that PELLR is better.", len(v.matrices), from),
		"Matrices without values, or with integers, get random values (~). The text of the paper names 12 of the 20 matrices of its Table 1. Missing ones (*) are generated with the same numbers of rows and entries and with row lengths as in the text, in random order.",
		"The interpreter of the GPU kernels counts warp instructions and 32-byte sectors, each sector once per thread block, as they pass a first-level cache. These counts replace times if there is no GPU; they are not times.",
	}
	if v.place != "" {
		sec.Intro = append(sec.Intro, v.aboutTimes())
	}
	sec.Tables = []plot.Table{v.claimTable(), v.groupTable(), v.matrixTable()}
	named := v.ofTable1()
	if len(named.matrices) > 0 {
		sec.Tables = append(sec.Tables, named.table1())
	}
	for _, c := range v.measures() {
		sec.Tables = append(sec.Tables, v.costTable(c))
	}
	sec.Figures = append(named.figures("-table1", ", Table 1"), v.figures("", "")...)
	sec.Remarks = v.remarks()
	return sec
}

// figures returns all figures; name and title are appended to their names and titles.
func (v *pellrView) figures(name, title string) (figures []plot.Figure) {
	if len(v.matrices) == 0 {
		return nil
	}
	for _, f := range []struct {
		number string
		over   sparse.Format
	}{{"6", ellpack.FormatELLR}, {"8", ellpack.FormatHYB}, {"9", ellpack.FormatBiELL}, {"10", ellpack.FormatBiJAD}} {
		figures = append(figures, v.ratioFigure(f.number, f.over))
	}
	figures = append(figures, v.speedFigures("11", []sparse.Format{ellpack.FormatPELLR, ellpack.FormatHYB, ellpack.FormatBiELL, ellpack.FormatBiJAD})...)
	figures = append(figures, v.speedFigures("12", []sparse.Format{"csrv", ellpack.FormatJAD, ellpack.FormatELL, ellpack.FormatELLR, ellpack.FormatPELLR, ellpack.FormatHYB, "cucsr", sparse.FormatCSR})...)
	for i := range figures {
		figures[i].Name += name
		figures[i].Title += title
		figures[i].Names = v.names()
	}
	return figures
}

func (v *pellrView) aboutTimes() string {
	if strings.HasPrefix(v.place, "cuda") {
		return fmt.Sprintf("Times are kernel times on %s, the least of 15 rounds that alternate between the formats. cucsr is CSR with cuSPARSE's kernel, csr with our kernel, csrs and csrv with one thread and with half a warp per row.", v.place)
	}
	return fmt.Sprintf("Times are product times on %s, the least of 15 rounds that alternate between the formats. Later rounds skip formats that are far behind. On CPU devices csr and sell run in assembly, the other formats in plain Go with slices as wide as the vector registers: compare these with each other. The paper's GPU hides latency with many threads, a CPU does not.", v.place)
}

// remarks states, for each figure, which statements of the paper hold.
func (v *pellrView) remarks() (out []string) {
	for _, figure := range []string{"6", "8", "9", "10", "11, 12", "12"} {
		var found []string
		for _, c := range v.measures() {
			hold, of := 0, 0
			for _, claim := range pellrClaims {
				if x := claim.value(v, c); claim.figure == figure && !math.IsNaN(x) {
					of++
					if claim.holds(x) {
						hold++
					}
				}
			}
			if of > 0 {
				found = append(found, fmt.Sprintf("%d of %d by %s", hold, of, c.name))
			}
		}
		if len(found) > 0 {
			out = append(out, fmt.Sprintf("Figure %s: of the paper's statements in the first table hold %s.", figure, strings.Join(found, ", ")))
		}
	}
	return append(out,
		"The paper's figures are bars without numbers; the rings and dotted lines are the numbers that its text gives.",
		"The paper's GPU was a Quadro P600 with the vector x in the texture cache, and its HYB and CSR kernels were those of cuSPARSE 10. Our HYB kernel adds the COO part by segmented sums without atomics.",
	)
}

// groupTable has geometric means by sigma.
func (v *pellrView) groupTable() plot.Table {
	t := plot.Table{Name: "pellr-groups", Title: "Other formats over PELLR, geometric means", Header: []string{"format, measure", "sigma <= 3", "3 to 10", "> 10", "PELLR ahead"}}
	for _, f := range bench.PELLRFormats() {
		if f == ellpack.FormatPELLR {
			continue
		}
		for _, c := range v.measures() {
			n, of := v.ahead(c, f)
			if of == 0 {
				continue
			}
			row := []string{fmt.Sprintf("%s, %s", f, c.name)}
			for _, group := range [][2]float64{{-1, 3}, {3, 10}, {10, math.Inf(1)}} {
				row = append(row, orDash(v.mean(c, f, sigma(group[0], group[1]))))
			}
			t.Rows = append(t.Rows, append(row, fmt.Sprintf("%d of %d", n, of)))
		}
	}
	return t
}

// table1 is the paper's Table 1, as far as its text names matrices.
func (v *pellrView) table1() plot.Table {
	t := plot.Table{Name: "pellr-table1", Title: fmt.Sprintf("Table 1: %d of the paper's 20 matrices", len(v.matrices)), Header: []string{"matrix", "N", "nnz", "ave", "sigma", "max-min", "the paper's text", "from"}}
	for _, m := range v.matrices {
		p, _ := paper.FindPELLR(m.Name)
		from := "file"
		switch m.Source {
		case bench.Generated:
			from = p.Like + "; assumed but for what the text says"
		case bench.RandomValues:
			from = "file without values, random ones"
		}
		t.Rows = append(t.Rows, append(parameters(m), p.Says, from))
	}
	return t
}

// parameters returns the columns of Table 1.
func parameters(m bench.PELLRMatrix) []string {
	return []string{m.Name, fmt.Sprint(m.Rows), fmt.Sprint(m.NNZ), fmt.Sprintf("%.4g", m.Mean), fmt.Sprintf("%.4g", m.StdDev), fmt.Sprint(m.Spread)}
}

// matrixTable has the columns of Table 1 for all matrices.
func (v *pellrView) matrixTable() plot.Table {
	t := plot.Table{Name: "pellr-matrices", Title: "All matrices", Fold: true, Header: []string{"matrix", "N", "nnz", "ave", "sigma", "max-min", "from"}}
	for _, m := range v.matrices {
		from := m.Source
		if from == "" {
			from = "file"
		}
		t.Rows = append(t.Rows, append(parameters(m), from))
	}
	return t
}

// costTable has the cost of each format on each matrix.
func (v *pellrView) costTable(c pellrMeasure) plot.Table {
	t := plot.Table{
		Name: "pellr-" + strings.Fields(c.name)[0], Title: fmt.Sprintf("All formats: %s, %s of a product", c.name, c.unit), Origin: c.origin, Fold: true,
		Header: []string{"matrix"},
	}
	var formats []sparse.Format
	for _, f := range bench.PELLRFormats() {
		for i := range v.matrices {
			if _, ok := c.cost(&v.matrices[i], f); ok {
				formats = append(formats, f)
				t.Header = append(t.Header, string(f))
				break
			}
		}
	}
	for i := range v.matrices {
		row := []string{v.matrices[i].Name}
		for _, f := range formats {
			cost, ok := c.cost(&v.matrices[i], f)
			if !ok {
				cost = math.NaN()
			}
			row = append(row, orDash(cost))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// orDash formats a number, "-" if unknown.
func orDash(x float64) string {
	if math.IsNaN(x) {
		return "-"
	}
	return short(x)
}

// sigmaMarks returns the positions where sigma passes 3 and 10: one mark if both are the same.
func (v *pellrView) sigmaMarks() (marks []plot.Mark) {
	for _, limit := range []float64{3, 10} {
		i := slices.IndexFunc(v.matrices, func(m bench.PELLRMatrix) bool { return m.StdDev > limit })
		if i <= 0 {
			continue
		}
		m := plot.Mark{X: float64(i) + 0.5, Label: fmt.Sprintf("σ>%g", limit)}
		marks = append(slices.DeleteFunc(marks, func(o plot.Mark) bool { return o.X == m.X }), m)
	}
	return marks
}

const bySigma = "matrices, by sigma"

// ratioFigure is Figure 6, 8, 9 or 10.
func (v *pellrView) ratioFigure(number string, over sparse.Format) plot.Figure {
	f := plot.Figure{
		Name: "pellr-fig" + number, Title: fmt.Sprintf("Figure %s: PELLR over %s", number, strings.ToUpper(string(over))),
		XLabel: bySigma, YLabel: "cost of " + string(over) + " by cost of pellr", Log: true, Level: 1, Marks: v.sigmaMarks(),
	}
	for _, c := range v.measures() {
		s := plot.Series{Name: c.name, Origin: c.origin, Points: true}
		for i := range v.matrices {
			if r, ok := c.over(&v.matrices[i], over); ok {
				s.Add(float64(i+1), r)
			}
		}
		if len(s.X) > 0 {
			f.Series = append(f.Series, s)
		}
	}
	f.Series = append(f.Series, v.paperSeries(over)...)
	return f
}

// paperSeries returns the numbers in the paper's text about a format: averages as lines over the matrices that they
// cover, single matrices as rings.
func (v *pellrView) paperSeries(over sparse.Format) (out []plot.Series) {
	single := plot.Series{Name: "single matrices", Origin: plot.Paper, Points: true}
	for _, p := range paper.PELLRRatios {
		if p.Over != string(over) {
			continue
		}
		mean := plot.Series{Name: "averages", Origin: plot.Paper}
		for i := range v.matrices {
			m := &v.matrices[i]
			switch {
			case p.Matrix == m.Name:
				single.Add(float64(i+1), p.Ratio)
			case p.Matrix == "" && sigma(p.Low, p.High)(m):
				mean.Add(float64(i+1), p.Ratio)
			}
		}
		if n := len(mean.X); n > 1 {
			mean.X, mean.Y = []float64{mean.X[0], mean.X[n-1]}, []float64{p.Ratio, p.Ratio}
			mean.Name = fmt.Sprintf("average %g", p.Ratio)
			out = append(out, mean)
		}
	}
	if len(single.X) > 0 {
		out = append(out, single)
	}
	return out
}

// speedFigures is Figure 11 or 12: GFLOP/s as the paper counts them, 2 nnz over the time; and for the interpreter,
// which measures no time, the cost of an entry.
func (v *pellrView) speedFigures(number string, formats []sparse.Format) (figures []plot.Figure) {
	for _, c := range v.measures() {
		f := plot.Figure{Name: "pellr-fig" + number, Title: fmt.Sprintf("Figure %s: speed, %s", number, c.name), XLabel: bySigma, YLabel: "GFLOP/s", Log: true, Marks: v.sigmaMarks()}
		if c.origin == plot.Counted {
			f.Name += "-" + strings.Fields(c.name)[0]
			f.Title = fmt.Sprintf("Figure %s: %s, not time", number, c.name)
			f.YLabel = c.name + " per nonzero (less is better)"
		}
		for _, format := range formats {
			s := plot.Series{Name: string(format), Origin: c.origin, Points: true}
			for i := range v.matrices {
				m := &v.matrices[i]
				cost, ok := c.cost(m, format)
				if !ok {
					continue
				}
				y := cost / float64(m.NNZ)
				if c.origin == plot.Measured {
					y = 2e-3 * float64(m.NNZ) / cost // from microseconds
				}
				s.Add(float64(i+1), y)
			}
			if len(s.X) > 0 {
				f.Series = append(f.Series, s)
			}
		}
		figures = append(figures, f)
	}
	return figures
}

package experiment

import (
	"fmt"
	"math"
	"slices"

	"github.com/msrep-go/msrep/bench/paper"
	"github.com/msrep-go/msrep/bench/report"
	"github.com/msrep-go/msrep/solver"
)

// cpmsFigure9 is the speed of products.
func cpmsFigure9(all []cpmsResults) report.Section {
	sec := report.Section{
		Name: "cpms-fig9", Title: "Figure 9: products on CPUs",
		Intro: []string{
			"y = A*x with values and x read with so many bits, over the same kernel with both in float64; in brackets over the product without values. ell is kept in slices of 8 rows.",
			"Bytes of an entry bound the speed-up over fp64: 12/(4+b) with b bytes read, so 1.2, 1.5 and 2 at 48, 32 and 16 bits, and 3 without values; less what x and y take. Near columns take 2 bytes instead of 4 where those of a slice span less than 65536: then 1.5, 2 and 3 at 48, 32 and 16 bits, over the fp64 with 4.",
		},
	}
	for _, format := range cpmsFormats {
		cases := cpmsCases(format)[firstCase:]
		var names []string
		for _, c := range cases {
			names = append(names, c.name)
		}
		over, strong, rows := gains(all, func(r *cpmsResults) []float64 { return r.products[format] })
		means := over[len(over)-1]
		sec.Tables = append(sec.Tables, transposed(heat("cpms-fig9-"+format, format+": how many times as fast as fp64", "case", names, rows, over, strong)))
		f := report.Figure{Name: "cpms-fig9-" + format, Title: format + ": geometric means", XLabel: "bits that are read", YLabel: "speed-up over fp64"}
		for _, n := range []int{2, 4} {
			for _, bank := range cpmsBanks {
				line := report.Series{Name: fmt.Sprintf("%d-seg, %s", n, bankName(bank)), Origin: report.Measured}
				for i, c := range cases {
					if c.layout.Segments == n && c.layout.Bank == bank && !c.near {
						line.Add(float64(c.bits), means[i])
					}
				}
				f.Series = append(f.Series, line)
			}
		}
		sec.Figures = append(sec.Figures, f)
		at := func(name string) float64 { return means[slices.Index(names, name)] }
		sec.Remarks = append(sec.Remarks, fmt.Sprintf("%s, separated: %.2f at 32 of 64 bits in 2 segments (aim 1.35), %.2f at 16 bits (aim 1.6).",
			format, at("32 bits, 2-seg, separated"), at("16 bits, 4-seg, separated")))
	}
	sec.Remarks = append(sec.Remarks,
		"The paper on CPUs (Figure 9): banks of 128 bytes are at most marginally faster than fp64 at 32 bits; banks of 8 KiB are about as fast as separated segments.")
	return sec
}

// transposed turns a table with one row of names on top round.
func transposed(t report.Table) report.Table {
	out := report.Table{Name: t.Name, Title: t.Title, Origin: t.Origin, Header: []string{t.Header[0]}}
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

// cpmsFigure5 is where the time of PageRank goes.
func cpmsFigure5(all []cpmsResults) report.Section {
	sec := report.Section{
		Name: "cpms-fig5", Title: "Figure 5: the time of PageRank by precision",
		Intro: []string{"Time to 1e-10 with stored weights in separated segments, in hundredths of the time with fp64. A change is the normalisation of the ranks. The paper measured a GPU, with banks of 128 bytes."},
	}
	most := 0.0
	for _, format := range cpmsFormats {
		t := report.Table{Name: "cpms-fig5-" + format, Title: format, Origin: report.Measured, Header: []string{"graph, precision", "32 bits", "48 bits", "64 bits", "changes", "all"}}
		for _, r := range all {
			runs := r.ranked[format]
			base, _ := runs[storedFP64].to(1e-10)
			for _, p := range []solver.Precision{solver.FP64, solver.CPMS2, solver.CPMS4} {
				run := &runs[wayOf(p)]
				total, n := run.to(1e-10)
				row, rest := []string{r.name + ", " + string(p)}, total
				for _, b := range []int{32, 48, 64} {
					part := float64(n[b]) * run.iterate[b]
					rest -= part
					row = append(row, fmt.Sprintf("%.1f", 100*part/base))
				}
				most = max(most, rest/total)
				t.Rows = append(t.Rows, append(row, fmt.Sprintf("%.1f", 100*max(rest, 0)/base), fmt.Sprintf("%.1f", 100*total/base)))
			}
		}
		sec.Tables = append(sec.Tables, t)
	}
	sec.Remarks = []string{fmt.Sprintf("Changes of precision take at most %.1f %% of the time. Their number follows from Table 2.", 100*most)}
	return sec
}

// cpmsFigure6 is the time of PageRank over the tolerance.
func cpmsFigure6(all []cpmsResults) report.Section {
	sec := report.Section{
		Name: "cpms-fig6", Title: "Figure 6: the time of PageRank by the tolerance",
		Intro: []string{"csr, as in the paper; segments are separated. The line to beat is that of folded weights in fp64."},
	}
	for _, r := range all {
		f := report.Figure{Name: "cpms-fig6-" + r.name, Title: r.name, XLabel: "-log10 of the tolerance", YLabel: "seconds", Log: true}
		for _, way := range []int{storedFP64, foldedFP64, wayOf(solver.CPMS2), wayOf(solver.CPMS4)} {
			run := &r.ranked["csr"][way]
			line := report.Series{Name: run.way.name, Origin: report.Measured}
			for _, tol := range paper.CPMSThresholds {
				t, _ := run.to(tol)
				line.Add(-math.Log10(tol), t)
			}
			f.Series = append(f.Series, line)
		}
		sec.Figures = append(sec.Figures, f)
	}
	for _, p := range []solver.Precision{solver.CPMS2, solver.CPMS4} {
		over, _, _ := speedups(all, "csr", wayOf(p), onCPU)
		m := over[len(over)-1]
		sec.Remarks = append(sec.Remarks, fmt.Sprintf("%s is %.2f times as fast as fp64 to %.0e and %.2f times to %.0e, in the geometric mean. In the paper lower accuracy gains more.",
			p, m[0], paper.CPMSThresholds[0], m[len(m)-1], paper.CPMSThresholds[len(m)-1]))
	}
	return sec
}

// tolerances is the names of paper.CPMSThresholds, and -log10 of each.
func tolerances() (names []string, x []float64) {
	for _, tol := range paper.CPMSThresholds {
		names, x = append(names, fmt.Sprintf("%.0e", tol)), append(x, -math.Log10(tol))
	}
	return names, x
}

// paperFigure7a is the numbers that the paper prints in its Figure 7 (a), the tolerances
// over them, and their geometric means.
func paperFigure7a() (t report.Table, tols []string, means []float64) {
	tols, _ = tolerances()
	t = report.Table{Name: "cpms-fig7a-paper", Title: "Figure 7 (a) of the paper: GPU, csr, 2 segments in banks of 128 bytes",
		Origin: report.Paper, Header: append([]string{"graph"}, tols...)}
	rows := withMeans(slices.Clone(paper.CPMSFigure7a))
	for i, row := range rows {
		cells := []string{"geometric mean"}
		if i < len(paper.CPMSGraphs) {
			cells[0] = paper.CPMSGraphs[i].Short
		}
		for _, v := range row {
			cells = append(cells, fmt.Sprintf("%.2f", v))
		}
		t.Rows = append(t.Rows, cells)
	}
	return t, tols, rows[len(rows)-1]
}

// cpmsFigures10And11 is the heat maps, and their means as lines.
func cpmsFigures10And11(all []cpmsResults) report.Section {
	sec := report.Section{
		Name: "cpms-fig10", Title: "Figures 10 and 11: the speed-up of PageRank",
		Intro: []string{
			"Over stored weights in fp64 and indices of 4 bytes, the paper's baseline, and in brackets over folded weights in fp64 with indices of the same size. Figure 10 is csr, Figure 11 ell.",
			"Two kinds of ways are not the paper's. Folded: only the ranks have adaptive precision, because there are no values. Near (ell only): indices take 2 bytes where the nodes of a slice have neighbours with near numbers, so that values are a larger share of what is read.",
			"The lines are geometric means of all graphs over the paper's baseline; dotted is that of the paper's ten graphs on a GPU (csr, 2 segments in banks of 128 bytes, the numbers printed in its Figure 7). Figures 7 and 8 follow where there is a GPU.",
		},
	}
	theirs, tols, paperMeans := paperFigure7a()
	sec.Tables = append(sec.Tables, theirs)
	_, x := tolerances()
	means := map[string][][]float64{}
	for i, format := range cpmsFormats {
		f := report.Figure{Name: "cpms-fig10-" + format, Title: fmt.Sprintf("Figure %d, %s: geometric means", 10+i, format), XLabel: "-log10 of the tolerance", YLabel: "speed-up over stored fp64"}
		near := f
		near.Name, near.Title = f.Name+"-near", f.Title+", near indices"
		for w, way := range cpmsWays(format) {
			over, strong, rows := speedups(all, format, w, onCPU)
			if w == storedFP64 {
				means[format] = append(means[format], over[len(over)-1])
				continue
			}
			sec.Tables = append(sec.Tables, heat(fmt.Sprintf("cpms-fig%d-%d", 10+i, w), format+", "+way.name, "graph", tols, rows, over, strong))
			means[format] = append(means[format], over[len(over)-1])
			line := report.Series{Name: way.name, Origin: report.Measured, X: x, Y: over[len(over)-1]}
			switch {
			case !way.opt.WideIndices:
				near.Series = append(near.Series, line)
			case way.opt.Bank == 0:
				f.Series = append(f.Series, line)
			}
		}
		f.Series = append(f.Series, report.Series{Name: "stored cpms2, 128 B", Origin: report.Paper, X: x, Y: paperMeans})
		sec.Figures = append(sec.Figures, f)
		if len(near.Series) > 0 {
			sec.Figures = append(sec.Figures, near)
		}
	}
	at4, at10 := slices.Index(paper.CPMSThresholds, 1e-4), slices.Index(paper.CPMSThresholds, 1e-10)
	for _, format := range cpmsFormats {
		for w, way := range cpmsWays(format) {
			if way.opt.Precision == "" || way.opt.Bank != 0 {
				continue
			}
			m, strong := means[format][w], means[format][way.strong]
			sec.Remarks = append(sec.Remarks, fmt.Sprintf("%s, %s: geometric mean %s to 1e-4 and %s to 1e-10 (aims over the paper's baseline: 1.6 and 1.3; the paper: about 1.3 and 1.1).",
				format, way.name, twice(m[at4], m[at4]/strong[at4]), twice(m[at10], m[at10]/strong[at10])))
		}
	}
	return sec
}

// cpmsFigures7And8 is the heat maps of a GPU.
func cpmsFigures7And8(all []cpmsResults) report.Section {
	sec := report.Section{
		Name: "cpms-fig7", Title: "Figures 7 and 8: the speed-up of PageRank on a GPU",
		Intro: []string{"As above, on one GPU: weights in banks of 128 bytes, ranks on the device. Figure 7 is csr, Figure 8 ell."},
	}
	tols, _ := tolerances()
	at := slices.Index(paper.CPMSThresholds, 1e-10)
	for i, format := range cpmsFormats {
		for w, way := range cpmsGPUWays()[1:] {
			over, strong, rows := speedups(all, format, w+1, onGPU)
			sec.Tables = append(sec.Tables, heat(fmt.Sprintf("cpms-fig%d-%d", 7+i, w+1), format+", "+way.name, "graph", tols, rows, over, strong))
			last := len(rows) - 1
			sec.Remarks = append(sec.Remarks, fmt.Sprintf("%s, %s: geometric mean %s to 1e-10.", format, way.name, twice(over[last][at], strong[last][at])))
		}
	}
	return sec
}

// gains are how many times as much as each case of a product a product with plain
// values takes, and one without values: a row for each graph and one of means.
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

// onCPU and onGPU are the runs of a graph in a format.
func onCPU(r *cpmsResults, format string) []cpmsRun { return r.ranked[format] }

func onGPU(r *cpmsResults, format string) []cpmsRun { return r.onGPU[format] }

// speedups of a way over both baselines: a row for each graph and one of means, a
// column for each of paper.CPMSThresholds.
func speedups(all []cpmsResults, format string, way int, runsOf func(r *cpmsResults, format string) []cpmsRun) (over, strong [][]float64, rows []string) {
	for _, r := range all {
		runs := runsOf(&r, format)
		var a, b []float64
		for _, tol := range paper.CPMSThresholds {
			t, _ := runs[way].to(tol)
			base, _ := runs[storedFP64].to(tol)
			fold, _ := runs[runs[way].way.strong].to(tol)
			a, b = append(a, base/t), append(b, fold/t)
		}
		over, strong, rows = append(over, a), append(strong, b), append(rows, r.name)
	}
	return withMeans(over), withMeans(strong), append(rows, "geometric mean")
}

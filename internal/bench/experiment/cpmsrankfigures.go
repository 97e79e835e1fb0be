package experiment

import (
	"fmt"
	"math"
	"slices"

	"github.com/msrep-go/msrep/internal/bench/paper"
	"github.com/msrep-go/msrep/internal/plot"
	"github.com/msrep-go/msrep/solver/graph"
)

// cpmsFigure5 reports the parts of the time of PageRank.
func cpmsFigure5(all []cpmsResults) plot.Section {
	const tol = 1e-10
	sec := plot.Section{
		Name: "cpms-fig5", Title: "Figure 5: the time of PageRank by precision",
		Intro: []string{
			"Time to 1e-10 with stored weights in separated segments, in percent of the time with fp64. A change of precision is the normalisation of the ranks. The three bars of a graph are fp64, cpms2 and cpms4, from left to right.",
			"The paper measured a GPU, with banks of 128 bytes. Its bars have no numbers, but the bars of cpms2 in csr follow from the speed-ups printed in its Figure 7 (a): 100 over the speed-up.",
		},
	}
	most, totals := 0.0, map[string][]float64{} // of cpms2
	widths := []int{16, 32, 48, 64}
	for _, format := range cpmsFormats {
		t := plot.Table{Name: "cpms-fig5-" + format, Title: format, Origin: plot.Measured, Header: []string{"graph, precision", "16 bits", "32 bits", "48 bits", "64 bits", "changes", "all"}, Fold: true}
		f := plot.Figure{Name: "cpms-fig5-bars-" + format, Title: "Figure 5, " + format + ": time to 1e-10", Kind: plot.Bars, XLabel: "graph: fp64, cpms2, cpms4",
			YLabel: "percent of the time with fp64", Level: 100, Names: graphNames(all, 2, 4)[:len(all)]}
		parts := make([]plot.Series, len(widths)+1)
		for k, b := range widths {
			parts[k] = plot.Series{Name: fmt.Sprintf("%d bits", b), Origin: plot.Measured}
		}
		parts[len(widths)] = plot.Series{Name: "changes", Origin: plot.Measured}
		for g, r := range all {
			runs := r.ranked[format]
			base, _ := runs[storedFP64].to(tol)
			for bar, p := range []graph.Precision{graph.FP64, graph.CPMS2, graph.CPMS4} {
				run := &runs[wayOf(p)]
				total, n := run.to(tol)
				row, rest, x := []string{r.name + ", " + string(p)}, total, float64(4*g+bar+1)
				for k, b := range widths {
					part := float64(n[b]) * run.iterate[b]
					rest -= part
					row = append(row, fmt.Sprintf("%.1f", 100*part/base))
					parts[k].Add(x, 100*part/base)
				}
				rest = max(rest, 0)
				parts[len(widths)].Add(x, 100*rest/base)
				most = max(most, rest/total)
				t.Rows = append(t.Rows, append(row, fmt.Sprintf("%.1f", 100*rest/base), fmt.Sprintf("%.1f", 100*total/base)))
				if p == graph.CPMS2 {
					totals[format] = append(totals[format], 100*total/base)
				}
			}
		}
		for _, part := range parts {
			if slices.Max(part.Y) > 0 {
				f.Series = append(f.Series, part)
			}
		}
		sec.Tables, sec.Figures = append(sec.Tables, t), append(sec.Figures, f)
	}
	var theirs []float64
	at := slices.Index(paper.CPMSThresholds, tol)
	for _, row := range paper.CPMSFigure7a {
		theirs = append(theirs, row[at])
	}
	sec.Remarks = []string{
		fmt.Sprintf("csr, cpms2, 100 over the height of the bar, in the geometric mean: %s.", gainBeside(100/geometricMean(totals["csr"]), geometricMean(theirs))),
		fmt.Sprintf("Changes of precision take at most %.1f %% of the time. Their number follows from Table 2.", 100*most),
	}
	return sec
}

// cpmsFigure6 reports the time of PageRank by tolerance.
func cpmsFigure6(all []cpmsResults) plot.Section {
	sec := plot.Section{
		Name: "cpms-fig6", Title: "Figure 6: the time of PageRank by the tolerance",
		Intro: []string{"csr, as in the paper, with separated segments. The strong baseline is the line of folded weights in fp64."},
	}
	for _, r := range all {
		f := plot.Figure{Name: "cpms-fig6-" + r.name, Title: "Figure 6, csr: " + r.name, XLabel: "tolerance", YLabel: "seconds", Log: true, Names: toleranceMarks()}
		for _, way := range []int{storedFP64, foldedFP64, wayOf(graph.CPMS2), wayOf(graph.CPMS4)} {
			run := &r.ranked["csr"][way]
			line := plot.Series{Name: run.way.name, Origin: plot.Measured}
			for _, tol := range paper.CPMSThresholds {
				t, _ := run.to(tol)
				line.Add(-math.Log10(tol), t)
			}
			f.Series = append(f.Series, line)
		}
		sec.Figures = append(sec.Figures, f)
	}
	for _, p := range []graph.Precision{graph.CPMS2, graph.CPMS4} {
		over, _, _ := speedups(all, "csr", wayOf(p), onCPU)
		m, low, high := over[len(over)-1], 1, len(paper.CPMSThresholds)-1 // to 1e-4 and to 1e-12
		more := 0
		for _, row := range over[:len(all)] {
			if row[low] > row[high] {
				more++
			}
		}
		sec.Remarks = append(sec.Remarks, fmt.Sprintf("%s is %.2f times as fast as fp64 to %.0e and %.2f times to %.0e, in the geometric mean.",
			p, m[low], paper.CPMSThresholds[low], m[high], paper.CPMSThresholds[high]), holds("The paper, "+string(p)+": low accuracy gains more than high", more, len(all)))
	}
	return sec
}

// toleranceMarks returns labels for an axis of -log10 of the tolerance.
func toleranceMarks() (marks []plot.Mark) {
	names, x := tolerances()
	for i := range x {
		marks = append(marks, plot.Mark{X: x[i], Label: names[i]})
	}
	return marks
}

// tolerances returns the names of paper.CPMSThresholds, and -log10 of each.
func tolerances() (names []string, x []float64) {
	for _, tol := range paper.CPMSThresholds {
		names, x = append(names, fmt.Sprintf("%.0e", tol)), append(x, -math.Log10(tol))
	}
	return names, x
}

// figure7aWithMeans returns paper.CPMSFigure7a with a row of geometric means.
func figure7aWithMeans() [][]float64 { return withMeans(slices.Clone(paper.CPMSFigure7a)) }

// paperFigure7a returns the numbers printed in the paper's Figure 7 (a), the tolerances of its columns, and their
// geometric means.
func paperFigure7a() (t plot.Table, tols []string, means []float64) {
	tols, _ = tolerances()
	t = plot.Table{Name: "cpms-fig7a-paper", Title: "Figure 7 (a) of the paper: GPU, csr, 2 segments in banks of 128 bytes",
		Origin: plot.Paper, Header: append([]string{"graph"}, tols...)}
	rows := figure7aWithMeans()
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

// cpmsFigures10And11 reports the heat maps, and their means as lines.
func cpmsFigures10And11(all []cpmsResults) plot.Section {
	sec := plot.Section{
		Name: "cpms-fig10", Title: "Figures 10 and 11: the speed-up of PageRank",
		Intro: []string{
			"Speed-ups over the paper's baseline, stored weights in fp64 with 4-byte indices, and in brackets over folded weights in fp64 with indices of the same size. Figure 10 is csr, Figure 11 ell.",
			"Two kinds of ways are not in the paper. Folded: only the ranks have adaptive precision, because there are no values. Near (ell only): indices take 2 bytes if the nodes of a slice have neighbours with near numbers, so values are a larger fraction of the bytes read.",
			"The heat maps show speed-ups over the paper's baseline, the lines their geometric means over all graphs. The dotted line is the mean of the paper's ten graphs on a GPU (csr, 2 segments in banks of 128 bytes, the numbers printed in its Figure 7). Figures 7 and 8 follow if there is a GPU.",
		},
	}
	theirs, tols, paperMeans := paperFigure7a()
	theirs.Fold = true
	sec.Tables = append(sec.Tables, theirs)
	var shorts []plot.Mark
	for i, g := range paper.CPMSGraphs {
		shorts = append(shorts, plot.Mark{X: float64(i + 1), Label: g.Short})
	}
	shorts = append(shorts, plot.Mark{X: float64(len(shorts) + 1), Label: "mean"})
	sec.Figures = append(sec.Figures, heatMap("cpms-fig7a-paper-map", "Figure 7 (a) of the paper: GPU, csr, cpms2, 128 B", plot.Paper, shorts, "tolerance", tols, figure7aWithMeans()))
	_, x := tolerances()
	means := map[string][][]float64{}
	var lines []plot.Figure
	for i, format := range cpmsFormats {
		f := plot.Figure{Name: "cpms-fig10-" + format, Title: fmt.Sprintf("Figure %d, %s: geometric means", 10+i, format), XLabel: "tolerance", YLabel: "speed-up over stored fp64", Names: toleranceMarks()}
		near := f
		near.Name, near.Title = f.Name+"-near", f.Title+", near indices"
		for w, way := range cpmsWays(format, 0) {
			over, strong, rows := speedups(all, format, w, onCPU)
			means[format] = append(means[format], over[len(over)-1])
			if w == storedFP64 {
				continue
			}
			sec.Tables = append(sec.Tables, heat(fmt.Sprintf("cpms-fig%d-%d", 10+i, w), format+", "+way.name, "graph", tols, rows, over, strong))
			line := plot.Series{Name: way.name, Origin: plot.Measured, X: x, Y: over[len(over)-1]}
			switch {
			case !way.opt.WideIndices:
				near.Series = append(near.Series, line)
			case way.opt.Bank == 0:
				f.Series = append(f.Series, line)
			}
			if way.ofPaper() {
				sec.Figures = append(sec.Figures, heatMap(fmt.Sprintf("cpms-fig%d-map-%d", 10+i, w), fmt.Sprintf("Figure %d, %s, %s", 10+i, format, way.name),
					plot.Measured, graphNames(all, 1, 1), "tolerance", tols, over))
			}
		}
		f.Series = append(f.Series, plot.Series{Name: "stored cpms2, 128 B", Origin: plot.Paper, X: x, Y: paperMeans})
		lines = append(lines, f)
		if len(near.Series) > 0 {
			lines = append(lines, near)
		}
	}
	sec.Figures = append(sec.Figures, lines...)
	sec.Remarks = append(meansBeside(means), layoutsBeside(all)...)
	return sec
}

// ofPaper reports whether the way is in the paper's Figures 10 and 11.
func (w cpmsWay) ofPaper() bool {
	return w.opt.Precision != "" && w.opt.Weights == graph.WeightsStored && w.opt.WideIndices
}

// meansBeside compares the means of the ways with separated segments, by format, way and tolerance, with those in the
// paper's abstract.
func meansBeside(means map[string][][]float64) (remarks []string) {
	at4, at10 := slices.Index(paper.CPMSThresholds, 1e-4), slices.Index(paper.CPMSThresholds, 1e-10)
	for _, format := range cpmsFormats {
		for w, way := range cpmsWays(format, 0) {
			if way.opt.Precision == "" || way.opt.Bank != 0 {
				continue
			}
			m, strong := means[format][w], means[format][way.strong]
			remark := fmt.Sprintf("%s, %s: geometric mean %s to 1e-4 and %s to 1e-10 (aims over the paper's baseline: 1.6 and 1.3).",
				format, way.name, twice(m[at4], m[at4]/strong[at4]), twice(m[at10], m[at10]/strong[at10]))
			if way.ofPaper() {
				remark += fmt.Sprintf(" To 1e-4, %s; to 1e-10, %s.", gainBeside(m[at4], 1.3), gainBeside(m[at10], 1.1))
			}
			remarks = append(remarks, remark)
		}
	}
	return remarks
}

// layoutsBeside counts, over graphs and tolerances, how often the paper's statements about Figures 10 and 11 hold:
// separated segments beat banks, and 2 segments beat 4.
func layoutsBeside(all []cpmsResults) (remarks []string) {
	for _, format := range cpmsFormats {
		ways := cpmsWays(format, 0)
		apart, apartOf, two, twoOf := 0, 0, 0, 0
		for i, a := range ways {
			for k, b := range ways {
				if !a.ofPaper() || !b.ofPaper() || a.opt.Bank != 0 {
					continue
				}
				over, _, _ := speedups(all, format, i, onCPU)
				other, _, _ := speedups(all, format, k, onCPU)
				for g := range all {
					for t := range over[g] {
						faster := 0
						if over[g][t] > other[g][t] {
							faster = 1
						}
						switch {
						case a.opt.Precision == b.opt.Precision && b.opt.Bank != 0:
							apart, apartOf = apart+faster, apartOf+1
						case a.opt.Precision == graph.CPMS2 && b.opt.Precision == graph.CPMS4 && b.opt.Bank == 0:
							two, twoOf = two+faster, twoOf+1
						}
					}
				}
			}
		}
		remarks = append(remarks, holds("The paper, "+format+": separated segments are faster than banks", apart, apartOf),
			holds("The paper, "+format+", separated: 2 segments are faster than 4", two, twoOf))
	}
	return remarks
}

// cpmsFigures7And8 reports the heat maps of a GPU.
func cpmsFigures7And8(all []cpmsResults) plot.Section {
	sec := plot.Section{
		Name: "cpms-fig7", Title: "Figures 7 and 8: the speed-up of PageRank on a GPU",
		Intro: []string{"As above, on one GPU: weights in banks of 128 bytes, ranks on the device. Figure 7 is csr, Figure 8 ell."},
	}
	tols, _ := tolerances()
	at := slices.Index(paper.CPMSThresholds, 1e-10)
	for i, format := range cpmsFormats {
		for w, way := range cpmsGPUWays(0)[1:] {
			over, strong, rows := speedups(all, format, w+1, onGPU)
			sec.Tables = append(sec.Tables, heat(fmt.Sprintf("cpms-fig%d-%d", 7+i, w+1), format+", "+way.name, "graph", tols, rows, over, strong))
			if way.opt.Weights == graph.WeightsStored {
				sec.Figures = append(sec.Figures, heatMap(fmt.Sprintf("cpms-fig%d-map-%d", 7+i, w+1), fmt.Sprintf("Figure %d, %s, %s, 128 B", 7+i, format, way.name),
					plot.Measured, graphNames(all, 1, 1), "tolerance", tols, over))
			}
			last := len(rows) - 1
			remark := fmt.Sprintf("%s, %s: geometric mean %s to 1e-10.", format, way.name, twice(over[last][at], strong[last][at]))
			if format == "csr" && way.opt.Weights == graph.WeightsStored && way.opt.Precision == graph.CPMS2 {
				remark += " Figure 7 (a): " + gainBeside(over[last][at], figure7aWithMeans()[len(paper.CPMSFigure7a)][at]) + "."
			}
			sec.Remarks = append(sec.Remarks, remark)
		}
	}
	return sec
}

// onCPU and onGPU return the runs of a graph in a format.
func onCPU(r *cpmsResults, format string) []cpmsRun { return r.ranked[format] }

func onGPU(r *cpmsResults, format string) []cpmsRun { return r.onGPU[format] }

// speedups returns the speed-ups of a way over both baselines, with a row for each graph and one for the means, and a
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

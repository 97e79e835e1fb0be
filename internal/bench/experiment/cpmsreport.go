package experiment

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/msrep-go/msrep/internal/bench/paper"
	"github.com/msrep-go/msrep/internal/plot"
)

// cpmsSections returns the sections of the report.
func (s *Session) cpmsSections(all []cpmsResults, turns int) []plot.Section {
	list := []plot.Section{
		s.cpmsGraphSection(all, turns), cpmsFigure3(all), cpmsTable2(all), cpmsFigure4(all), cpmsFigure9(all), cpmsFigure5(all), cpmsFigure6(all),
		cpmsFigures10And11(all),
	}
	if len(all[0].onGPU) > 0 {
		list = append(list, cpmsFigures7And8(all))
	}
	return list
}

func (s *Session) cpmsGraphSection(all []cpmsResults, turns int) plot.Section {
	ours := plot.Table{Name: "cpms-graphs", Title: "The graphs", Origin: plot.Measured, Header: []string{"graph", "nodes", "links", "without links", "fp64, MB", "no values, MB", "stands for"}}
	least := int64(math.MaxInt64)
	for _, r := range all {
		bytes := 4*r.links + 16*int64(r.nodes)
		least = min(least, bytes)
		ours.Rows = append(ours.Rows, []string{r.name, fmt.Sprint(r.nodes), fmt.Sprint(r.links), fmt.Sprint(r.dangling),
			fmt.Sprintf("%.0f", float64(bytes+8*r.links)/1e6), fmt.Sprintf("%.0f", float64(bytes)/1e6), strings.Join(r.like, ", ")})
	}
	theirs := plot.Table{Name: "cpms-table1", Title: "Table 1 of the paper", Origin: plot.Paper, Header: []string{"graph", "nodes", "links", "without links"}}
	for _, g := range paper.CPMSGraphs {
		theirs.Rows = append(theirs.Rows, []string{g.Name + " (" + g.Short + ")", fmt.Sprint(g.Nodes), fmt.Sprint(g.Links), fmt.Sprint(g.Dangling)})
	}
	sec := plot.Section{
		Name: "cpms", Title: "CPMS: precision by segments, and PageRank",
		Intro: []string{
			fmt.Sprintf("Graphs of the families of the paper's Table 1 are generated with about %d links each (--entries times %d).", cpmsFactor*s.Entries, cpmsFactor),
			"Every speed-up is given twice: over the paper's baseline, the same program with float64 weights stored with the links, and in brackets over the strong baseline, whose links have no values because the weights are folded into the ranks. MB counts indices, values, x and y.",
			fmt.Sprintf("A time of PageRank is a sum over its iterations. Each iteration counts with the median time of the iterations that read the same bits, in the least disturbed of %d turns. The numbers of iterations are those of Table 2, with a damping factor of 0.85 and stored weights in csr. The times of an iteration are measured with a damping factor of %g, which needs far fewer iterations with the same reads. Rankings with 4 segments start with %d bits (--least-segment).", turns, timedDamping, cmp.Or(s.LeastSegment, 32)),
			"The paper measured a V100 and 48 cores of two Xeon 8168. Its Figures 4 to 6 and 8 to 11 are charts without numbers, so ours are compared with the statements in its text. Verdicts follow from the error: up to 10 % is reproduced, up to 25 % roughly reproduced.",
		},
		Tables: []plot.Table{ours, theirs},
	}
	if l3 := int64(s.Record.Machine.L3); least < 2*l3 {
		sec.Remarks = append(sec.Remarks, fmt.Sprintf("The graphs are too small for the caches: an iteration reads at least %.0f MB, and the third-level cache holds %.0f MB. Below twice the cache, part of the data stays in the cache; below the cache size, the figures only show that everything works.", float64(least)/1e6, float64(l3)/1e6))
	} else {
		sec.Remarks = append(sec.Remarks, fmt.Sprintf("An iteration reads at least %.0f MB; the third-level cache holds %.0f MB.", float64(least)/1e6, float64(l3)/1e6))
	}
	return sec
}

// cpmsTable2 reports the iterations to 1e-10.
func cpmsTable2(all []cpmsResults) plot.Section {
	const tol = 1e-10
	header := []string{"graph", "fp64", "cpms2: 32", "64", "total", "cpms4: 16", "32", "48", "64", "total"}
	theirs := plot.Table{Name: "cpms-table2-paper", Title: "Table 2 of the paper, as printed", Origin: plot.Paper, Header: header}
	for i, c := range paper.CPMSTable2 {
		theirs.Rows = append(theirs.Rows, counts(paper.CPMSGraphs[i].Short, c.FP64, c.CPMS2[0], c.CPMS2[1], paper.CPMSTable2Totals[i][0],
			c.CPMS4[0], c.CPMS4[1], c.CPMS4[2], c.CPMS4[3], paper.CPMSTable2Totals[i][1]))
	}
	ours := plot.Table{Name: "cpms-table2", Title: "Iterations here, with 16 bits first as in the paper", Origin: plot.Measured, Header: header}
	from32 := plot.Table{Name: "cpms-table2-32", Title: "Iterations here, with 32 bits first: the default", Origin: plot.Measured,
		Header: []string{"graph", "fp64", "cpms4: 32", "48", "64", "total"}}
	more := plot.Table{Name: "cpms-table2-more", Title: "Iterations more than with fp64", Header: []string{"graph", "cpms2", "cpms4 from 32", "cpms4 from 16", "of the paper", "fp64", "cpms2", "cpms4 from 16"}}
	var remarks []string
	most, mostBy16, least16, most16 := 0, 0, math.MaxInt, 0
	for _, r := range all {
		_, one := r.needs.to(readFP64, tol)
		two, total2 := r.needs.to(readCPMS2, tol)
		four, total4 := r.needs.to(readCPMS4, tol)
		by16, total16 := r.needs.to(readCPMS4By16, tol)
		most, mostBy16 = max(most, total2-one, total4-one), max(mostBy16, total16-one)
		least16, most16 = min(least16, by16[16]), max(most16, by16[16])
		ours.Rows = append(ours.Rows, counts(r.name, one, two[32], two[64], total2, by16[16], by16[32], by16[48], by16[64], total16))
		from32.Rows = append(from32.Rows, counts(r.name, one, four[32], four[48], four[64], total4))
		var fp64 []float64
		for i, short := range r.like {
			g := paperGraph(short)
			c, totals := paper.CPMSTable2[g], paper.CPMSTable2Totals[g]
			row := []string{"", "", "", "", short, fmt.Sprint(c.FP64), fmt.Sprintf("%+d", totals[0]-c.FP64), fmt.Sprintf("%+d", totals[1]-c.FP64)}
			if i == 0 {
				copy(row, []string{r.name, fmt.Sprintf("%+d", total2-one), fmt.Sprintf("%+d", total4-one), fmt.Sprintf("%+d", total16-one)})
			}
			more.Rows = append(more.Rows, row)
			fp64 = append(fp64, float64(c.FP64))
		}
		remarks = append(remarks, fmt.Sprintf("%s, iterations with fp64: %s.", r.name, beside(float64(one), geometricMean(fp64))))
	}
	return plot.Section{
		Name: "cpms-table2", Title: "Table 2: iterations by precision",
		Intro:  []string{"Iterations until the 1-norm of the difference is below 1e-10, by the bits of ranks and weights that they read."},
		Tables: []plot.Table{theirs, ours, from32, more},
		Remarks: append(remarks,
			fmt.Sprintf("Adaptive precision that begins with 32 bits needs at most %d iterations more than fp64 here; with 16 bits first at most %d more. The paper, with 16 bits first, has up to 24 more: with 4 bits of mantissa the start vector is inaccurate.", most, mostBy16),
			fmt.Sprintf("Iterations that read 16 bits: %d to %d here, 1 in the paper. Here one more reads them after the difference has come below 0.25 (4 times 2^-4), as step 1 of section 4.2 says; graphs whose first differences are larger need several.", least16, most16),
			"Misprints of the paper: the parts of Bub with 2 segments sum to 54, those of USA with 4 to 107.",
		),
	}
}

func counts(name string, n ...int) []string {
	row := []string{name}
	for _, v := range n {
		row = append(row, fmt.Sprint(v))
	}
	return row
}

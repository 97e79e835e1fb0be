package experiment

import (
	"fmt"
	"math"

	"github.com/msrep-go/msrep/bench/paper"
	"github.com/msrep-go/msrep/bench/report"
	"github.com/msrep-go/msrep/solver"
)

// cpmsSections is the report.
func (s *Session) cpmsSections(all []cpmsResults, turns int) []report.Section {
	list := []report.Section{
		s.cpmsGraphSection(all, turns), cpmsTable2(all), cpmsFigure4(all), cpmsFigure9(all), cpmsFigure5(all), cpmsFigure6(all),
		cpmsFigures10And11(all),
	}
	if len(all[0].onGPU) > 0 {
		list = append(list, cpmsFigures7And8(all))
	}
	return list
}

func (s *Session) cpmsGraphSection(all []cpmsResults, turns int) report.Section {
	ours := report.Table{Name: "cpms-graphs", Title: "The graphs", Origin: report.Measured, Header: []string{"graph", "nodes", "links", "fp64, MB", "no values, MB", "stands for"}}
	least := int64(math.MaxInt64)
	for _, r := range all {
		bytes := 4*r.links + 16*int64(r.nodes)
		least = min(least, bytes)
		ours.Rows = append(ours.Rows, []string{r.name, fmt.Sprint(r.nodes), fmt.Sprint(r.links),
			fmt.Sprintf("%.0f", float64(bytes+8*r.links)/1e6), fmt.Sprintf("%.0f", float64(bytes)/1e6), r.like})
	}
	theirs := report.Table{Name: "cpms-table1", Title: "Table 1 of the paper", Origin: report.Paper, Header: []string{"graph", "nodes", "links", "without links"}}
	for _, g := range paper.CPMSGraphs {
		theirs.Rows = append(theirs.Rows, []string{g.Name + " (" + g.Short + ")", fmt.Sprint(g.Nodes), fmt.Sprint(g.Links), fmt.Sprint(g.Dangling)})
	}
	sec := report.Section{
		Name: "cpms", Title: "CPMS: precision by segments, and PageRank",
		Intro: []string{
			fmt.Sprintf("Graphs of the families of the paper's Table 1 are generated with about %d links each (--entries times %d).", cpmsFactor*s.Entries, cpmsFactor),
			"Every speed-up is given twice: over the paper's baseline, which is the same program with weights in float64 stored with the links, and in brackets over the strong baseline, whose links have no values because the weights are folded into the ranks. MB are those of indices, values, x and y.",
			fmt.Sprintf("Times of PageRank are sums over its iterations, each with the median of those that read as many bits, in the less disturbed of %d turns of all ways.", turns),
			"The paper measured a V100 and 48 cores of two Xeon 8168. Its Figures 4 to 6 and 8 to 11 are charts without numbers: beside ours stands what its text says of them.",
		},
		Tables: []report.Table{ours, theirs},
	}
	if l3 := int64(s.Record.Machine.L3); least < 2*l3 {
		sec.Remarks = append(sec.Remarks, fmt.Sprintf("Not far enough beyond the caches: the least that an iteration reads is %.0f MB, the third-level cache holds %.0f MB. With less than twice as much, part of what reads least stays in the cache; with less than that cache the figures only show that everything works.", float64(least)/1e6, float64(l3)/1e6))
	} else {
		sec.Remarks = append(sec.Remarks, fmt.Sprintf("The least that an iteration reads is %.0f MB; the third-level cache holds %.0f MB.", float64(least)/1e6, float64(l3)/1e6))
	}
	return sec
}

// cpmsTable2 is the iterations to 1e-10.
func cpmsTable2(all []cpmsResults) report.Section {
	header := []string{"graph", "fp64", "cpms2: 32", "64", "total", "cpms4: 16", "32", "48", "64", "total"}
	theirs := report.Table{Name: "cpms-table2-paper", Title: "Table 2 of the paper, as printed", Origin: report.Paper, Header: header}
	for i, c := range paper.CPMSTable2 {
		theirs.Rows = append(theirs.Rows, counts(paper.CPMSGraphs[i].Short, c.FP64, c.CPMS2[0], c.CPMS2[1], paper.CPMSTable2Totals[i][0],
			c.CPMS4[0], c.CPMS4[1], c.CPMS4[2], c.CPMS4[3], paper.CPMSTable2Totals[i][1]))
	}
	ours := report.Table{Name: "cpms-table2", Title: "Iterations here", Origin: report.Measured, Header: header}
	most := 0
	for _, r := range all {
		runs := r.ranked[cpmsFormats[0]]
		of := func(p int) (n map[int]int, total int) {
			_, n = runs[p].to(1e-10)
			for _, v := range n {
				total += v
			}
			return n, total
		}
		_, one := of(storedFP64)
		two, total2 := of(wayOf(solver.CPMS2))
		four, total4 := of(wayOf(solver.CPMS4))
		most = max(most, total2-one, total4-one)
		ours.Rows = append(ours.Rows, counts(r.name, one, two[32], two[64], total2, four[16], four[32], four[48], four[64], total4))
	}
	return report.Section{
		Name: "cpms-table2", Title: "Table 2: iterations by precision",
		Intro:  []string{"Iterations until the 1-norm of the difference is below 1e-10, by the bits that they read of ranks and weights."},
		Tables: []report.Table{theirs, ours},
		Remarks: []string{
			fmt.Sprintf("Adaptive precision needs at most %d iterations more than fp64 here, in the paper up to 24 more: it begins with 16 bits, whose 4 bits of mantissa spoil the start vector, and we begin with 32.", max(most, 0)),
			"Misprints of the paper: the parts of Bub with 2 segments sum to 54, those of USA with 4 to 107.",
		},
	}
}

func counts(name string, n ...int) []string {
	row := []string{name}
	for _, v := range n {
		row = append(row, fmt.Sprint(v))
	}
	return row
}

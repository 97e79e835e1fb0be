package experiment

import (
	"fmt"
	"math"
	"slices"

	"github.com/msrep-go/msrep/internal/bench/paper"
	"github.com/msrep-go/msrep/internal/plot"
	"github.com/msrep-go/msrep/sparse"
)

// degreesOf counts the rows with k entries, for every k up to the longest row.
func degreesOf(a *sparse.CSR[float64]) (count []int64) {
	longest := int64(0)
	for i := range a.Rows {
		longest = max(longest, a.RowPtr[i+1]-a.RowPtr[i])
	}
	count = make([]int64, longest+1)
	for i := range a.Rows {
		count[a.RowPtr[i+1]-a.RowPtr[i]]++
	}
	return count
}

// reaching returns the fraction of the rows that have k entries or more, by k.
func reaching(count []int64) []float64 {
	share, rows := make([]float64, len(count)), int64(0)
	for k := len(count) - 1; k >= 0; k-- {
		rows += count[k]
		share[k] = float64(rows)
	}
	for k := range share {
		share[k] /= float64(rows)
	}
	return share
}

// paperGraph returns the index in Table 1 of the graph with an abbreviation.
func paperGraph(short string) int {
	return slices.IndexFunc(paper.CPMSGraphs, func(g paper.CPMSGraph) bool { return g.Short == short })
}

// cpmsFigure3 reports the distribution of links over the nodes.
func cpmsFigure3(all []cpmsResults) plot.Section {
	sec := plot.Section{
		Name: "cpms-fig3", Title: "Figure 3: how many links nodes have",
		Intro: []string{"The fraction of the nodes with at least the given number of links. The paper's chart has no numbers; its Table 1 has means and the numbers of nodes without links."},
	}
	f := plot.Figure{Name: "cpms-fig3", Title: "Figure 3: nodes with at least the given number of links", XLabel: "links of a node", YLabel: "fraction of the nodes", Log: true}
	table := plot.Table{Name: "cpms-fig3-means", Title: "Links of a node", Header: []string{"graph", "mean", "median", "most", "without links, %", "of the paper", "mean", "without links, %"}}
	longest := 1
	for _, r := range all {
		line := plot.Series{Name: r.name, Origin: plot.Measured}
		share := reaching(r.degrees)
		longest = max(longest, len(share)-1)
		median := 0
		for k, v := range share {
			if v > 0.5 {
				median = k
			}
			// Of a long line, draw few points: each is 1/12 larger than the one before.
			if k > 0 && (len(line.X) == 0 || k == len(share)-1 || math.Log10(float64(k)) > line.X[len(line.X)-1]+math.Log10(13.0/12)) {
				line.Add(math.Log10(float64(k)), v)
			}
		}
		f.Series = append(f.Series, line)
		for i, short := range r.like {
			g := paper.CPMSGraphs[paperGraph(short)]
			row := []string{"", "", "", "", "", short, fmt.Sprintf("%.1f", float64(g.Links)/float64(g.Nodes)), fmt.Sprintf("%.1f", 100*float64(g.Dangling)/float64(g.Nodes))}
			if i == 0 {
				copy(row, []string{r.name, fmt.Sprintf("%.1f", float64(r.links)/float64(r.nodes)), fmt.Sprint(median), fmt.Sprint(len(share) - 1),
					fmt.Sprintf("%.1f", 100*float64(r.dangling)/float64(r.nodes))})
			}
			table.Rows = append(table.Rows, row)
		}
	}
	for k := 1; k <= longest; k *= 10 {
		f.Names = append(f.Names, plot.Mark{X: math.Log10(float64(k)), Label: fmt.Sprint(k)})
	}
	sec.Figures, sec.Tables = []plot.Figure{f}, []plot.Table{table}
	for _, r := range all {
		var means []float64
		for _, short := range r.like {
			g := paper.CPMSGraphs[paperGraph(short)]
			means = append(means, float64(g.Links)/float64(g.Nodes))
		}
		sec.Remarks = append(sec.Remarks, fmt.Sprintf("%s, links of a node: %s.", r.name, beside(float64(r.links)/float64(r.nodes), geometricMean(means))))
	}
	return sec
}

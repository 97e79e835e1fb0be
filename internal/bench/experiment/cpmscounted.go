package experiment

import (
	"context"
	"fmt"
	"slices"

	"github.com/msrep-go/msrep/internal/bench"
	"github.com/msrep-go/msrep/internal/plot"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/ellpack"
	"github.com/msrep-go/msrep/sparse/gen"
)

// countedLinks is the number of links of the graphs whose products run on the interpreter.
const countedLinks = 20_000

// countedCases are the segments of values and x in the cases of Figure 4, after plain float64 and no values.
var countedCases = []kernels.Segments{{}, {Count: 2}, {Count: 2, Read: 1}, {Count: 2, Read: 2},
	{Count: 4, Read: 1}, {Count: 4, Read: 2}, {Count: 4, Read: 3}, {Count: 4, Read: 4}}

// countedName returns the label of a case in Figure 4.
func countedName(p kernels.Segments) string {
	switch {
	case p.Count == 0:
		return "fp64"
	case p.Read == 0:
		return "no values"
	}
	return fmt.Sprintf("%d bits, %d-seg", 64/p.Count*p.Read, p.Count)
}

// countCPMS counts the sectors of 32 bytes that products on a simulated GPU request, each once per thread block. It
// returns them by format, in the order of countedCases.
func countCPMS(ctx context.Context, spec string) (map[string][]float64, error) {
	a, _, err := gen.GenerateContext(ctx, spec, 0)
	if err != nil {
		return nil, err
	}
	out := map[string][]float64{}
	for _, format := range cpmsFormats {
		for _, p := range countedCases {
			sectors, err := countProduct(a, format, p)
			if err != nil {
				return nil, err
			}
			out[format] = append(out[format], float64(sectors))
		}
	}
	return out, ctx.Err()
}

// countProduct counts one product, with one thread per row as in the paper.
func countProduct(a *sparse.CSR[float64], format string, p kernels.Segments) (sectors int64, err error) {
	pack := kernels.Packing[float64]{Form: kernels.Form(format), Segments: p}
	if p.Count == 0 {
		pack.Form = map[string]kernels.Form{"csr": kernels.FormCSRScalar, "ell": kernels.Form(ellpack.FormatELLR)}[format]
	}
	if p.Count == 0 || p.Read > 0 {
		pack.Val = a.Val
	}
	n, err := bench.Interpret(a, pack, func(a kernels.Packed, x, y kernels.Array[float64]) kernels.Operation {
		if p.Count == 0 {
			return &kernels.MajorProductPacked[float64]{A: a, Alpha: 1, X: x, Y: y}
		}
		return &kernels.MajorProductSegments{A: a, Alpha: 1, X: kernels.SegmentVector{Val: x, Of: p.Count, Read: p.Read}, Y: kernels.SegmentVector{Val: y}}
	})
	return n.Distinct, err
}

// cpmsFigure4 reports the traffic on a GPU.
func cpmsFigure4(all []cpmsResults) plot.Section {
	sec := plot.Section{
		Name: "cpms-fig4", Title: "Figure 4: products on a GPU, by the bytes they move",
		Intro: []string{
			fmt.Sprintf("Counted, not timed: the GPU kernels run on an interpreter, with small graphs of the same families (about %d links). The figures are the number of 32-byte sectors that pass the first-level cache with fp64, over the number with segments; in brackets, the number without values over the number with segments. Values are in banks of 128 bytes and one thread sums a row, as in the paper.", countedLinks),
			"The paper measured times on a V100. Its text gives three means of the bars, drawn as outlines.",
		},
	}
	var names []string
	for _, p := range countedCases[firstCase:] {
		names = append(names, countedName(p))
	}
	for _, format := range cpmsFormats {
		over, strong, rows := gains(all, func(r *cpmsResults) []float64 { return r.counted[format] })
		table := heat("cpms-fig4-"+format, format+": sectors with fp64 by those of each case", "case", names, rows, over, strong)
		table.Origin = plot.Counted
		sec.Tables = append(sec.Tables, transposed(table))
		m := over[len(over)-1]
		sec.Figures = append(sec.Figures, figure4Bars(all, format, names, over))
		for _, c := range figure4Means {
			k := slices.Index(names, c.name)
			sec.Remarks = append(sec.Remarks, fmt.Sprintf("%s, %s: sectors %s.", format, c.name, gainBeside(m[k], c.mean)))
		}
	}
	return sec
}

// figure4Means are the statements in the text of the paper about Figure 4: 2 segments with 32 bits are about 1.5
// times as fast as fp64, 4 segments with 16 bits about 2 times, and 4 segments with 32 bits about 30 % slower than 2
// with 32 bits.
var figure4Means = []struct {
	name string
	mean float64
}{{"32 bits, 2-seg", 1.5}, {"16 bits, 4-seg", 2}, {"32 bits, 4-seg", 1.5 * 0.7}}

// figure4Bars draws the bars of a format: a group for each graph and one for the means, with the paper's means
// behind.
func figure4Bars(all []cpmsResults, format string, names []string, over [][]float64) plot.Figure {
	step := float64(len(names) + 1)
	f := plot.Figure{
		Name: "cpms-fig4-bars-" + format, Title: "Figure 4, " + format + ": traffic of products on a GPU", Kind: plot.Bars, Level: 1,
		XLabel: "graph", YLabel: "sectors with fp64 over those with segments", Names: graphNames(all, step/2, step),
	}
	for k, name := range names {
		line := plot.Series{Name: name, Origin: plot.Counted}
		for g := range over {
			line.Add(step*float64(g)+float64(k+1), over[g][k])
		}
		f.Series = append(f.Series, line)
	}
	for i, c := range figure4Means {
		line := plot.Series{Name: c.name, Origin: plot.Paper}
		line.Add(step*float64(len(over))+float64(i+1), c.mean)
		f.Series = append(f.Series, line)
	}
	f.Names = append(f.Names, plot.Mark{X: step*float64(len(over)) + 2, Label: "paper"})
	return f
}

package experiment

import (
	"context"
	"fmt"
	"strings"

	"github.com/msrep-go/msrep/bench/paper"
	"github.com/msrep-go/msrep/bench/report"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
)

// figure21 is the speed-up of the three strategies on one matrix, with all phases.
func figure21(ctx context.Context, s *Session) error {
	name := "msrep-fig21"
	sec := report.Section{Name: name, Title: "Figure 21: speed-up of the strategies (" + single + ")"}
	table := report.Table{Name: name + "-phases", Title: "All phases, milliseconds", Origin: s.origin(),
		Header: []string{"format, strategy", "devices", "partition", "h2d", "compute", "merge", "all", "compute + merge", "compute, of bandwidth"}}
	s.steps(len(formats) * len(strategies) * len(s.counts()))
	for _, format := range formats {
		one, err := s.phasesOf(ctx, name, run{matrix: single, format: format, strategy: msrep.Baseline, devices: 1})
		if err != nil {
			return err
		}
		all := report.Figure{Name: name + "-" + string(format), Title: strings.ToUpper(string(format)) + ": all phases, matrix copied each time", XLabel: "devices", YLabel: "speed-up"}
		stay := report.Figure{Name: name + "-" + string(format) + "-resident", Title: strings.ToUpper(string(format)) + ": compute and merge, matrix stays", XLabel: "devices", YLabel: "speed-up"}
		for _, strategy := range strategies {
			end, resident := report.Series{Name: string(strategy), Origin: s.origin()}, report.Series{Name: string(strategy), Origin: s.origin()}
			for _, n := range s.counts() {
				p, err := s.phasesOf(ctx, name, run{matrix: single, format: format, strategy: strategy, devices: n})
				if err != nil {
					return err
				}
				end.Add(float64(n), (one.total()-one.partition)/p.total())
				resident.Add(float64(n), one.resident()/p.resident())
				table.Rows = append(table.Rows, append(phaseRow(fmt.Sprintf("%s %s", format, strategy), n, p), s.ofBandwidth(format, p.compute)))
			}
			all.Series = append(all.Series, end, s.paperSpeedup(single, format, string(strategy), paperEndToEnd))
			stay.Series = append(stay.Series, resident, s.paperSpeedup(single, format, string(strategy), paperResident))
		}
		sec.Figures = append(sec.Figures, all, stay)
	}
	sec.Intro = append(s.about(s.paperPlatform(), single), "Speed-up is over the baseline on one device, without its partition, as in the paper. Two figures for each format: with all phases, as the paper plots, and with compute and merge only, as a solver sees it that multiplies again and again.")
	sec.Tables = []report.Table{table}
	sec.Remarks = speedupRemarks(s)
	s.Page.Sections = append(s.Page.Sections, sec)
	return nil
}

// ofBandwidth is the least that a product of the matrix must move by its time, as a
// share of the bandwidth that was measured in this run.
func (s *Session) ofBandwidth(f sparse.Format, seconds float64) string {
	speed, a := s.Record.Machine.Bandwidth, s.matrix.csr
	if s.platform != nil || len(s.gpus) > 0 || speed == 0 || seconds == 0 {
		return "-" // of a machine that is not this one, or of memory that was not measured
	}
	return fmt.Sprintf("%.2f", float64(leastBytes(f, a.Rows, a.Cols, a.NNZ()))/seconds/speed)
}

func phaseRow(what string, devices int, p phases) []string {
	row := []string{what, fmt.Sprint(devices)}
	for _, v := range []float64{p.partition, p.h2d, p.compute, p.merge, p.total(), p.resident()} {
		row = append(row, fmt.Sprintf("%.4g", 1e3*v))
	}
	return row
}

func speedupRemarks(s *Session) []string {
	r := []string{
		"The paper's headlines, 5.5 on 6 GPUs and 6.2 on 8, are those of HV15R with all phases, of which copying the matrix takes 66 to 98 %: they show the scaling of links more than that of products. On the DGX-1 pairs of GPUs share a link, so that copies get at most 4 times as fast.",
	}
	if s.platform == nil {
		r = append(r, fmt.Sprintf("On this machine %d cores set the limit. p-opt uses the matrix in place, so that its speed-up with all phases is mostly that of not copying; compute and merge beside it show what is left.", s.Record.Machine.Cores))
	}
	return r
}

// paperEndToEnd and paperResident are speed-ups of the authors' runs.
func paperEndToEnd(platform, matrix, format, strategy string, n int) float64 {
	return paper.Speedup(platform, matrix, format, strategy, n)
}

func paperResident(platform, matrix, format, strategy string, n int) float64 {
	one, ok := paper.Run(platform, matrix, format, "baseline", 1)
	run, ok2 := paper.Run(platform, matrix, format, strategy, n)
	if !ok || !ok2 {
		return 0
	}
	return (one.Compute + one.Merge) / (run.Compute + run.Merge)
}

// paperSpeedup is a series of the authors' speed-ups, for all GPUs that they had.
func (s *Session) paperSpeedup(matrix string, format sparse.Format, strategy string, of func(platform, matrix, format, strategy string, n int) float64) report.Series {
	return paperSeries(strategy, s.paperPlatform(), matrix, format, strategy, of)
}

func paperSeries(name, platform, matrix string, format sparse.Format, strategy string, of func(platform, matrix, format, strategy string, n int) float64) report.Series {
	series := report.Series{Name: name, Origin: report.Paper}
	for n := 1; n <= 8; n++ {
		if v := of(platform, matrix, string(format), strategy, n); v > 0 {
			series.Add(float64(n), v)
		}
	}
	return series
}

// sixMatrices is Figure 22 or 23: p-opt on the matrices of Table 2, beside the
// authors' runs on a platform.
func sixMatrices(name, platform string) func(context.Context, *Session) error {
	return func(ctx context.Context, s *Session) error {
		number := strings.TrimPrefix(name, "msrep-fig")
		sec := report.Section{Name: name, Title: fmt.Sprintf("Figure %s: speed-up on six matrices, beside %s", number, platform)}
		s.steps(len(formats) * len(paper.Matrices) * (len(s.counts()) + 1))
		means := report.Table{Name: name + "-means", Title: fmt.Sprintf("Speed-up with %d devices over the baseline on one", s.most),
			Header: []string{"matrix, format", "all phases, ours", "compute + merge, ours", "all phases, paper", "compute + merge, paper"}}
		ours, theirs := map[sparse.Format]*report.Figure{}, map[sparse.Format]*report.Figure{}
		speedups := map[sparse.Format][][]float64{}
		for _, format := range formats {
			title := strings.ToUpper(string(format))
			ours[format] = &report.Figure{Name: name + "-" + string(format), Title: title + ": p-opt, all phases", XLabel: "devices", YLabel: "speed-up"}
			theirs[format] = &report.Figure{Name: name + "-" + string(format) + "-paper", Title: title + ": p-opt, all phases, " + platform, XLabel: "GPUs", YLabel: "speed-up"}
		}
		var names []string
		for _, m := range paper.Matrices { // each is made once
			names = append(names, m.Name)
			for _, format := range formats {
				one, err := s.phasesOf(ctx, name, run{matrix: m.Name, format: format, strategy: msrep.Baseline, devices: 1})
				if err != nil {
					return err
				}
				series := report.Series{Name: m.Name, Origin: s.origin()}
				var last phases
				for _, n := range s.counts() {
					if last, err = s.phasesOf(ctx, name, run{matrix: m.Name, format: format, strategy: msrep.Optimized, devices: n}); err != nil {
						return err
					}
					series.Add(float64(n), (one.total()-one.partition)/last.total())
				}
				ours[format].Series = append(ours[format].Series, series)
				theirs[format].Series = append(theirs[format].Series, paperSeries(m.Name, platform, m.Name, format, "p-opt", paperEndToEnd))
				gpus := map[string]int{"dgx1": 8, "summit": 6}[platform]
				values := []float64{
					(one.total() - one.partition) / last.total(), one.resident() / last.resident(),
					paperEndToEnd(platform, m.Name, string(format), "p-opt", gpus), paperResident(platform, m.Name, string(format), "p-opt", gpus),
				}
				means.Rows = append(means.Rows, meanRow(m.Name+" "+string(format), values))
				speedups[format] = append(speedups[format], values)
			}
		}
		for _, format := range formats {
			means.Rows = append(means.Rows, meanRow("geometric mean "+string(format), columnMeans(speedups[format])))
			sec.Figures = append(sec.Figures, *ours[format], *theirs[format])
		}
		sec.Tables = []report.Table{means}
		sec.Intro = s.about(platform, names...)
		sec.Remarks = speedupRemarks(s)
		s.Page.Sections = append(s.Page.Sections, sec)
		return nil
	}
}

func meanRow(what string, values []float64) []string {
	row := []string{what}
	for _, v := range values {
		row = append(row, fmt.Sprintf("%.2f", v))
	}
	return row
}

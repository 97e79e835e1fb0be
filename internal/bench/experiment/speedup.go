package experiment

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/msrep-go/msrep/internal/bench/model"
	"github.com/msrep-go/msrep/internal/bench/paper"
	"github.com/msrep-go/msrep/internal/plot"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
)

// figure21 is the speed-up of the three strategies on one matrix, with all phases.
func figure21(ctx context.Context, s *Session) error {
	name := "msrep-fig21"
	sec := plot.Section{Name: name, Title: "Figure 21: speed-up of the strategies (" + single + ")"}
	table := plot.Table{Name: name + "-phases", Title: "All phases, milliseconds", Origin: s.origin(), Fold: s.platform != nil,
		Header: []string{"format, strategy", "devices", "partition", "h2d", "compute", "merge", "all", "compute + merge"}}
	if s.platform == nil {
		table.Header = append(table.Header, "compute, of bandwidth")
	}
	s.steps(len(formats) * len(strategies) * len(s.counts()))
	var left []string
	for _, format := range formats {
		one, err := s.phasesOf(ctx, name, run{matrix: single, format: format, strategy: msrep.Baseline, devices: 1})
		if err != nil {
			return err
		}
		all := plot.Figure{Name: name + "-" + string(format), Title: strings.ToUpper(string(format)) + ": all phases, matrix copied each time", XLabel: "devices", YLabel: "speed-up"}
		stay := plot.Figure{Name: name + "-" + string(format) + "-resident", Title: strings.ToUpper(string(format)) + ": compute and merge, matrix stays", XLabel: "devices", YLabel: "speed-up"}
		for _, strategy := range strategies {
			r := run{matrix: single, format: format, strategy: strategy}
			end, resident := plot.Series{Name: string(strategy), Origin: s.origin()}, plot.Series{Name: string(strategy), Origin: s.origin()}
			for _, n := range s.counts() {
				r.devices = n
				p, err := s.phasesOf(ctx, name, r)
				if err != nil {
					return err
				}
				end.Add(float64(n), one.withoutSplit()/p.total())
				resident.Add(float64(n), one.resident()/p.resident())
				row := phaseRow(fmt.Sprintf("%s %s", format, strategy), n, s.known(r, p))
				if s.platform == nil {
					row = append(row, s.ofBandwidth(format, p.compute))
				}
				table.Rows = append(table.Rows, row)
			}
			if s.drawn(r, model.Total) {
				all.Series = append(all.Series, end)
			} else {
				left = append(left, s.leftOut(r, model.Total))
			}
			if s.drawn(r, "compute", "merge") {
				stay.Series = append(stay.Series, resident)
			} else {
				left = append(left, s.leftOut(r, "compute", "merge")+" without copies")
			}
			all.Series = append(all.Series, s.paperSpeedup(single, format, string(strategy), paper.Speedup))
			stay.Series = append(stay.Series, s.paperSpeedup(single, format, string(strategy), paper.Resident))
		}
		sec.Figures = append(sec.Figures, widened(all), widened(stay))
	}
	sec.Intro = append(s.about(s.paperPlatform(), single), speedupRule, "Each format has two figures: with all phases, as in the paper, and with compute and merge only, as in a solver with many products.")
	claims, remarks := s.judgeFigure("21")
	sec.Tables = []plot.Table{claims, table}
	sec.Remarks = append(append(remarks, notDrawn(left)...), headlines()...)
	s.Page.Sections = append(s.Page.Sections, sec)
	return nil
}

// ofBandwidth returns the least bytes of a product over its time, as a fraction of the bandwidth measured in this
// run.
func (s *Session) ofBandwidth(f sparse.Format, seconds float64) string {
	speed, a := s.Record.Machine.Bandwidth, s.matrix.csr
	if len(s.gpus) > 0 || speed == 0 || seconds == 0 {
		return "-" // the memory of the device was not measured
	}
	bytes := leastBytes(f, a.Rows, a.Cols, a.NNZ())
	if where := s.cached(bytes); where != "" {
		return where
	}
	return fmt.Sprintf("%.2f", float64(bytes)/seconds/speed)
}

// widened gives the figure a logarithmic axis if its values differ so much that the lower ones would coincide.
func widened(f plot.Figure) plot.Figure {
	low, high := math.Inf(1), 0.0
	for _, line := range f.Series {
		for _, v := range line.Y {
			low, high = min(low, v), max(high, v)
		}
	}
	f.Log = low > 0 && high > 15*low
	return f
}

// cached states whether products that move the given bytes find all or part of them in the caches, where the memory
// bandwidth is no measure; "" if they do not.
func (s *Session) cached(bytes int64) string {
	l3 := int64(s.Record.Machine.L3)
	switch {
	case s.Cache == CacheCold || bytes > 4*l3:
		return ""
	case bytes > l3:
		return "partly in the caches"
	}
	return "in the caches"
}

// phaseRow formats times in milliseconds, "-" for unknown ones.
func phaseRow(what string, devices int, t timed) []string {
	row := []string{what, fmt.Sprint(devices)}
	for _, v := range []float64{t.partition, t.h2d, t.compute, t.merge, t.total, t.compute + t.merge} {
		if math.IsNaN(v) {
			row = append(row, "-")
			continue
		}
		row = append(row, fmt.Sprintf("%.4g", 1e3*v))
	}
	return row
}

// speedupRule defines all speed-ups, including the authors'.
const speedupRule = "A speed-up is the time of the baseline on one device, without its partition, over the time of the run with all phases. All phases of a run are its own, so it has one speed-up in all figures. The authors' plots take the kernel time of p-opt from the plain run of p."

// headlines compares the paper's headline speed-ups with the authors' own times.
func headlines() (out []string) {
	for _, h := range []struct {
		platform string
		says     float64
	}{{"summit", 5.5}, {"dgx1", 6.2}} {
		gpus := paper.GPUs[h.platform]
		found := map[string]float64{}
		for _, version := range []string{opt, plain} {
			for _, f := range formats {
				found[version+" in "+strings.ToUpper(string(f))] = paper.Speedup(h.platform, single, string(f), version, gpus)
			}
		}
		out = append(out, headline(fmt.Sprintf("%s with %d GPUs", platformTitle(h.platform), gpus), h.says, found))
		plotted, own := paper.Plotted(h.platform, single, "csc", gpus), paper.Speedup(h.platform, single, "csc", opt, gpus)
		out = append(out, fmt.Sprintf("%s, CSC, p-opt, %d GPUs: %.2f with the run's own kernel, %.2f with that of the plain run, which the authors plot.", platformTitle(h.platform), gpus, own, plotted))
	}
	return out
}

// headline compares a speed-up that the paper names, which is one of p-opt, with those of the authors' runs.
func headline(where string, says float64, found map[string]float64) string {
	nearest, fastest := "", ""
	var all []string
	for _, name := range slices.Sorted(maps.Keys(found)) {
		all = append(all, fmt.Sprintf("%s %.2f", name, found[name]))
		if fastest == "" || found[name] > found[fastest] {
			fastest = name
		}
		if strings.HasPrefix(name, opt+" ") && (nearest == "" || math.Abs(found[name]-says) < math.Abs(found[nearest]-says)) {
			nearest = name
		}
	}
	text := fmt.Sprintf("The paper's headline is %.1f on %s. ", says, where)
	if about(says, 0.05)(found[nearest]) {
		text += fmt.Sprintf("The authors' own times give it: %s has %.2f", nearest, found[nearest])
	} else {
		text += fmt.Sprintf("The authors' own times do not give it: the nearest of p-opt is %s with %.2f, the fastest of all is %s with %.2f", nearest, found[nearest], fastest, found[fastest])
	}
	return text + " (" + join(all) + ")."
}

// copyShares states the fraction of the authors' times that the copies take, and how the copies scale.
func copyShares(platform string) string {
	gpus := paper.GPUs[platform]
	low, high := math.Inf(1), 0.0
	for _, m := range paper.Matrices {
		for _, f := range formats {
			t, _ := paper.Run(platform, m.Name, string(f), opt, gpus)
			x := t.H2D / (t.Partition + t.H2D + t.Compute + t.Merge)
			low, high = min(low, x), max(high, x)
		}
	}
	one, _ := paper.Run(platform, single, "csr", opt, 1)
	all, _ := paper.Run(platform, single, "csr", opt, gpus)
	return fmt.Sprintf("%s: copying the matrix takes %.0f to %.0f %% of the authors' times of p-opt with %d GPUs, and is %.1f times as fast with them as with one (%s, CSR).", platformTitle(platform), 100*low, 100*high, gpus, one.H2D/all.H2D, single)
}

// paperSpeedup returns a series of the authors' speed-ups, for all of their numbers of GPUs.
func (s *Session) paperSpeedup(matrix string, format sparse.Format, strategy string, of func(platform, matrix, format, strategy string, n int) float64) plot.Series {
	return paperSeries(strategy, s.paperPlatform(), matrix, format, strategy, of)
}

func paperSeries(name, platform, matrix string, format sparse.Format, strategy string, of func(platform, matrix, format, strategy string, n int) float64) plot.Series {
	series := plot.Series{Name: name, Origin: plot.Paper}
	for n := 1; n <= 8; n++ {
		if v := of(platform, matrix, string(format), strategy, n); v > 0 {
			series.Add(float64(n), v)
		}
	}
	return series
}

// sixMatrices is Figure 22 or 23: p-opt on the matrices of Table 2, compared with the authors' runs on a platform.
func sixMatrices(name, platform string) func(context.Context, *Session) error {
	return func(ctx context.Context, s *Session) error {
		number := strings.TrimPrefix(name, "msrep-fig")
		if s.platform != nil && s.platform.Name != platform {
			return sparse.Inputf("--devices", "%q: Figure %s is of %s: use sim:%s", s.Devices, number, platformTitle(platform), platform)
		}
		var left []string
		sec := plot.Section{Name: name, Title: fmt.Sprintf("Figure %s: speed-up on six matrices, %s", number, platformTitle(platform))}
		if s.platform == nil {
			sec.Title += ", compared with devices of this machine"
		}
		s.steps(len(formats) * len(paper.Matrices) * (len(s.counts()) + 1))
		means := plot.Table{Name: name + "-means", Title: fmt.Sprintf("Speed-up with %d devices over the baseline on one", s.most),
			Header: []string{"matrix, format", "all phases, ours", "compute + merge, ours", "all phases, paper", "compute + merge, paper"}}
		ours, theirs := map[sparse.Format]*plot.Figure{}, map[sparse.Format]*plot.Figure{}
		speedups := map[sparse.Format][][]float64{}
		for _, format := range formats {
			title := strings.ToUpper(string(format))
			ours[format] = &plot.Figure{Name: name + "-" + string(format), Title: title + ": p-opt, all phases", XLabel: "devices", YLabel: "speed-up"}
			theirs[format] = &plot.Figure{Name: name + "-" + string(format) + "-paper", Title: title + ": p-opt, all phases, " + platformTitle(platform), XLabel: "GPUs", YLabel: "speed-up"}
		}
		var names []string
		for _, m := range paper.Matrices { // each matrix is generated once
			names = append(names, m.Name)
			for _, format := range formats {
				one, err := s.phasesOf(ctx, name, run{matrix: m.Name, format: format, strategy: msrep.Baseline, devices: 1})
				if err != nil {
					return err
				}
				series := plot.Series{Name: m.Name, Origin: s.origin()}
				var last phases
				r := run{matrix: m.Name, format: format, strategy: msrep.Optimized}
				for _, n := range s.counts() {
					r.devices = n
					if last, err = s.phasesOf(ctx, name, r); err != nil {
						return err
					}
					series.Add(float64(n), one.withoutSplit()/last.total())
				}
				beside := paperSeries(m.Name, platform, m.Name, format, "p-opt", paper.Speedup)
				if s.drawn(r, model.Total) { // runs in both figures come first, in the same colours
					theirs[format].Series = slices.Insert(theirs[format].Series, len(ours[format].Series), beside)
					ours[format].Series = append(ours[format].Series, series)
				} else {
					theirs[format].Series = append(theirs[format].Series, beside)
					left = append(left, m.Name+" "+s.leftOut(r, model.Total))
				}
				gpus := paper.GPUs[platform]
				values := []float64{
					one.withoutSplit() / last.total(), one.resident() / last.resident(),
					paper.Speedup(platform, m.Name, string(format), "p-opt", gpus), paper.Resident(platform, m.Name, string(format), "p-opt", gpus),
				}
				if !s.drawn(r, model.Total) {
					values[0] = math.NaN()
				}
				if !s.drawn(r, "compute", "merge") {
					values[1] = math.NaN()
				}
				means.Rows = append(means.Rows, meanRow(m.Name+" "+string(format), values))
				speedups[format] = append(speedups[format], values)
			}
		}
		for _, format := range formats {
			means.Rows = append(means.Rows, append([]string{"geometric mean " + string(format)}, knownMeans(speedups[format])...))
			sec.Figures = append(sec.Figures, *ours[format], *theirs[format])
		}
		claims, remarks := s.judgeFigure(number)
		sec.Tables = []plot.Table{claims, means}
		sec.Intro = append(s.about(platform, names...), speedupRule)
		sec.Remarks = append(append(remarks, notDrawn(left)...), copyShares(platform))
		s.Page.Sections = append(s.Page.Sections, sec)
		return nil
	}
}

func meanRow(what string, values []float64) []string {
	row := []string{what}
	for _, v := range values {
		if math.IsNaN(v) {
			row = append(row, "-")
			continue
		}
		row = append(row, fmt.Sprintf("%.2f", v))
	}
	return row
}

package experiment

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/msrep-go/msrep/internal/bench/model"
	"github.com/msrep-go/msrep/internal/bench/paper"
	"github.com/msrep-go/msrep/internal/plot"
	"github.com/msrep-go/msrep/msrep"
)

// single is the matrix of the figures with one matrix.
const single = "HV15R"

// phaseFigure is Figure 16, 17, 18 or 19: time or fraction of partition or merge.
func phaseFigure(name string) func(context.Context, *Session) error {
	what := map[string]struct {
		title, label string
		log          bool
		phases       []string // phases that the model must reproduce
		value        func(p phases) float64
	}{
		"msrep-fig16": {"Figure 16: time to split", "milliseconds", true, []string{"partition"}, func(p phases) float64 { return 1e3 * p.partition }},
		"msrep-fig17": {"Figure 17: splitting, share of the whole", "percent", false, []string{"partition", model.Total}, func(p phases) float64 { return 100 * p.partition / p.total() }},
		"msrep-fig18": {"Figure 18: time to merge", "milliseconds", true, []string{"merge"}, func(p phases) float64 { return 1e3 * p.merge }},
		"msrep-fig19": {"Figure 19: merging, share of the whole", "percent", false, []string{"merge", model.Total}, func(p phases) float64 { return 100 * p.merge / p.total() }},
	}[name]
	return func(ctx context.Context, s *Session) error {
		sec := plot.Section{Name: name, Title: what.title + " (" + single + ")"}
		s.steps(len(formats) * len(strategies) * len(s.counts()))
		ratios := plot.Table{Name: name + "-ratios", Title: "The most devices over one device", Header: []string{"format, strategy", string(s.origin()), "paper, " + platformTitle(s.paperPlatform())}}
		var left []string
		for _, format := range formats {
			f := plot.Figure{
				Name: name + "-" + string(format), Title: strings.ToUpper(string(format)) + ": " + strings.SplitN(what.title, ": ", 2)[1],
				XLabel: "devices", YLabel: what.label, Log: what.log,
			}
			for _, strategy := range strategies {
				ours := plot.Series{Name: string(strategy), Origin: s.origin()}
				theirs := plot.Series{Name: string(strategy), Origin: plot.Paper}
				r := run{matrix: single, format: format, strategy: strategy}
				for _, n := range s.counts() {
					r.devices = n
					p, err := s.phasesOf(ctx, name, r)
					if err != nil {
						return err
					}
					ours.Add(float64(n), what.value(p))
				}
				for n := 1; n <= 8; n++ {
					if t, ok := paper.Run(s.paperPlatform(), single, string(format), string(strategy), n); ok {
						k := t.Correction() // leaves fractions unchanged
						theirs.Add(float64(n), what.value(phases{k * t.Partition, k * t.H2D, k * t.Compute, k * t.Merge}))
					}
				}
				if !s.drawn(r, what.phases...) {
					left, ours = append(left, s.leftOut(r, what.phases...)), plot.Series{}
				} else {
					f.Series = append(f.Series, ours)
				}
				f.Series = append(f.Series, theirs)
				ratios.Rows = append(ratios.Rows, []string{fmt.Sprintf("%s %s", format, strategy), lastOverFirst(ours), lastOverFirst(theirs)})
			}
			sec.Figures = append(sec.Figures, f)
		}
		claims, remarks := s.judgeFigure(strings.TrimPrefix(name, "msrep-fig"))
		sec.Tables = []plot.Table{claims, ratios}
		sec.Intro = append(s.about(s.paperPlatform(), single), s.ourWay(name)...)
		if t, ok := paper.Run(s.paperPlatform(), single, "csr", opt, 1); ok && t.Correction() != 1 && what.log {
			sec.Intro = append(sec.Intro, fmt.Sprintf("The authors' times are drawn multiplied by %g, like those that calibrate the model; the section about the model gives the reason.", t.Correction()))
		}
		sec.Remarks = append(remarks, notDrawn(left)...)
		s.Page.Sections = append(s.Page.Sections, sec)
		return nil
	}
}

// about describes the replacements of the matrices and the machine of the authors' times.
func (s *Session) about(platform string, matrices ...string) []string {
	var from []string
	for _, name := range matrices {
		from = append(from, s.from[name])
	}
	made, machine := strings.Join(from, ", ")+", in brackets the entries by those that the authors multiplied", map[string]string{"dgx1": "the GPUs of a DGX-1", "summit": "the GPUs of a node of Summit"}[platform]
	if s.platform != nil {
		return []string{fmt.Sprintf("Modelled, not measured: %s. The matrices are split for real: %s. The phases follow from the sizes of the parts, scaled to the authors' matrix size. The authors' times on %s are shown for comparison.",
			s.platform.Title, made, machine)}
	}
	text := fmt.Sprintf("Measured on %s, with %s. The authors' times on %s are shown for comparison: compare shapes, not seconds.", s.devicesAre(), made, machine)
	if len(s.gpus) == 0 {
		text += fmt.Sprintf(" This machine has %d cores: more devices than cores share the cores.", s.Record.Machine.Cores)
	}
	return []string{text}
}

// lastOverFirst returns the last value of a series over the first.
func lastOverFirst(s plot.Series) string {
	if len(s.Y) == 0 || s.Y[0] == 0 {
		return "-"
	}
	return fmt.Sprintf("%.3g (%.0f devices)", s.Y[len(s.Y)-1]/s.Y[0], s.X[len(s.X)-1])
}

// ourWay describes how the measured program differs from the authors'.
func (s *Session) ourWay(name string) []string {
	switch {
	case s.platform != nil || len(s.gpus) > 0:
		return nil
	case name == "msrep-fig16" || name == "msrep-fig17":
		return []string{"On CPU devices p-opt makes no local pointers: each device reads the pointers of the whole matrix in place, and a split is a few binary searches. COO uses its row indices unchanged; the authors make new ones for each part."}
	}
	return []string{"On CPU devices p-opt writes rows directly into y; the authors copy all of y back over a link. The merge of CSC includes the additions of whole vectors, which the authors' time leaves out."}
}

// figure20 is the speed-up with and without NUMA placement, strategy p-opt.
func figure20(ctx context.Context, s *Session) error {
	name := "msrep-fig20"
	sec := plot.Section{Name: name, Title: "Figure 20: NUMA placement on and off (" + single + ")"}
	s.steps(len(formats) * (1 + 2*len(s.counts())))
	var left []string
	for _, format := range formats {
		f := plot.Figure{Name: name + "-" + string(format), Title: strings.ToUpper(string(format)) + ": speed-up of all phases", XLabel: "devices", YLabel: "speed-up"}
		one, err := s.phasesOf(ctx, name, run{matrix: single, format: format, strategy: msrep.Baseline, devices: 1})
		if err != nil {
			return err
		}
		for _, numa := range []msrep.NUMA{msrep.NUMAOn, msrep.NUMAOff} {
			series := plot.Series{Name: "numa " + string(numa), Origin: s.origin()}
			r := run{matrix: single, format: format, strategy: msrep.Optimized, numa: numa}
			for _, n := range s.counts() {
				r.devices = n
				p, err := s.phasesOf(ctx, name, r)
				if err != nil {
					return err
				}
				series.Add(float64(n), one.withoutSplit()/p.total())
			}
			if s.drawn(r, model.Total) {
				f.Series = append(f.Series, series)
			} else {
				left = append(left, s.leftOut(r, model.Total))
			}
			theirs := paperSeries(series.Name, s.paperPlatform(), single, format, r.version(), paper.Speedup)
			f.Series = append(f.Series, theirs)
		}
		sec.Figures = append(sec.Figures, widened(f))
	}
	claims, remarks := s.judgeFigure("20")
	sec.Tables = []plot.Table{claims}
	sec.Intro = append(s.about(s.paperPlatform(), single), speedupRule, "As in the paper, the authors' times leave out the copy of the matrix between NUMA nodes.")
	if s.platform == nil {
		sec.Intro = append(sec.Intro, fmt.Sprintf("This machine has %d NUMA node(s). Placement copies the matrix; h2d includes this copy. With one node there is nothing to place.", s.Record.Machine.NUMANodes))
	}
	sec.Remarks = append(remarks, notDrawn(left)...)
	sec.Remarks = append(sec.Remarks, numaCopies(), crossings(model.Points("summit", true)))
	s.Page.Sections = append(s.Page.Sections, sec)
	return nil
}

// numaCopies compares the copies between NUMA nodes, which the paper leaves out, with the whole time of the products
// on all GPUs.
func numaCopies() string {
	low, high := math.Inf(1), 0.0
	for platform, gpus := range paper.GPUs {
		for _, format := range formats {
			if t, ok := paper.Run(platform, single, string(format), "p-opt", gpus); ok {
				x := t.NUMACopy / (t.Partition + t.H2D + t.Compute + t.Merge)
				low, high = min(low, x), max(high, x)
			}
		}
	}
	return fmt.Sprintf("The copy between NUMA nodes, which the paper leaves out, takes %s to %s times as long as the whole product with all GPUs in the authors' runs (%s, placed).", short(low), short(high), single)
}

// crossings states whether the whole matrix can have been on one socket of Summit in the authors' runs without
// placement.
func crossings(points []model.Point) string {
	p, err := model.Load("summit")
	if err != nil {
		panic(err) // the platform is part of the program
	}
	most, above, of := 0.0, 0, 0
	for _, pt := range points {
		if v := p.Crossing(pt); pt.Kind == paper.Unplaced && v > 0 {
			of++
			if most = max(most, v); v > p.CrossLink.Value {
				above++
			}
		}
	}
	text := fmt.Sprintf("Had the matrix lain on one socket of Summit, then in %d of %d runs without placement on 4 to 6 GPUs the copies would have passed between the sockets faster than the %.0f GB/s of their link, at up to %.0f GB/s", above, of, p.CrossLink.Value, most)
	if above == 0 {
		return text + ": it may have."
	}
	return text + ": in those it did not, or the times are wrong."
}

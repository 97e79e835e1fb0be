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

// single is the matrix of the figures that have only one.
const single = "HV15R"

// phaseFigure is Figure 16, 17, 18 or 19: time or share of partition or merge.
func phaseFigure(name string) func(context.Context, *Session) error {
	what := map[string]struct {
		title, label string
		log          bool
		value        func(p phases) float64
	}{
		"msrep-fig16": {"Figure 16: time to split", "seconds", true, func(p phases) float64 { return p.partition }},
		"msrep-fig17": {"Figure 17: splitting, share of the whole", "percent", false, func(p phases) float64 { return 100 * p.partition / p.total() }},
		"msrep-fig18": {"Figure 18: time to merge", "seconds", true, func(p phases) float64 { return p.merge }},
		"msrep-fig19": {"Figure 19: merging, share of the whole", "percent", false, func(p phases) float64 { return 100 * p.merge / p.total() }},
	}[name]
	return func(ctx context.Context, s *Session) error {
		sec := report.Section{Name: name, Title: what.title + " (" + single + ")"}
		s.steps(len(formats) * len(strategies) * len(s.counts()))
		ratios := report.Table{Name: name + "-ratios", Title: "With the most devices over one device", Header: []string{"format, strategy", string(s.origin()), "paper, " + s.paperPlatform()}}
		for _, format := range formats {
			f := report.Figure{
				Name: name + "-" + string(format), Title: strings.ToUpper(string(format)) + ": " + strings.SplitN(what.title, ": ", 2)[1],
				XLabel: "devices", YLabel: what.label, Log: what.log,
			}
			for _, strategy := range strategies {
				ours := report.Series{Name: string(strategy), Origin: s.origin()}
				theirs := report.Series{Name: string(strategy), Origin: report.Paper}
				for _, n := range s.counts() {
					p, err := s.phasesOf(ctx, name, run{matrix: single, format: format, strategy: strategy, devices: n})
					if err != nil {
						return err
					}
					ours.Add(float64(n), what.value(p))
				}
				for n := 1; n <= 8; n++ {
					if t, ok := paper.Run(s.paperPlatform(), single, string(format), string(strategy), n); ok {
						theirs.Add(float64(n), what.value(phases{t.Partition, t.H2D, t.Compute, t.Merge}))
					}
				}
				f.Series = append(f.Series, ours, theirs)
				ratios.Rows = append(ratios.Rows, []string{fmt.Sprintf("%s %s", format, strategy), lastOverFirst(ours), lastOverFirst(theirs)})
			}
			sec.Figures = append(sec.Figures, f)
		}
		sec.Tables = []report.Table{ratios}
		sec.Intro = s.about(s.paperPlatform(), single)
		sec.Remarks = phaseRemarks(name, s)
		s.Page.Sections = append(s.Page.Sections, sec)
		return nil
	}
}

// about says what stands in for the matrices and for the machine of the authors' times beside it.
func (s *Session) about(platform string, matrices ...string) []string {
	var from []string
	for _, name := range matrices {
		from = append(from, s.from[name])
	}
	made, machine := strings.Join(from, ", ")+", in brackets the entries by those that the authors multiplied", map[string]string{"dgx1": "the GPUs of a DGX-1", "summit": "the GPUs of a node of Summit"}[platform]
	if s.platform != nil {
		return []string{fmt.Sprintf("Modelled, not measured: %s. Matrices are split for real: %s; phases follow from the sizes of the parts, scaled to the size that the authors multiplied. Beside it are the authors' times on %s.",
			s.platform.Title, made, machine)}
	}
	text := fmt.Sprintf("Measured on %s, with %s. Beside it are the authors' times on %s: compare shapes, not seconds.", s.devicesAre(), made, machine)
	if len(s.gpus) == 0 {
		text += fmt.Sprintf(" This machine has %d cores: with more devices than cores they take turns.", s.Record.Machine.Cores)
	}
	return []string{text}
}

// lastOverFirst is how a series changes from the fewest devices to the most.
func lastOverFirst(s report.Series) string {
	if len(s.Y) == 0 || s.Y[0] == 0 {
		return ""
	}
	return fmt.Sprintf("%.3g (%.0f devices)", s.Y[len(s.Y)-1]/s.Y[0], s.X[len(s.X)-1])
}

// phaseRemarks says what is done in another way than by the authors, and what that
// must change. Whether it does is in the figures.
func phaseRemarks(name string, s *Session) []string {
	if s.platform != nil {
		return []string{"The model's constants come from half of the authors' times; what it says about the other half is in the section about the model."}
	}
	switch name {
	case "msrep-fig16", "msrep-fig17":
		return []string{
			"Same as the authors: the baseline makes all local pointers with one thread, whatever the number of devices; p makes them with one thread for each.",
			"Other than the authors: p-opt on CPU devices needs no local pointers, since each device reads those of the whole matrix in place, so that only binary searches are left. COO uses its row indices as they are, where the authors make new ones for each part.",
		}
	}
	return []string{
		"Same as the authors: CSC adds whole vectors, one for each device; CSR and COO join only rows that two devices share.",
		"Other than the authors: p-opt on CPU devices writes rows straight into y, where the authors copy all of y back over a link, and its merge of CSC includes the additions, where theirs ends before them.",
	}
}

// figure20 is the speed-up with and without NUMA placement, strategy p-opt.
func figure20(ctx context.Context, s *Session) error {
	name := "msrep-fig20"
	sec := report.Section{Name: name, Title: "Figure 20: NUMA placement on and off (" + single + ")"}
	s.steps(len(formats) * 2 * len(s.counts()))
	for _, format := range formats {
		f := report.Figure{Name: name + "-" + string(format), Title: strings.ToUpper(string(format)) + ": speed-up of all phases", XLabel: "devices", YLabel: "speed-up"}
		one, err := s.phasesOf(ctx, name, run{matrix: single, format: format, strategy: msrep.Optimized, numa: msrep.NUMAOff, devices: 1})
		if err != nil {
			return err
		}
		for _, numa := range []msrep.NUMA{msrep.NUMAOn, msrep.NUMAOff} {
			series := report.Series{Name: "numa " + string(numa), Origin: s.origin()}
			for _, n := range s.counts() {
				p, err := s.phasesOf(ctx, name, run{matrix: single, format: format, strategy: msrep.Optimized, numa: numa, devices: n})
				if err != nil {
					return err
				}
				series.Add(float64(n), one.total()/p.total())
			}
			f.Series = append(f.Series, series, paperNUMA(s.paperPlatform(), format, numa == msrep.NUMAOn))
		}
		sec.Figures = append(sec.Figures, f)
	}
	sec.Intro = s.about(s.paperPlatform(), single)
	if s.platform == nil {
		sec.Remarks = []string{fmt.Sprintf("This machine has %d NUMA node(s). With one node there is nothing to place, and placement only adds the copy of the matrix that it makes (in h2d).", s.Record.Machine.NUMANodes)}
	}
	sec.Remarks = append(sec.Remarks, "The paper leaves out the copy of the matrix between NUMA nodes, 0.1 to 0.7 s for HV15R, which is longer than the product itself.")
	s.Page.Sections = append(s.Page.Sections, sec)
	return nil
}

// paperNUMA is the authors' speed-up over their one-GPU run without placement.
func paperNUMA(platform string, format sparse.Format, placed bool) report.Series {
	s := report.Series{Name: map[bool]string{true: "numa on", false: "numa off"}[placed], Origin: report.Paper}
	total := map[int]float64{}
	one := 0.0
	for _, t := range paper.Times() {
		if t.Platform != platform || t.Matrix != single || t.Format != string(format) || t.Version != "p" || !t.Optimised {
			continue
		}
		sum := t.Partition + t.H2D + t.Compute + t.Merge
		if t.GPUs == 1 && !t.NUMA {
			one = sum
		}
		if t.NUMA == placed {
			total[t.GPUs] = sum
		}
	}
	for n := 1; n <= 8; n++ {
		if total[n] > 0 {
			s.Add(float64(n), one/total[n])
		}
	}
	return s
}

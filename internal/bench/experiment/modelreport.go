package experiment

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/msrep-go/msrep/internal/bench/model"
	"github.com/msrep-go/msrep/internal/bench/paper"
	"github.com/msrep-go/msrep/internal/plot"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// modelReport compares the model with the authors' times that did not calibrate it, and models this library on the
// six matrices. It measures nothing.
func modelReport(ctx context.Context, s *Session) error {
	sec := plot.Section{
		Name: "model", Title: "The model of the DGX-1 and of Summit",
		Intro: []string{
			fmt.Sprintf("Half of the authors' runs (six matrices, three formats) calibrate the model, the other half checks it. The tables of parameters state the phase and the runs that fit each parameter, and its error on the held-out runs. Errors are medians of the absolute relative errors over the runs. A phase with an error above %.0f %% counts as not modelled and is not drawn.", 100*model.Tolerance),
			"The times of five of the six matrices on Summit are four times too short for its links: copies at 188 GB/s over links of 50 GB/s, kernels at 2.9 TB/s from memories of 0.9 TB/s. The model is calibrated on those times multiplied by 4. The tables check it in three ways: with these times, with the uncorrected times, and calibrated again on the uncorrected times.",
			"Scaling of this library is relative to itself on one GPU. End to end copies the matrix and the vectors for each product. Resident leaves both on the GPUs. Apply multiplies vectors that stay on the GPUs, and exchanges the elements of x that the parts need: before and after steps 1, 2 and 4 of the experiment apply, and with the rows in the order that it finds fastest.",
			fmt.Sprintf("The fastest split is the one of the rules %q (msrep.PlanOptions.Variant.Split) with the fastest modelled resident product.", modelRules),
			"The matrices resemble those of Table 2 in size and in the distribution of row lengths, and are split for real. The traffic of x is counted with a model of each GPU's cache on a matrix of fewer entries. No GPU was used.",
		},
	}
	within := plot.Table{Name: "model-within", Title: "Held-out runs of p-opt that are modelled within a limit", Origin: plot.Modelled,
		Header: []string{"platform", "phase", "limit, %", "within", "of", "median error, %"}}
	errs := plot.Table{Name: "model-errors", Title: "Error on the held-out half: median (worst), percent", Origin: plot.Modelled,
		Header: []string{"platform and times", "phase", "runs", "all formats", "CSR", "CSC", "COO"}}
	versions := plot.Table{Name: "model-versions", Title: "Error of all versions on the held-out half: median (on GPUs of both sockets), percent", Origin: plot.Modelled,
		Header: []string{"platform, version", "phase", "runs", "CSR", "CSC", "COO"}}
	for _, name := range model.Names() {
		p, err := model.Load(name)
		if err != nil {
			return err
		}
		points, title := model.Points(name, true), platformTitle(name)
		if name == "summit" {
			title += ", times x 4"
		}
		errs.Rows = append(errs.Rows, errorRows(title, p, points)...)
		versions.Rows = append(versions.Rows, versionRows(platformTitle(name), p, points)...)
		within.Rows = append(within.Rows, withinRows(platformTitle(name), p, points)...)
		for _, c := range p.CheckOthers(model.OtherPoints(name)) {
			sec.Remarks = append(sec.Remarks, fmt.Sprintf("%s, %s of p-opt on a matrix that Table 2 does not name and that calibrated nothing: %.1f %% off (median of %d runs).", platformTitle(name), c.Phase, 100*c.Median, c.N))
		}
		if name == "dgx1" {
			continue
		}
		errs.Rows = append(errs.Rows, errorRows("Summit, uncorrected times", p, model.Points(name, false))...)
		raw := model.Calibrate(p, model.Points(name, false))
		errs.Rows = append(errs.Rows, errorRows("Summit, calibrated on uncorrected times", raw, model.Points(name, false))...)
		sec.Remarks = append(sec.Remarks, rawLink(raw.HostLink.Value), sameAsDGX1(paper.Times()))
	}
	sec.Tables = append(sec.Tables, errs, within, versions)
	s.steps(len(model.Names()) * len(paper.Matrices))
	for _, name := range model.Names() {
		p, err := model.Load(name)
		if err != nil {
			return err
		}
		t, f, err := s.residentScaling(ctx, p)
		if err != nil {
			return err
		}
		sec.Tables = append(sec.Tables, t, parameterTable(p))
		sec.Figures = append(sec.Figures, f)
	}
	s.Page.Sections = append(s.Page.Sections, sec)
	return nil
}

// withinRows counts the runs of p-opt that are within 10 % for copies, and within 20 % for compute and merge.
func withinRows(what string, p *model.Platform, points []model.Point) (rows [][]string) {
	checks := p.CheckHeld(points)
	for _, limit := range []struct {
		phase   string
		percent float64
	}{{"h2d", 10}, {"compute", 20}, {"merge", 20}} {
		n, all := p.Within(points, "p-opt", limit.phase, limit.percent/100)
		c := model.Find(checks, "p-opt", limit.phase, "")
		rows = append(rows, []string{what, limit.phase, fmt.Sprint(limit.percent), fmt.Sprint(n), fmt.Sprint(all), fmt.Sprintf("%.1f", 100*c.Median)})
	}
	return rows
}

// errorRows returns the errors of p-opt by phase.
func errorRows(what string, p *model.Platform, points []model.Point) (rows [][]string) {
	checks := p.CheckHeld(points)
	for _, phase := range model.Phases {
		row := []string{what, phase, fmt.Sprint(model.Find(checks, "p-opt", phase, "").N)}
		for _, format := range []string{"", "csr", "csc", "coo"} {
			c := model.Find(checks, "p-opt", phase, format)
			row = append(row, fmt.Sprintf("%.1f (%.0f)", 100*c.Median, 100*c.Worst))
		}
		rows = append(rows, row)
	}
	return rows
}

// versionRows returns the errors that decide which curves are drawn.
func versionRows(what string, p *model.Platform, points []model.Point) (rows [][]string) {
	checks := p.CheckHeld(points)
	for _, version := range paper.Versions {
		for _, phase := range model.Phases {
			row := []string{what + ", " + version, phase, fmt.Sprint(model.Find(checks, version, phase, "").N)}
			for _, format := range []string{"csr", "csc", "coo"} {
				c := model.Find(checks, version, phase, format)
				row = append(row, fmt.Sprintf("%.1f (%.1f)", 100*c.Median, 100*c.Far))
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// rawLink states the speed of Summit's links that its uncorrected times imply.
func rawLink(speed float64) string {
	text := fmt.Sprintf("Calibrated on Summit's uncorrected times, the link to each GPU would carry %.0f GB/s; two NVLinks carry 50", speed)
	if speed > 50 {
		return text + ": these times are too short for the machine."
	}
	return text + ": these times are possible."
}

// sameAsDGX1 counts the phases of runs on Summit whose times equal those of the same run on the DGX-1 digit for
// digit.
func sameAsDGX1(times []paper.Time) string {
	type key struct {
		matrix, format, kind string
		gpus                 int
	}
	dgx1 := map[key]paper.Phases{}
	for _, t := range times {
		if t.Platform == "dgx1" && t.Kind() != "" {
			dgx1[key{t.Matrix, t.Format, t.Kind(), t.GPUs}] = t.Phases
		}
	}
	same, where := 0, map[string]bool{}
	for _, t := range times {
		d, ok := dgx1[key{t.Matrix, t.Format, t.Kind(), t.GPUs}]
		if t.Platform != "summit" || !ok {
			continue
		}
		for _, pair := range [][2]float64{{t.Partition, d.Partition}, {t.Compute, d.Compute}, {t.Merge, d.Merge}} {
			if pair[0] > 0 && pair[0] == pair[1] {
				same++
				where[fmt.Sprintf("%s with %d GPUs", t.Matrix, t.GPUs)] = true
			}
		}
	}
	text := fmt.Sprintf("Times of partition, compute and merge on Summit that equal those of the same run on the DGX-1 digit for digit: %d", same)
	if same > 0 {
		text += ", of " + join(slices.Sorted(maps.Keys(where))) + ". They cannot have been measured twice; they are kept"
	}
	return text + "."
}

// modelRules are the splits among which the model takes the fastest (msrep.PlanOptions.Variant.Split). The first is the
// paper's.
var modelRules = []partition.Rule{partition.RuleNNZ, partition.RuleMergePath, partition.RuleWhole}

// scaling holds the modelled times of a matrix on several GPUs.
type scaling struct {
	rule               partition.Rule // of the fastest resident product
	endToEnd, resident float64        // with that rule
	byNNZ              float64        // resident, with the paper's rule
}

// scale models one matrix on n GPUs.
func (s *Session) scale(p *model.Platform, of paper.Matrix, n int) (best scaling, err error) {
	a := s.matrix.csr
	cache := int64(p.L2.Value * min(1, float64(a.Cols)/float64(of.Cols))) // scaled down like the matrix
	best.resident = math.Inf(1)
	for _, rule := range modelRules {
		parts, _, err := partition.Split(a.RowPtr, n, rule)
		if err != nil {
			return best, err
		}
		j := model.Of(of.Name, sparse.FormatCSR, a.Rows, a.Cols, parts)
		for i, part := range parts {
			j.Parts[i].Gather = model.Gather(a.ColIdx[part.StartIdx:part.EndIdx+1], cache)
		}
		j = j.Resized(int64(of.Rows), int64(of.Cols), of.NNZ)
		resident := p.Library(j, true).Total()
		if rule == partition.RuleNNZ {
			best.byNNZ = resident
		}
		if resident < best.resident {
			best.rule, best.resident, best.endToEnd = rule, resident, p.Library(j, false).Total()
		}
	}
	return best, nil
}

// applied holds the modelled speed-ups of Plan.Apply on all GPUs of a node over one.
type applied struct {
	before, now, reordered float64
	order                  string
}

// apply models Plan.Apply with one matrix of Table 2.
func (s *Session) apply(ctx context.Context, n *model.Node, of paper.Matrix) (a applied, err error) {
	w := model.Workload{Name: of.Name, Rows: int64(of.Rows), Entries: of.NNZ}
	c, err := countMatrix(ctx, w, s.matrix.csr, []int{1, n.GPUs}, []*model.Node{n})
	if err != nil {
		return a, err
	}
	one := n.Apply(c.whole[1], model.Steps{}, 0).Total()
	last, name := c.fastest(n, 0)
	return applied{
		before:    one / n.Apply(c.byNNZ[n.GPUs], model.Steps{}, 0).Total(),
		now:       one / n.Apply(c.whole[n.GPUs], built, 0).Total(),
		reordered: one / n.Apply(last[n.GPUs], built, 0).Total(),
		order:     name,
	}, nil
}

// residentScaling models this library on a platform with all of its GPUs.
func (s *Session) residentScaling(ctx context.Context, p *model.Platform) (plot.Table, plot.Figure, error) {
	t := plot.Table{Name: "model-" + p.Name, Title: fmt.Sprintf("This library on %s: speed-up of %d GPUs over one, CSR", p.Title, p.GPUs), Origin: plot.Modelled,
		Header: []string{"matrix", "end to end", "resident, split by nonzeros", "resident, fastest split", "Apply, before", "Apply, now", "Apply, reordered", "the paper's p-opt, all phases", "fastest split", "order", "one GPU, resident, ms"}}
	f := plot.Figure{Name: "model-" + p.Name, Title: platformTitle(p.Name) + ": resident scaling, CSR", XLabel: "GPUs", YLabel: "speed-up"}
	node, err := model.LoadNode(p.Name)
	if err != nil {
		return t, f, err
	}
	var ratios [][]float64
	for _, of := range paper.Matrices {
		if err := s.step(ctx, "model: "+p.Name+" "+of.Name); err != nil {
			return t, f, err
		}
		if _, err := s.load(ctx, of.Name); err != nil {
			return t, f, err
		}
		series := plot.Series{Name: of.Name, Origin: plot.Modelled}
		var one, all scaling
		for n := 1; n <= p.GPUs; n++ {
			var err error
			if all, err = s.scale(p, of, n); err != nil {
				return t, f, err
			}
			if n == 1 {
				one = all
			}
			series.Add(float64(n), one.resident/all.resident)
		}
		a, err := s.apply(ctx, node, of)
		if err != nil {
			return t, f, err
		}
		values := []float64{
			one.endToEnd / all.endToEnd, one.byNNZ / all.byNNZ, one.resident / all.resident, a.before, a.now, a.reordered,
			paper.Speedup(p.Name, of.Name, "csr", "p-opt", p.GPUs),
		}
		ratios = append(ratios, values)
		s.Record.AddModelled("model", p.Name+" "+of.Name, "resident", all.resident)
		s.Record.AddModelled("model", p.Name+" "+of.Name, "resident, by nonzeros", all.byNNZ)
		s.Record.AddModelled("model", p.Name+" "+of.Name, "end to end", all.endToEnd)
		t.Rows = append(t.Rows, append(meanRow(of.Name, values), string(all.rule), a.order, fmt.Sprintf("%.3f", 1e3*one.resident)))
		f.Series = append(f.Series, series)
	}
	t.Rows = append(t.Rows, append(meanRow("geometric mean", columnMeans(ratios)), "", "", ""))
	f.Series = append(f.Series, authorsResident(p))
	return t, f, nil
}

// authorsResident returns the authors' time of compute and merge on one GPU over that on several, with p-opt in CSR:
// the geometric mean over the six matrices.
func authorsResident(p *model.Platform) plot.Series {
	line := plot.Series{Name: "p-opt, compute and merge, mean", Origin: plot.Paper}
	for n := 1; n <= p.GPUs; n++ {
		var ratios []float64
		for _, m := range paper.Matrices {
			ratios = append(ratios, paper.Resident(p.Name, m.Name, "csr", opt, n)/paper.Resident(p.Name, m.Name, "csr", opt, 1))
		}
		line.Add(float64(n), geometricMean(ratios))
	}
	return line
}

func parameterTable(p *model.Platform) plot.Table {
	t := plot.Table{Name: "model-" + p.Name + "-parameters", Title: p.Title + ": parameters", Origin: plot.Modelled, Prose: true,
		Header: []string{"parameter", "value", "unit", "fitted on", "calibrating, held-out runs", "their median error, %", "source"}}
	names, params := p.Params()
	points := model.Points(p.Name, true)
	row := func(name, value, unit, source string) []string {
		on, runs, errs := "-", "-", "-"
		for _, f := range model.Fits() {
			if slices.Contains(f.Params, name) && value != "0" {
				train, held := p.CheckFit(f, points)
				on, runs, errs = f.String(), fmt.Sprintf("%d, %d", train.N, held.N), fmt.Sprintf("%.1f, %.1f", 100*train.Median, 100*held.Median)
			}
		}
		return []string{name, value, unit, on, runs, errs, source}
	}
	for i, name := range names {
		t.Rows = append(t.Rows, row(name, fmt.Sprintf("%.7g", params[i].Value), params[i].Unit, params[i].Source))
	}
	t.Rows = append(t.Rows, row("kernels", "two for each format and matrix", "slowdown, s", "calibrated"))
	return t
}

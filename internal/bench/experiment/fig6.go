package experiment

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/msrep-go/msrep/internal/bench/measure"
	"github.com/msrep-go/msrep/internal/bench/model"
	"github.com/msrep-go/msrep/internal/bench/paper"
	"github.com/msrep-go/msrep/internal/bench/record"
	"github.com/msrep-go/msrep/internal/plot"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/gen"
)

// fig6Cell holds the speeds of one matrix in GFLOP/s.
type fig6Cell struct {
	alone  float64 // row blocks; the slowest device counts, each measured alone
	blocks float64 // row blocks, all devices at once
	nnz    float64 // parts by nonzeros, all devices at once
}

// figure6 multiplies matrices whose equal row blocks hold unequal numbers of nonzeros: low of the devices get ratio
// times the nonzeros of the others.
func figure6(ctx context.Context, s *Session) error {
	if s.platform != nil && s.platform.Name != "dgx1" {
		return sparse.Inputf("--devices", "%q: Figure 6 is of a DGX-1: use sim:dgx1", s.Devices)
	}
	lows := make([]int, s.most)
	for i := range lows {
		lows[i] = i
	}
	ratios := paper.Figure6Ratios
	s.steps(1 + (len(lows)-1)*len(ratios))
	cells := make([][]fig6Cell, len(lows))
	for i, low := range lows {
		for k, ratio := range ratios {
			if low == 0 && k > 0 { // without low blocks the ratio has no effect
				cells[0] = append(cells[0], cells[0][0])
				continue
			}
			if err := s.step(ctx, fmt.Sprintf("msrep-fig6: %d of %d devices get %g", low, s.most, ratio)); err != nil {
				return err
			}
			c, err := s.fig6Cell(ctx, low, ratio)
			if err != nil {
				return err
			}
			cells[i] = append(cells[i], c)
		}
	}
	s.Page.Sections = append(s.Page.Sections, s.fig6Section(lows, ratios, cells))
	return nil
}

// fig6Cell makes the matrix and measures or models it.
func (s *Session) fig6Cell(ctx context.Context, low int, ratio float64) (fig6Cell, error) {
	room := 2 * math.Sqrt(float64(s.Entries)*float64(s.most)) // enough rows for all entries on one device
	rows := max(s.Entries/50, int64(s.most), int64(room))
	a, _, err := gen.GenerateContext(ctx, fmt.Sprintf("lowhigh:rows=%d,nnz=%d,parts=%d,low=%d,ratio=%g", rows, s.Entries, s.most, low, ratio), 0)
	if err != nil {
		return fig6Cell{}, err
	}
	name := fmt.Sprintf("lowhigh %d of %d low, ratio %g", low, s.most, ratio)
	if s.platform != nil {
		return s.fig6Model(a, name)
	}
	return s.fig6Measure(ctx, a, name)
}

func (s *Session) fig6Measure(ctx context.Context, a *sparse.CSR[float64], name string) (c fig6Cell, err error) {
	sys, err := msrep.Open(msrep.Config{Devices: s.measured(s.most), Threads: s.most, NUMA: msrep.NUMAOff})
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, sys.Close()) }()
	x, y := make([]float64, a.Cols), make([]float64, a.Rows)
	for i := range x {
		x[i] = 1 / float64(i+1)
	}
	flops := 2e-9 * float64(a.NNZ())
	for _, v := range []struct {
		what string
		opt  msrep.PlanOptions
		to   *float64
	}{
		{"row blocks, each device alone", msrep.PlanOptions{Variant: msrep.Variant{Strategy: msrep.Baseline}}, &c.alone},
		{"row blocks, devices at once", msrep.PlanOptions{Variant: msrep.Variant{Split: partition.RuleMajor}}, &c.blocks},
		{"by nonzeros, devices at once", msrep.PlanOptions{Variant: msrep.Variant{Split: partition.RuleNNZ}}, &c.nnz},
	} {
		v.opt.Storage.Format, v.opt.Expected.Products, v.opt.SkipValidation = sparse.FormatCSR, 1, true
		plan, err := msrep.NewPlan(ctx, sys, a, v.opt)
		if err != nil {
			return c, err
		}
		samples, err := measure.Repeat(ctx, s.Options, func() ([]float64, error) {
			err := plan.SpMV(ctx, msrep.NoTrans, 1.5, x, 0, y)
			t := plan.LastTiming()
			switch {
			case err != nil:
				return nil, err
			case v.opt.Variant.Strategy == msrep.Baseline:
				return []float64{slices.Max(t.Devices).Seconds()}, nil
			}
			return []float64{t.Total.Seconds()}, nil
		})
		if err := errors.Join(err, plan.Close()); err != nil {
			return c, err
		}
		*v.to = flops / s.Record.Add("msrep-fig6", name, v.what, samples[0]).Median
		if v.opt.Variant.Strategy != msrep.Baseline { // the other strategies give the time of one device, which computes one part
			s.Record.Moves(leastBytes(sparse.FormatCSR, a.Rows, a.Cols, a.NNZ()))
		}
	}
	return c, nil
}

// fig6Entries is the number of entries of the modelled matrix, large enough for GPUs. Its parts have the same
// proportions as those of the generated matrix.
const fig6Entries = 400_000_000

// fig6Model models the kernels of the parts, with the traffic of x through the cache.
func (s *Session) fig6Model(a *sparse.CSR[float64], name string) (c fig6Cell, err error) {
	flops := 2e-9 * float64(fig6Entries)
	for _, v := range []struct {
		what string
		rule partition.Rule
		to   *float64
	}{{"row blocks", partition.RuleMajor, &c.alone}, {"by nonzeros", partition.RuleNNZ, &c.nnz}} {
		parts, _, err := partition.Split(a.RowPtr, s.most, v.rule)
		if err != nil {
			return c, err
		}
		j := model.Of("", sparse.FormatCSR, a.Rows, a.Cols, parts)
		for i, p := range parts {
			j.Parts[i].Gather = model.Gather(a.ColIdx[p.StartIdx:p.EndIdx+1], int64(s.platform.L2.Value))
		}
		j = j.Resized(fig6Entries/50, fig6Entries/50, fig6Entries)
		*v.to = flops / s.Record.AddModelled("msrep-fig6", s.platform.Name+" "+name, v.what, s.platform.Library(j, true).Total()).Median
	}
	c.blocks = c.alone
	return c, nil
}

func (s *Session) fig6Section(lows []int, ratios []float64, cells [][]fig6Cell) plot.Section {
	sec := plot.Section{
		Name: "msrep-fig6", Title: "Figure 6: unequal numbers of nonzeros",
		Intro: []string{fmt.Sprintf("The rows are cut into %d equal blocks, one for each device; the first few blocks hold fewer nonzeros than the others. Speed is in GFLOP/s of the whole product.", s.most)},
	}
	if s.platform != nil {
		sec.Intro = append(sec.Intro, fmt.Sprintf("Modelled, not measured: %s. The matrix has %d nonzeros, in the proportions of a matrix of %d nonzeros that was split for real.", s.platform.Title, fig6Entries, s.Entries))
	} else {
		sec.Intro = append(sec.Intro, fmt.Sprintf("Measured on %s, with %d nonzeros.", s.devicesAre(), s.Entries))
	}
	pick := func(f func(fig6Cell) float64) (v [][]float64) {
		for _, row := range cells {
			var r []float64
			for _, c := range row {
				r = append(r, f(c))
			}
			v = append(v, r)
		}
		return v
	}
	alone := pick(func(c fig6Cell) float64 { return c.alone })
	nnz := pick(func(c fig6Cell) float64 { return c.nnz })
	sec.Tables = []plot.Table{
		speedTable("msrep-fig6-paper", "The paper: row blocks on 8 GPUs of a DGX-1", plot.Paper, paper.Figure6Low, ratios, paper.Figure6),
		speedTable("msrep-fig6-blocks", "Row blocks: the slowest device counts", s.origin(), lows, ratios, alone),
		speedTable("msrep-fig6-nnz", "Split by nonzeros", s.origin(), lows, ratios, nnz),
	}
	if s.platform == nil {
		sec.Tables = append(sec.Tables, speedTable("msrep-fig6-shared", "Row blocks, devices at once on the cores of this machine", plot.Measured, lows, ratios,
			pick(func(c fig6Cell) float64 { return c.blocks })))
		sec.Intro = append(sec.Intro,
			fmt.Sprintf("Row blocks: each device multiplies alone, and the longest time stands for a node whose %d devices run in parallel, as GPUs do. Split by nonzeros: all devices run at once and share %d cores, so compare the rows of this table with each other, not with the table of blocks.", s.most, s.Record.Machine.Cores),
			"Devices at once: with fewer cores than devices, a core that finishes a short block continues with another block, which hides much of the imbalance.")
	}
	sec.Figures = []plot.Figure{
		relativeFigure("msrep-fig6-few", "Row blocks: fraction of the balanced speed", s.origin(), lows, ratios, alone, true),
		relativeFigure("msrep-fig6-even", "Split by nonzeros: fraction of the balanced speed", s.origin(), lows, ratios, nnz, false),
	}
	v := fig6Verdicts(lows, ratios, alone, nnz)
	claims := plot.Table{Name: "msrep-fig6-claims", Title: "What the paper says", Prose: true, Header: []string{"statement", "paper", string(s.origin()), "outcome"}}
	held := 0
	for i := range v {
		claims.Rows = append(claims.Rows, []string{v[i].Says, v[i].Printed, v[i].Found, v[i].Outcome})
		v[i].Found += " (" + string(s.origin()) + ")"
		if v[i].Outcome == reproduced {
			held++
		}
	}
	s.verdicts = append(s.verdicts, v...)
	sec.Tables = append([]plot.Table{claims}, sec.Tables...)
	sec.Remarks = []string{fmt.Sprintf("Statements of the paper about this figure: %d. Of these hold here: %d.", len(v), held)}
	if s.platform == nil {
		sec.Remarks = append(sec.Remarks, s.medianErrors("msrep-fig6"))
	}
	return sec
}

// fig6Errors returns the mean and the largest deviation of speeds from paper.Balance.
func fig6Errors(lows []int, ratios []float64, speed [][]float64) (mean, worst float64) {
	for i, low := range lows {
		for k, ratio := range ratios {
			e := math.Abs(speed[i][k]/speed[0][0]/paper.Balance(len(lows), low, ratio) - 1)
			worst, mean = max(worst, e), mean+e/float64(len(lows)*len(ratios))
		}
	}
	return mean, worst
}

// fig6Verdicts judges the speeds with row blocks and with a split by nonzeros.
func fig6Verdicts(lows []int, ratios []float64, blocks, nnz [][]float64) []verdict {
	mean, worst := fig6Errors(lows, ratios, blocks)
	paperMean, paperWorst := fig6Errors(paper.Figure6Low, paper.Figure6Ratios, paper.Figure6)
	half, least := len(lows)/2, math.Inf(1)
	for _, row := range nnz {
		least = min(least, slices.Min(row)/nnz[0][0])
	}
	left := blocks[half][0] / blocks[0][0]
	rule := paper.Balance(len(lows), lows[half], ratios[0])
	of := func(says, printed, found string, x float64, holds func(float64) bool) verdict {
		return verdict{Paper: "MSREP", Item: "Figure 6", Says: says, Printed: printed, Found: found, Outcome: outcome(x, holds)}
	}
	return []verdict{
		of("row blocks: speed is that of the balanced matrix times mean over largest load; error on average and at most, % (holds to 10 and 25)",
			fmt.Sprintf("%.0f and %.0f", 100*paperMean, 100*paperWorst), fmt.Sprintf("%.0f and %.0f", 100*mean, 100*worst), max(mean/0.10, worst/0.25), below(1)),
		of(fmt.Sprintf("row blocks: speed that is left with %d of %d devices at %g of the nonzeros (holds within 10 %% of the rule)", lows[half], len(lows), ratios[0]),
			fmt.Sprintf("%.2f of 8 GPUs; rule: %.2f", paper.Figure6[4][0]/paper.Figure6[0][0], rule), fmt.Sprintf("%.2f", left), left, about(rule, 0.10)),
		of("split by nonzeros: the least speed of all cells by the balanced one (holds from 0.9)", "1 (Figure 7: balanced)", fmt.Sprintf("%.2f", least), least, atLeast(0.9)),
	}
}

// medianErrors describes the widths of the intervals of an experiment's medians.
func (s *Session) medianErrors(experiment string) string {
	var widths []float64
	for _, r := range s.Record.Rows {
		if r.Experiment == experiment && r.Source == record.Measured && r.Median > 0 {
			widths = append(widths, (r.High-r.Low)/r.Median)
		}
	}
	if len(widths) == 0 {
		return "No time was measured."
	}
	slices.Sort(widths)
	return fmt.Sprintf("The 95 %% intervals of the medians are %.0f %% wide in the median case and %.0f %% in the worst: errors of this size may come from a disturbed machine.", 100*widths[len(widths)/2], 100*widths[len(widths)-1])
}

// speedTable returns a table like Figure 6.
func speedTable(name, title string, origin plot.Origin, lows []int, ratios []float64, v [][]float64) plot.Table {
	t := plot.Table{Name: name, Title: title, Origin: origin, Header: []string{"devices with few"}}
	for _, r := range ratios {
		t.Header = append(t.Header, fmt.Sprintf("%.0f/10", 10*r))
	}
	most := 0.0
	for _, row := range v {
		most = max(most, slices.Max(row))
	}
	for i, low := range lows {
		row, shade := []string{fmt.Sprint(low)}, []float64{}
		for _, x := range v[i] {
			row, shade = append(row, short(x)), append(shade, x/most)
		}
		t.Rows, t.Shade = append(t.Rows, row), append(t.Shade, shade)
	}
	return t
}

// relativeFigure draws up to three of the rows relative to the balanced speed. With beside, it adds those of the
// paper, which has only row blocks.
func relativeFigure(name, title string, origin plot.Origin, lows []int, ratios []float64, v [][]float64, beside bool) plot.Figure {
	f := plot.Figure{Name: name, Title: title, XLabel: "nonzeros of a low device by those of a high one", YLabel: "fraction of the balanced speed"}
	scaled := func(row []float64, by float64) (s []float64) {
		for _, x := range row {
			s = append(s, x/by)
		}
		return s
	}
	for _, i := range []int{1, len(lows) / 2, len(lows) - 1} {
		if i < 1 || i >= len(lows) || (len(f.Series) > 0 && i == 1) {
			continue
		}
		f.Series = append(f.Series, plot.Series{Name: fmt.Sprintf("%d of %d low", lows[i], len(lows)), Origin: origin, X: ratios, Y: scaled(v[i], v[0][0])})
		if beside && len(lows) == len(paper.Figure6Low) {
			f.Series = append(f.Series, plot.Series{Name: fmt.Sprintf("%d of %d low", lows[i], len(lows)), Origin: plot.Paper, X: ratios, Y: scaled(paper.Figure6[i], paper.Figure6[0][0])})
		}
	}
	return f
}

// short formats a number with about three digits.
func short(v float64) string {
	if v >= 100 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3g", v)
}

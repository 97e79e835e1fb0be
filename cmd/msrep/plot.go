package main

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/msrep-go/msrep/cluster"
	"github.com/msrep-go/msrep/internal/fileio"
	"github.com/msrep-go/msrep/internal/plot"
	"github.com/msrep-go/msrep/internal/plot/structure"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/matio"
)

// namedFile is a file of the command line and what it is.
type namedFile struct{ path, is string }

// checkPicture refuses the path of an output file whose extension is none of ext, or that is one of the other files.
func checkPicture(flag, path string, ext []string, others ...namedFile) error {
	if path == "" {
		return nil
	}
	written, err := os.Stat(path)
	exists := err == nil && written.Mode().IsRegular()
	for _, f := range others {
		if f.path == "" {
			continue
		}
		other, err := os.Stat(f.path)
		if filepath.Clean(f.path) == filepath.Clean(path) || exists && err == nil && os.SameFile(written, other) {
			return sparse.Inputf(flag, "%s: is %s, which it would replace: name another file", path, f.is)
		}
	}
	if !slices.Contains(ext, strings.ToLower(filepath.Ext(path))) {
		return sparse.Inputf(flag, "%s: the extension says the format: use %s", path, strings.Join(ext, ", "))
	}
	return nil
}

// picture is the file of a page that is being made; nil is none.
type picture struct{ out *fileio.Out }

// openPicture creates the file of a flag before the work, so an unwritable path fails first; "" gives nil.
func openPicture(flag, path string) (*picture, error) {
	if path == "" {
		return nil, nil
	}
	out, err := fileio.Create(path)
	if err != nil {
		return nil, &sparse.InputError{Subject: flag, Err: err}
	}
	return &picture{out}, nil
}

// save writes the page and gives the file its name.
func (p *picture) save(path string, page *plot.Page) error {
	if err := plot.Writer(path)(p.out, page); err != nil {
		return err
	}
	return p.out.Commit()
}

// close removes the file unless it was saved.
func (p *picture) close() {
	if p != nil {
		p.out.Close()
	}
}

// mostHaloParts is the largest number of parts whose halo is drawn.
const mostHaloParts = 8

// hugeVectors reports whether x and y take more than 2 GB and much more than the matrix, so that trying forms and
// splitting the matrix would take long for a picture.
func hugeVectors(a *sparse.CSR[float64]) bool {
	n := int64(a.Rows) + int64(a.Cols)
	return n > 1<<28 && n > 8*a.NNZ()
}

// draw writes the page of info --plot.
func (c *call) draw(d description, to *picture, path string, m *matio.Matrix) error {
	page, err := c.page(d, m)
	if err != nil {
		return err
	}
	return to.save(path, page)
}

// page returns the page of info --plot.
func (c *call) page(d description, m *matio.Matrix) (*plot.Page, error) {
	c.progress.doing("drawing", nil)
	r := "undefined"
	if d.PowerLawR != nil {
		r = fmt.Sprintf("%.3f", *d.PowerLawR)
	}
	p := &plot.Page{
		Title: "Matrix " + d.Name,
		Facts: [][2]string{
			{"size", fmt.Sprintf("%d x %d, %d nonzeros", d.Rows, d.Cols, d.NNZ)},
			{"in the file", fmt.Sprintf("%d entries, %s, %s", d.Stored, d.Field, d.Symmetry)},
			{"row lengths", fmt.Sprintf("%d to %d, mean %.6g, standard deviation %.6g", d.Row.Min, d.Row.Max, d.Row.Mean, d.Row.StdDev)},
			{"empty", fmt.Sprintf("%d rows, %d columns", d.EmptyRows, d.EmptyCols)},
			{"bandwidth", fmt.Sprintf("%d (below the diagonal %d, above %d)", d.Bandwidth, d.Lower, d.Upper)},
			{"power law R", r},
			{"recommended", fmt.Sprintf("%s, %s%s", d.Recommended.Format, alias(d.Recommended.Format), d.Recommended.Why)},
		},
		Sections: []plot.Section{structure.Section(m.CSR, d.Stats)},
	}
	if s, ok := formsSection(d.Explain); ok {
		p.Sections = append(p.Sections, s)
	}
	if hugeVectors(m.CSR) {
		p.Intro = []string{"The vectors are much larger than the matrix, so forms were not tried and the matrix was not split; --explain and --ranks do that."}
		return p, nil
	}
	if d.NNZ == 0 {
		return p, nil
	}
	var halos [][]int64
	split := count{total: mostHaloParts - 1}
	c.progress.doing("splitting over 2 to 8 parts", split.part)
	for parts := 2; parts <= mostHaloParts; parts++ {
		e, err := cluster.Model(m.CSR, parts, 1, 8)
		if err != nil {
			return nil, err
		}
		halos = append(halos, e.Halo)
		split.done.Add(1)
	}
	p.Sections = append(p.Sections, structure.Halo(halos, m.Cols))
	return p, nil
}

// formsSection shows the forms that devices tried, with their times.
func formsSection(all []explanation) (s plot.Section, ok bool) {
	s = plot.Section{Name: "forms", Title: "Forms that the devices tried", Pictures: true}
	for _, e := range all {
		if e.Form == "" {
			s.Remarks = append(s.Remarks, e.Device+" keeps its part as it is.")
			continue
		}
		s.Remarks = append(s.Remarks, fmt.Sprintf("%s uses form %s: %s; %s, found in %s.", e.Device, e.Form, e.Why, memoryOf(e.Bytes), seconds(e.TookS)))
		bars := plot.Series{Name: "product"}
		var names []string
		t := plot.Table{Name: "forms-" + e.Device, Title: "Forms tried by " + e.Device, Prose: true, Header: []string{"form", "product", "built in", "memory", "why"}}
		for _, f := range e.Tried {
			if f.Skipped != "" {
				t.Rows = append(t.Rows, []string{string(f.Form), "not timed: " + f.Skipped, "", "", f.Why})
				continue
			}
			t.Rows = append(t.Rows, []string{string(f.Form), seconds(f.ProductS), seconds(f.BuildS), memoryOf(f.Bytes), f.Why})
			names = append(names, string(f.Form))
			bars.Add(float64(len(names)), f.ProductS*1e6)
		}
		if len(t.Rows) > 0 {
			s.Tables = append(s.Tables, t)
		}
		if len(names) > 0 && len(s.Figures) < mostDevicesDrawn {
			s.Figures = append(s.Figures, plot.Figure{
				Name: "forms-figure-" + e.Device, Title: "Time of a product on " + e.Device, Kind: plot.Bars, XLabel: "form", YLabel: "microseconds",
				Desc: fmt.Sprintf("%s is in use.", e.Form), Names: plot.Ranked(names), Series: []plot.Series{bars},
			})
		}
	}
	return s, len(all) > 0
}

// idsOfDevices returns the names of the devices.
func idsOfDevices(sys *msrep.System) (ids []string) {
	for _, d := range sys.Devices() {
		ids = append(ids, d.ID)
	}
	return ids
}

// saveTimes writes the files of spmv --plot and --trace; one of them may be nil.
func (s *spmv) saveTimes(drawn, traced *picture, m matrixName) error {
	if traced != nil {
		if err := s.timed.WriteTrace(traced.out, "msrep "+s.line); err != nil {
			return err
		}
		if err := traced.out.Commit(); err != nil {
			return err
		}
	}
	if drawn == nil {
		return nil
	}
	return drawn.save(s.plot, &plot.Page{
		Title: "Products with " + m.Name,
		Facts: [][2]string{
			{"matrix", fmt.Sprintf("%d x %d, %d nonzeros", m.Rows, m.Cols, m.NNZ)},
			{"command", "msrep " + s.line},
		},
		Sections: []plot.Section{s.timed.Section("spmv")},
	})
}

// mostDevicesDrawn is the number of devices whose forms are drawn; the tables have all.
const mostDevicesDrawn = 4

// plotted is about the largest number of points of a line in the page of --plot.
const plotted = 400

// addThinned adds about plotted of the points that a logarithmic axis can show, with the last one.
func addThinned(s *plot.Series, points []moment) {
	every := 1 + len(points)/plotted
	for k, p := range points {
		if (k%every == 0 || k == len(points)-1) && p.residual > 0 && !math.IsInf(p.residual, 0) {
			s.Add(p.seconds, p.residual)
		}
	}
}

// page returns the page of solve --plot: the history of each attempt over iterations and over time, and a table of the
// attempts. times has the residuals over time, by attempt.
func (r *solution) page(times [][]moment) *plot.Page {
	figure := plot.Figure{Name: "history", Title: "Relative residual after each iteration", XLabel: "iteration", YLabel: "|b - A x| / |b|", Log: true,
		Desc: "A line for each attempt."}
	overTime := figure
	overTime.Name, overTime.Title, overTime.XLabel = "history-time", "Relative residual over time", "seconds from the start of the solve"
	table := plot.Table{Name: "attempts", Title: "Attempts", Prose: true, Origin: plot.Measured, Header: []string{"attempt", "iterations", "residual", "seconds", "why", "end"}}
	for i, a := range r.Attempts {
		line := plot.Series{Name: fmt.Sprintf("%d %s", i+1, a.name())}
		timed := line
		var steps, clock []moment
		for k, v := range a.History {
			steps = append(steps, moment{float64(k + 1), float64(v)})
		}
		if i < len(times) {
			clock = times[i]
		}
		addThinned(&line, steps)
		addThinned(&timed, clock)
		if len(line.X) > 0 {
			figure.Series = append(figure.Series, line)
		}
		if len(timed.X) > 0 {
			overTime.Series = append(overTime.Series, timed)
		}
		table.Rows = append(table.Rows, []string{line.Name, fmt.Sprint(a.Iterations), fmt.Sprintf("%.3g", a.lastResidual()), fmt.Sprintf("%.3g", a.Seconds), a.Why, cmp.Or(a.Failure, "within the tolerance")})
	}
	section := plot.Section{Name: "solve", Title: "Attempts", Pictures: true, Tables: []plot.Table{table}}
	for _, f := range []plot.Figure{figure, overTime} {
		if len(f.Series) > 0 {
			section.Figures = append(section.Figures, f)
		}
	}
	facts := [][2]string{
		{"matrix", fmt.Sprintf("%s, %d x %d, %d nonzeros", r.Matrix.Name, r.Matrix.Rows, r.Matrix.Cols, r.Matrix.NNZ)},
		{"relative residual", fmt.Sprintf("%.3g", float64(r.Residual))},
		{"seconds", fmt.Sprintf("%.3g", r.Phases.Total)},
	}
	if r.Failure != "" {
		facts = append(facts, [2]string{"failure", r.Failure})
	}
	return &plot.Page{Title: "Solution of A x = b, " + r.Matrix.Name, Facts: facts, Sections: []plot.Section{section}}
}

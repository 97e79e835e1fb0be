package experiment

import (
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/msrep-go/msrep/internal/bench"
	"github.com/msrep-go/msrep/internal/bench/paper"
	"github.com/msrep-go/msrep/internal/plot"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/ellpack"
	"github.com/msrep-go/msrep/sparse/matio"
)

// The numbers of entries of the square matrices that are compared. Matrices that the paper names are compared at any
// size.
const (
	pellrLeast = 10_000
	pellrMost  = 300_000
)

// pellrSmallest is the least number of entries of generated matrices: a matrix with 64 entries per row needs enough
// rows.
const pellrSmallest = 8000

// pellrBytes is the limit of the size of files whose entries are counted: 40 bytes per entry, more than a line of
// text has.
const pellrBytes = 40 * pellrMost

// pellr compares the formats of the PELLR paper, Figures 6 and 8 to 12.
func pellr(ctx context.Context, s *Session) error {
	p := bench.PELLR{Devices: s.pellrDevices(), Interpreted: s.Interpreted, Before: s.Options.Before}
	var from string
	var err error
	if p.Paths, from, err = s.pellrPaths(); err != nil {
		return err
	}
	p.Names = addPELLRMatrices(&p.Paths, s.Entries)
	p.Filter = func(name string, m *matio.Matrix) bool {
		_, named := paper.FindPELLR(name)
		return m.Rows == m.Cols && (named || m.NNZ() >= min(pellrLeast, s.Entries/10) && m.NNZ() < pellrMost)
	}
	p.Step = func(done, total int, name string) error {
		if done == 0 {
			s.steps(total)
		}
		return s.step(ctx, "pellr: "+name)
	}
	all, err := p.Measure(ctx)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(all, func(m bench.PELLRMatrix) bool { return s.Mats == "" || m.Source != bench.Generated }) {
		return sparse.Inputf("--mats", "no square matrix of %d to %d entries in %s", pellrLeast, pellrMost, from)
	}
	v := &pellrView{matrices: all, place: p.Devices}
	s.recordPELLR(v)
	s.judgePELLR(v)
	s.Page.Sections = append(s.Page.Sections, v.section(from))
	return nil
}

// pellrDevices returns the timed devices: one GPU, or one CPU device. It returns "" for a modelled node, because the
// model does not cover these formats.
func (s *Session) pellrDevices() string {
	switch {
	case s.platform != nil:
		return ""
	case len(s.gpus) > 0:
		return s.measured(1)
	}
	return "cpu:1"
}

// pellrPaths returns the files in the folder of matrices. Without a folder it returns those of testdata, if
// available, and generated matrices.
func (s *Session) pellrPaths() (paths []string, from string, err error) {
	if s.Mats != "" {
		paths, err = bench.PELLRFiles(s.Mats, pellrBytes)
		return paths, s.Mats, err
	}
	if _, err := os.Stat("testdata"); err == nil {
		if paths, err = bench.PELLRFiles("testdata", pellrBytes); err != nil {
			return nil, "", err
		}
	}
	return append(paths, pellrGenerated(float64(max(min(s.Entries, pellrMost/3), pellrSmallest)))...), "testdata and generators (--mats DIR names a folder of real ones)", nil
}

// addPELLRMatrices adds generated matrices for those of the paper's Table 1 that are not among the paths and have at
// most 2*entries entries. It returns their names.
func addPELLRMatrices(paths *[]string, entries int64) map[string]string {
	names := map[string]string{}
	for _, m := range paper.PELLRMatrices {
		here := slices.ContainsFunc(*paths, func(path string) bool { return bench.MatrixName(path) == m.Name })
		if !here && m.NNZ <= 2*entries {
			*paths = append(*paths, m.Like)
			names[m.Like] = m.Name
		}
	}
	return names
}

// pellrGenerated returns specs of square matrices with about the given number of entries, from equal to very unequal
// row lengths.
func pellrGenerated(entries float64) (specs []string) {
	add := func(format string, args ...any) { specs = append(specs, "gen:"+fmt.Sprintf(format, args...)) }
	side := func(perPoint, dims float64) int64 { return max(2, int64(math.Pow(entries/perPoint, 1/dims))) }
	add("stencil:points=5,n=%d", side(5, 2))
	add("stencil:points=9,n=%d", side(9, 2))
	add("stencil:points=7,n=%d", side(7, 3))
	add("stencil:points=27,n=%d", side(27, 3))
	add("banded:n=%d,band=8", side(17, 1))
	add("banded:n=%d,band=20,density=0.5", side(21, 1))
	add("cfd:n=%d,unknowns=5", side(7*25, 3))
	add("cfd:n=%d,unknowns=3,points=27", side(27*9, 3))
	for _, kind := range []string{"delaunay", "rgg", "road", "quads", "bubbles"} {
		add("planar:kind=%s,n=%d", kind, side(map[string]float64{"delaunay": 6, "rgg": 16, "road": 2.4, "quads": 4, "bubbles": 3}[kind], 2))
	}
	for _, ave := range []float64{4, 16, 64} {
		add("random:rows=%d,nnz=%d", side(ave, 1), int64(entries))
		add("rmat:scale=%d,edges=%d", max(1, int(math.Log2(entries/ave))), int(ave))
	}
	for _, r := range []float64{1.5, 1.8, 2.1, 2.5, 3, 4} {
		add("powerlaw:rows=%d,nnz=%d,r=%g", side(10, 1), int64(entries), r)
	}
	for _, m := range paper.Matrices {
		add("like:name=%s,scale=%.3g", m.Name, entries/float64(m.NNZ))
	}
	add("lowhigh:rows=%d,nnz=%d,ratio=0.1", side(20, 1), int64(entries))
	add("arrow:n=%d", side(3, 1))
	return specs
}

// recordPELLR adds the samples to the record.
func (s *Session) recordPELLR(v *pellrView) {
	for _, m := range v.matrices {
		for _, r := range m.Runs {
			name := m.Name + " " + string(r.Format)
			if samples := r.Samples(); len(samples) > 0 {
				s.Record.Add("pellr", name, "product", samples)
				s.Record.Moves(r.Bytes)
			}
			if r.Sectors > 0 {
				s.Record.AddCounted("pellr", name, "warp instructions", float64(r.Instructs))
				s.Record.AddCounted("pellr", name, "sectors", float64(r.Distinct))
			}
		}
	}
}

// pellrMeasure is a measure of the cost of a product.
type pellrMeasure struct {
	name   string
	origin plot.Origin
	unit   string
	// cost returns the cost of a format on a matrix; false if unknown.
	cost func(m *bench.PELLRMatrix, f sparse.Format) (float64, bool)
}

// pellrView holds the results of all matrices, sorted by sigma.
type pellrView struct {
	matrices []bench.PELLRMatrix
	place    string // the timed device; "" for none
}

// measures returns the measures with results.
func (v *pellrView) measures() []pellrMeasure {
	all := []pellrMeasure{
		{"time on " + v.place, plot.Measured, "microseconds", func(m *bench.PELLRMatrix, f sparse.Format) (float64, bool) {
			r, _ := m.Run(f)
			samples := r.Samples()
			if len(samples) == 0 {
				return 0, false
			}
			return 1e6 * slices.Min(samples), true
		}},
		{"warp instructions", plot.Counted, "instructions", func(m *bench.PELLRMatrix, f sparse.Format) (float64, bool) {
			r, _ := m.Run(f)
			return float64(r.Instructs), r.Instructs > 0
		}},
		{"sectors", plot.Counted, "sectors of 32 bytes", func(m *bench.PELLRMatrix, f sparse.Format) (float64, bool) {
			r, _ := m.Run(f)
			return float64(r.Distinct), r.Distinct > 0
		}},
	}
	return slices.DeleteFunc(all, func(c pellrMeasure) bool {
		return !slices.ContainsFunc(v.matrices, func(m bench.PELLRMatrix) bool {
			_, ok := c.cost(&m, ellpack.FormatPELLR)
			return ok
		})
	})
}

// over returns the cost of another format over the cost of PELLR on a matrix.
func (c pellrMeasure) over(m *bench.PELLRMatrix, f sparse.Format) (float64, bool) {
	p, ok := c.cost(m, ellpack.FormatPELLR)
	o, ok2 := c.cost(m, f)
	return o / p, ok && ok2
}

// mean returns the geometric mean of over on the matrices for which pick is true; NaN for none.
func (v *pellrView) mean(c pellrMeasure, f sparse.Format, pick func(m *bench.PELLRMatrix) bool) float64 {
	var factors []float64
	for i := range v.matrices {
		if m := &v.matrices[i]; pick(m) {
			if r, ok := c.over(m, f); ok {
				factors = append(factors, r)
			}
		}
	}
	return geometricMean(factors)
}

// ahead returns the number of matrices on which PELLR is better than f, and the number of matrices compared.
func (v *pellrView) ahead(c pellrMeasure, f sparse.Format) (n, of int) {
	for i := range v.matrices {
		if r, ok := c.over(&v.matrices[i], f); ok {
			of++
			if r > 1 {
				n++
			}
		}
	}
	return n, of
}

// ofTable1 returns the view of the matrices that the paper names.
func (v *pellrView) ofTable1() *pellrView {
	one := &pellrView{place: v.place}
	for _, m := range v.matrices {
		if _, ok := paper.FindPELLR(m.Name); ok {
			one.matrices = append(one.matrices, m)
		}
	}
	return one
}

// names returns the names of the matrices, with a mark if a matrix differs from its file.
func (v *pellrView) names() (names []plot.Mark) {
	for i, m := range v.matrices {
		mark := ""
		switch _, named := paper.FindPELLR(m.Name); {
		case m.Source == bench.Generated && named:
			mark = "*"
		case m.Source == bench.RandomValues:
			mark = "~"
		}
		names = append(names, plot.Mark{X: float64(i + 1), Label: strings.TrimPrefix(m.Name, "gen:") + mark})
	}
	return names
}

// sigma selects matrices by a range of sigma: low < sigma <= high.
func sigma(low, high float64) func(m *bench.PELLRMatrix) bool {
	return func(m *bench.PELLRMatrix) bool { return m.StdDev > low && m.StdDev <= high }
}

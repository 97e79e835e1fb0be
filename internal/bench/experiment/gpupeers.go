package experiment

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/msrep-go/msrep/internal/bench"
	"github.com/msrep-go/msrep/internal/bench/gpuruns"
	"github.com/msrep-go/msrep/internal/plot"
	"github.com/msrep-go/msrep/kernels/nvidia"
	"github.com/msrep-go/msrep/sparse/matio"
)

// committedResults is the folder with the project's GPU results, relative to its root.
var committedResults = filepath.Join("bench", "results")

// gpuPeers compares our kernels with cuSPARSE on the available GPUs, and draws the results of scripts/gpu-run, which
// include CuPy and torch.
func gpuPeers(ctx context.Context, s *Session) error {
	sec := plot.Section{
		Name: "gpu-peers", Title: "Products on GPUs, compared with cuSPARSE, CuPy and torch",
		Intro: []string{"Ratios are the time of the other library over that of the fastest of our kernels (by vectors, by merge path and, if measured, by slices): above 1 ours is faster. Matrix and vectors stay on the GPU."},
	}
	s.steps(1)
	if err := s.step(ctx, "gpu-peers: results that are kept"); err != nil {
		return err
	}
	runs, err := s.gpuRuns()
	if err != nil {
		return err
	}
	if len(s.gpus) > 0 {
		here, err := s.measureGPU(ctx)
		if err != nil {
			return err
		}
		runs = append([]*gpuruns.Run{here}, runs...)
	} else {
		why := nvidia.Query().Reason
		if why == "" {
			why = "--devices names none"
		}
		sec.Remarks = append(sec.Remarks, "This run used no GPU: "+why+".")
	}
	for i, r := range runs {
		if r.StandIn() {
			sec.Remarks = append(sec.Remarks, r.Folder+" was made with the stand-in for the driver, whose times mean nothing: it is not drawn.")
			continue
		}
		origin := plot.Earlier
		if i == 0 && len(s.gpus) > 0 {
			origin = plot.Measured
		}
		table, figure := peerTable(r, origin), peerFigure(r, origin)
		sec.Tables, sec.Figures = append(sec.Tables, table), append(sec.Figures, figure)
		sec.Remarks = append(sec.Remarks, peerRemark(r))
	}
	if len(sec.Tables) == 0 {
		sec.Remarks = append(sec.Remarks, "There are no GPU results to show: scripts/gpu-run DIR writes them on a machine with a GPU, and --results DIR names their folder.")
	}
	s.Page.Sections = append(s.Page.Sections, sec)
	return nil
}

// gpuRuns reads earlier results.
func (s *Session) gpuRuns() (runs []*gpuruns.Run, err error) {
	dir := s.Results
	if dir == "" {
		if _, err := os.Stat(committedResults); err != nil {
			return nil, nil
		}
		dir = committedResults
	}
	folders, err := gpuruns.Find(dir)
	if err != nil {
		return nil, err
	}
	for _, f := range folders {
		r, err := gpuruns.Read(f)
		if err != nil {
			return nil, err
		}
		runs = append(runs, r)
	}
	return runs, nil
}

// gpuSpecs returns specs of regular and skewed matrices with about the given number of entries.
func gpuSpecs(entries int64) (specs []string) {
	e := float64(entries)
	return []string{
		fmt.Sprintf("gen:stencil:points=27,n=%.0f", math.Max(2, math.Cbrt(e/27))),
		fmt.Sprintf("gen:stencil:points=5,n=%.0f", math.Max(2, math.Sqrt(e/5))),
		fmt.Sprintf("gen:banded:n=%.0f,band=12", math.Max(2, e/25)),
		fmt.Sprintf("gen:powerlaw:rows=%.0f,nnz=%d", math.Max(2, e/20), entries),
		fmt.Sprintf("gen:rmat:scale=%.0f,edges=16", math.Max(1, math.Log2(e/16))),
		fmt.Sprintf("gen:random:rows=%.0f,nnz=%d", math.Max(2, e/25), entries),
	}
}

// measureGPU measures products on the first GPU.
func (s *Session) measureGPU(ctx context.Context) (*gpuruns.Run, error) {
	r := &gpuruns.Run{Folder: "here", GPU: s.measured(1)}
	for _, g := range nvidia.Query().GPUs {
		if s.gpus[0] == strconv.Itoa(g.Ordinal) {
			r.GPU = g.Name
		}
	}
	specs := gpuSpecs(s.Entries)
	s.steps(len(specs))
	for _, spec := range specs {
		if err := s.step(ctx, "gpu-peers: "+spec); err != nil {
			return nil, err
		}
		m, err := matio.Read(ctx, spec)
		if err != nil {
			return nil, err
		}
		seconds, err := bench.GPUProducts(ctx, s.measured(1), m.CSR)
		if err != nil {
			return nil, err
		}
		p := gpuruns.Product{
			Matrix: strings.TrimPrefix(spec, "gen:"), Value: "fp64", NNZ: m.NNZ(), Seconds: map[string]float64{},
			Least: 12*m.NNZ() + 8*int64(m.Rows+1) + 8*int64(m.Rows+m.Cols),
		}
		for way, samples := range seconds {
			row := s.Record.Add("gpu-peers", p.Matrix+" "+way, "product", samples)
			s.Record.Moves(p.Least)
			p.Seconds[way] = row.Median
		}
		r.Products = append(r.Products, p)
	}
	return r, nil
}

// rivals are the other libraries of a run, in the order of the columns.
var rivals = []string{gpuruns.CuSPARSE, gpuruns.CuPy, gpuruns.Torch}

func peerTable(r *gpuruns.Run, origin plot.Origin) plot.Table {
	t := plot.Table{
		Name: "gpu-peers-" + r.Folder, Title: fmt.Sprintf("%s: %s", r.Folder, r.GPU), Origin: origin,
		Header: []string{"matrix, values", "nnz", "own, GB/s of CSR", "of copy", "cuSPARSE / own", "CuPy / own", "torch / own"},
	}
	for _, p := range r.Products {
		speed := float64(p.Least) / p.Own()
		row := []string{p.Matrix + " " + p.Value, fmt.Sprint(p.NNZ), orDash(speed / 1e9), "-"}
		if r.Copy > 0 {
			row[3] = orDash(speed / r.Copy)
		}
		for _, rival := range rivals {
			row = append(row, orDash(ratioTo(&p, rival)))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// ratioTo returns the time of a rival over ours, NaN if one is unknown.
func ratioTo(p *gpuruns.Product, rival string) float64 {
	s, ok := p.Seconds[rival]
	if !ok {
		return math.NaN()
	}
	return s / p.Own()
}

func peerFigure(r *gpuruns.Run, origin plot.Origin) plot.Figure {
	f := plot.Figure{
		Name: "gpu-peers-" + r.Folder, Title: r.GPU + ": time over that of our kernels", XLabel: "matrices, as in the table", YLabel: "ratio, above 1 ours is faster", Level: 1,
	}
	for _, rival := range rivals {
		series := plot.Series{Name: rival, Origin: origin, Points: true}
		for i := range r.Products {
			if v := ratioTo(&r.Products[i], rival); !math.IsNaN(v) {
				series.Add(float64(i+1), v)
			}
		}
		if len(series.X) > 0 {
			f.Series = append(f.Series, series)
		}
	}
	return f
}

// peerRemark states the geometric mean of the best rival's time over ours.
func peerRemark(r *gpuruns.Run) string {
	var ratios []float64
	for i := range r.Products {
		best := math.Inf(1)
		for _, rival := range rivals {
			if v := ratioTo(&r.Products[i], rival); v < best {
				best = v
			}
		}
		if !math.IsInf(best, 1) {
			ratios = append(ratios, best)
		}
	}
	if len(ratios) == 0 {
		return r.Folder + ": no rival was measured."
	}
	return fmt.Sprintf("%s: the best rival takes %.2f times as long as our fastest kernel, geometric mean of %d; %.2f at the least.", r.Folder, geometricMean(ratios), len(ratios), slices.Min(ratios))
}

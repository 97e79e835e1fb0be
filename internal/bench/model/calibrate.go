package model

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/msrep-go/msrep/internal/bench/paper"
	"github.com/msrep-go/msrep/sparse"
)

// Point is one run of the authors and its job.
type Point struct {
	paper.Time        // multiplied by Scale
	Kind       string // one of paper.Versions
	Job        Job
	Scale      float64
}

// Points returns the authors' runs on a platform on the six matrices of Table 2, in all formats and versions. Of the
// baseline, the blocks of rows hold unknown fractions of the entries, so it includes only the runs on one GPU and the
// runs on HV15R. With corrected, times are multiplied by the factor of paper.Time.Correction.
func Points(platform string, corrected bool) []Point {
	return points(platform, corrected, paper.Find)
}

// OtherPoints returns the runs on matrices that Table 2 does not name. No calibration uses them.
func OtherPoints(platform string) []Point { return points(platform, true, paper.FindOther) }

func points(platform string, corrected bool, find func(string) (paper.Matrix, bool)) (out []Point) {
	for _, t := range paper.Times() {
		m, ok := find(t.Matrix)
		kind := t.Kind()
		if !ok || kind == "" || t.Platform != platform || kind == "baseline" && t.GPUs > 1 && t.Matrix != "HV15R" {
			continue
		}
		pt := Point{Time: t, Kind: kind, Job: even(m.Name, sparse.Format(t.Format), int64(m.Rows), int64(m.Cols), m.Stored, t.GPUs), Scale: 1}
		if corrected {
			pt.Scale = t.Correction()
			for _, v := range []*float64{&pt.Partition, &pt.H2D, &pt.Compute, &pt.Merge} {
				*v *= pt.Scale
			}
		}
		out = append(out, pt)
	}
	return out
}

// held reports whether a run is held out to check the model; the other half of the runs calibrates it. The halves
// alternate by the number of GPUs, and the first half alternates by matrix and format, so both halves contain all
// matrices and formats.
func (pt Point) held() bool {
	matrix := slices.IndexFunc(paper.Matrices, func(m paper.Matrix) bool { return m.Name == pt.Matrix })
	format := slices.Index([]string{"csr", "csc", "coo"}, pt.Format)
	return (matrix+format+pt.GPUs)%2 == 0
}

// Phases lists the phases of the authors' times, and their sum.
var Phases = []string{"partition", "h2d", "compute", "merge", Total}

// Total is the sum of the phases.
const Total = "total"

// phase returns a measured phase of the point.
func (pt Point) phase(name string) float64 {
	return Times{pt.Partition, pt.H2D, pt.Compute, pt.Merge}.phase(name)
}

// phase returns the same phase as the model computes it.
func (p *Platform) phase(pt Point, name string) float64 {
	return p.Authors(pt.Job, pt.Kind).phase(name)
}

func (t Times) phase(name string) float64 {
	switch name {
	case "partition":
		return t.Partition
	case "h2d":
		return t.H2D
	case "compute":
		return t.Compute
	case "merge":
		return t.Merge
	}
	return t.Total()
}

// Fit states which of the authors' runs fit a group of parameters: one phase of some versions, formats and matrices,
// in the half that is not held out.
type Fit struct {
	Params   []string // names from Platform.Params; "kernels" for Platform.Kernels
	Phase    string
	Versions []string
	Formats  []string // empty for all
	Matrix   string   // empty for all
	FromGPUs int      // least number of GPUs of a run
}

// String describes the runs that take part.
func (f Fit) String() string {
	text := f.Phase + " of " + strings.Join(f.Versions, " and ")
	if len(f.Formats) > 0 {
		text += ", " + strings.Join(f.Formats, " and ")
	}
	if f.Matrix != "" {
		text += ", " + f.Matrix
	}
	if f.FromGPUs > 1 {
		text += fmt.Sprintf(", %d GPUs or more", f.FromGPUs)
	}
	return text
}

// Fits lists the calibrated parameters in the order of calibration. All other parameters come from data sheets.
func Fits() []Fit {
	compressed := []string{"csr", "csc"}
	return []Fit{
		{Params: []string{"hbm"}, Phase: "compute", Versions: []string{"p-opt"}, Formats: []string{"csr"}, Matrix: "HV15R"},
		{Params: []string{"kernels"}, Phase: "compute", Versions: []string{"p-opt"}},
		{Params: []string{"host_link", "apart"}, Phase: "h2d", Versions: []string{"p-opt"}},
		{Params: []string{"cross_copy"}, Phase: "h2d", Versions: []string{paper.Unplaced}, FromGPUs: 4},
		{Params: []string{"host_link_back", "merge_per_gpu", "cross_merge"}, Phase: "merge", Versions: []string{"p-opt"}},
		{Params: []string{"plain_merge"}, Phase: "merge", Versions: []string{"p"}},
		{Params: []string{"host_pointer"}, Phase: "partition", Versions: []string{"baseline"}, Formats: compressed},
		{Params: []string{"host_index"}, Phase: "partition", Versions: []string{"baseline"}, Formats: []string{"coo"}},
		{Params: []string{"device_index", "split"}, Phase: "partition", Versions: []string{"p-opt"}, Formats: []string{"coo"}},
		{Params: []string{"split_wait"}, Phase: "partition", Versions: []string{"p-opt"}, Formats: compressed, FromGPUs: 2},
	}
}

// takes reports whether the fit uses the run.
func (f Fit) takes(pt Point) bool {
	return slices.Contains(f.Versions, pt.Kind) && (len(f.Formats) == 0 || slices.Contains(f.Formats, pt.Format)) &&
		(f.Matrix == "" || f.Matrix == pt.Matrix) && pt.GPUs >= f.FromGPUs
}

// Calibrate returns a copy of the platform with parameters that fit the points that are not held out, as Fits states.
// A parameter that is 0 stays 0.
func Calibrate(p *Platform, points []Point) *Platform {
	c := *p
	names, params := c.Params()
	for _, f := range Fits() {
		train := slices.DeleteFunc(slices.Clone(points), func(pt Point) bool { return pt.held() || !f.takes(pt) })
		switch f.Params[0] {
		case "hbm":
			c.Kernels = c.streaming(f.Matrix).Kernels
		case "kernels":
			c.Kernels = c.fitKernels(train)
			continue
		}
		var free []*float64
		for _, name := range f.Params {
			if v := &params[slices.Index(names, name)].Value; *v > 0 {
				free = append(free, v)
			}
		}
		search(free, func() (sum float64) {
			for _, pt := range train {
				sum += math.Abs(math.Log(c.phase(pt, f.Phase) / pt.phase(f.Phase)))
			}
			return sum
		})
	}
	return &c
}

// streaming returns the platform with a CSR kernel that only streams a matrix from memory.
func (p *Platform) streaming(matrix string) *Platform {
	c := *p
	c.Kernels = map[string]map[string]Kernel{"csr": {matrix: {Slowdown: 1, Fixed: c.Launch.Value}}}
	return &c
}

// fitKernels fits the kernels of each format and matrix.
func (p *Platform) fitKernels(points []Point) map[string]map[string]Kernel {
	groups := map[string]map[string][]Point{}
	for _, pt := range points {
		if groups[pt.Format] == nil {
			groups[pt.Format] = map[string][]Point{}
		}
		groups[pt.Format][pt.Matrix] = append(groups[pt.Format][pt.Matrix], pt)
	}
	kernels := map[string]map[string]Kernel{}
	for format, matrices := range groups {
		kernels[format] = map[string]Kernel{}
		for matrix, group := range matrices {
			kernels[format][matrix] = fitKernel(p, group)
		}
	}
	return kernels
}

// fitKernel finds slowdown and fixed by least squares of the relative errors:
//
//	slowdown*u + fixed*v = 1,  u = streamed/hbm/time, v = 1/time
//
// It sets a negative fixed part to 0.
func fitKernel(p *Platform, points []Point) Kernel {
	var uu, uv, vv, u1, v1 float64
	for _, pt := range points {
		u, v := pt.Job.streamed(0)/(p.HBM.Value*giga)/pt.Compute, 1/pt.Compute
		uu, uv, vv, u1, v1 = uu+u*u, uv+u*v, vv+v*v, u1+u, v1+v
	}
	det := uu*vv - uv*uv
	k := Kernel{Slowdown: u1 / uu}
	if det > 1e-12*uu*vv {
		if fixed := (uu*v1 - uv*u1) / det; fixed > 0 {
			k = Kernel{Slowdown: max((vv*u1-uv*v1)/det, 0), Fixed: fixed}
		}
	}
	return k
}

// search changes the parameters by factors until loss no longer decreases: pattern search over one parameter after
// the other, with decreasing steps.
func search(params []*float64, loss func() float64) {
	best := loss()
	for step := 1.3; step > 1.001; step = 1 + (step-1)/2 {
		for improved := true; improved; {
			improved = false
			for _, p := range params {
				for _, f := range []float64{step, 1 / step} {
					old := *p
					*p = old * f
					if l := loss(); l < best*(1-1e-9) {
						best, improved = l, true
					} else {
						*p = old
					}
				}
			}
		}
	}
}

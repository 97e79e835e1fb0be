package model

import (
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/msrep-go/msrep/bench/paper"
	"github.com/msrep-go/msrep/sparse"
)

// Point is one run of the authors with the job that it was.
type Point struct {
	paper.Time // multiplied by Scale
	Job        Job
	Scale      float64
}

// Points gives the optimised runs of version p on a platform, for all formats and
// the six matrices of Table 2. With corrected, times are multiplied by the factor
// that paper.Time.Correction derives.
func Points(platform string, corrected bool) (points []Point) {
	for _, t := range paper.Times() {
		if t.Platform != platform || t.Version != "p" || !t.Optimised || !t.NUMA {
			continue
		}
		m, ok := paper.Find(t.Matrix)
		if !ok {
			continue
		}
		pt := Point{Time: t, Job: even(m.Name, sparse.Format(t.Format), int64(m.Rows), int64(m.Cols), m.Stored, t.GPUs), Scale: 1}
		if corrected {
			pt.Scale = t.Correction()
			pt.H2D, pt.Compute, pt.Merge = pt.Scale*t.H2D, pt.Scale*t.Compute, pt.Scale*t.Merge
		}
		points = append(points, pt)
	}
	return points
}

// held says which half a run belongs to: those held out check the model, the
// others calibrate it. Runs take turns by the number of GPUs, and matrices and
// formats begin on either side, so that both halves have all of them.
func (pt Point) held() bool {
	matrix := slices.IndexFunc(paper.Matrices, func(m paper.Matrix) bool { return m.Name == pt.Matrix })
	format := slices.Index([]string{"csr", "csc", "coo"}, pt.Format)
	return (matrix+format+pt.GPUs)%2 == 0
}

// Calibrate gives a copy of the platform whose link speeds, merge latency and
// kernels fit the points that are not held out. HBM stays as it is: together with
// the slowdowns it would be undetermined.
func Calibrate(p *Platform, points []Point) *Platform {
	points = slices.DeleteFunc(slices.Clone(points), Point.held)
	c := *p
	c.Kernels = map[string]map[string]Kernel{}
	for _, group := range byKernel(points) {
		format := group[0].Format
		if c.Kernels[format] == nil {
			c.Kernels[format] = map[string]Kernel{}
		}
		c.Kernels[format][group[0].Matrix] = fitKernel(&c, group)
	}
	mean := func(phase string) func() float64 {
		return func() float64 {
			sum := 0.0
			for _, pt := range points {
				sum += math.Abs(math.Log(c.phase(pt, phase) / pt.phase(phase)))
			}
			return sum
		}
	}
	search([]*float64{&c.HostLink.Value}, mean("h2d"))
	merge := []*float64{&c.HostBack.Value, &c.PerGPU.Value}
	if c.Cross.Value > 0 {
		merge = append(merge, &c.Cross.Value)
	}
	search(merge, mean("merge"))
	return &c
}

// byKernel groups points by format and matrix, in a fixed order.
func byKernel(points []Point) (groups [][]Point) {
	m := map[string][]Point{}
	for _, pt := range points {
		key := pt.Format + pt.Matrix
		m[key] = append(m[key], pt)
	}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		groups = append(groups, m[key])
	}
	return groups
}

// fitKernel finds slowdown and fixed by least squares of the relative errors:
//
//	slowdown*u + fixed*v = 1,  u = streamed/hbm/time, v = 1/time
//
// A negative fixed part is set to 0.
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

// search changes the parameters by factors until loss does not get less: pattern
// search, one parameter after the other with smaller and smaller steps.
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

// phase is a measured phase of the point.
func (pt Point) phase(name string) float64 {
	switch name {
	case "h2d":
		return pt.H2D
	case "compute":
		return pt.Compute
	}
	return pt.Merge
}

// phase is the same phase as it is modelled.
func (p *Platform) phase(pt Point, name string) float64 {
	t := p.Authors(pt.Job, "p-opt", true)
	switch name {
	case "h2d":
		return t.H2D
	case "compute":
		return t.Compute
	}
	return t.Merge
}

// Check is how far a phase is from the measured one.
type Check struct {
	Phase  string
	Format string  // "" for all
	N      int     // runs
	Median float64 // of the relative errors' absolute values
	Worst  float64
}

// CheckHeld compares the model with the points that are held out, by phase over
// all formats and by phase and format.
func (p *Platform) CheckHeld(points []Point) (checks []Check) {
	for _, phase := range []string{"h2d", "compute", "merge"} {
		for _, format := range []string{"", "csr", "csc", "coo"} {
			var errs []float64
			for _, pt := range points {
				if pt.held() && strings.HasPrefix(pt.Format, format) {
					errs = append(errs, relative(p.phase(pt, phase), pt.phase(phase)))
				}
			}
			slices.Sort(errs)
			if n := len(errs); n > 0 {
				checks = append(checks, Check{phase, format, n, (errs[(n-1)/2] + errs[n/2]) / 2, errs[n-1]})
			}
		}
	}
	return checks
}

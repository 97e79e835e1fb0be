package model

import (
	"math"
	"slices"

	"github.com/msrep-go/msrep/internal/bench/paper"
)

// Check holds the errors of modelled times: absolute values of the relative errors.
type Check struct {
	Version string
	Phase   string
	Format  string // "" for all
	N       int    // number of runs
	Median  float64
	Near    float64 // median error of the runs on GPUs of one socket; 0 without any
	Far     float64 // median error of the runs on GPUs of both sockets
	Worst   float64

	far int // number of runs on both sockets
}

// Tolerance is the largest median error of a phase that counts as modelled. Reports draw no curve of a phase whose
// error on the held-out runs is larger.
const Tolerance = 0.25

// Good reports whether the errors on one socket and on both are within Tolerance.
func (c Check) Good() bool { return c.N > 0 && max(c.Near, c.Far) <= Tolerance }

// On returns the check of the runs on both sockets, or on one socket. N is 0 without any.
func (c Check) On(both bool) Check {
	c.Median, c.N = c.Near, c.N-c.far
	if both {
		c.Median, c.N = c.Far, c.far
	}
	c.Near, c.Far = c.Median, 0
	return c
}

// CheckHeld compares the model with the held-out points by version, phase and format. The first check of each phase
// covers all formats.
func (p *Platform) CheckHeld(points []Point) (checks []Check) {
	for _, version := range paper.Versions {
		for _, phase := range Phases {
			for _, format := range []string{"", "csr", "csc", "coo"} {
				c := p.check(points, phase, func(pt Point) bool {
					return pt.held() && pt.Kind == version && (format == "" || pt.Format == format)
				})
				if c.Version, c.Format = version, format; c.N > 0 {
					checks = append(checks, c)
				}
			}
		}
	}
	return checks
}

// CheckFit compares the phase that a fit concerns, on the runs that calibrated it and on the held-out runs.
func (p *Platform) CheckFit(f Fit, points []Point) (train, held Check) {
	if f.Params[0] == "hbm" {
		p = p.streaming(f.Matrix)
	}
	train = p.check(points, f.Phase, func(pt Point) bool { return f.takes(pt) && !pt.held() })
	held = p.check(points, f.Phase, func(pt Point) bool { return f.takes(pt) && pt.held() })
	return train, held
}

// splitKnown reports whether the parts have as many rows or columns as in Point.Job: with one part, in COO, whose
// split counts entries, and in HV15R, whose rows have nearly equal lengths. The split time of version p depends on
// these sizes.
func (pt Point) splitKnown() bool {
	return pt.Kind != "p" || pt.GPUs == 1 || pt.Format == "coo" || pt.Matrix == "HV15R"
}

// CheckOthers compares the phases without a matrix's kernel, on matrices that calibrated nothing.
func (p *Platform) CheckOthers(points []Point) (checks []Check) {
	for _, phase := range []string{"partition", "h2d", "merge"} {
		c := p.check(points, phase, func(pt Point) bool { return pt.Kind == "p-opt" })
		if c.Version = "p-opt"; c.N > 0 {
			checks = append(checks, c)
		}
	}
	return checks
}

func (p *Platform) check(points []Point, phase string, picks func(Point) bool) Check {
	var errs, near, far []float64
	for _, pt := range points {
		if !picks(pt) || phase == "partition" && !pt.splitKnown() {
			continue
		}
		e := math.Abs(p.phase(pt, phase)/pt.phase(phase) - 1)
		if errs = append(errs, e); pt.GPUs > p.GPUsPerSocket {
			far = append(far, e)
		} else {
			near = append(near, e)
		}
	}
	c := Check{Phase: phase, N: len(errs), Median: median(errs), Near: median(near), Far: median(far), far: len(far)}
	if c.N > 0 {
		c.Worst = slices.Max(errs)
	}
	return c
}

// median sorts the numbers and returns their median, or 0 for none.
func median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	slices.Sort(v)
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}

// Find returns the check of a version, a phase and a format, or one without runs.
func Find(checks []Check, version, phase, format string) Check {
	for _, c := range checks {
		if c.Version == version && c.Phase == phase && c.Format == format {
			return c
		}
	}
	return Check{Version: version, Phase: phase, Format: format}
}

// Crossing returns the speed in GB/s of the copies from the first socket to the other if the whole matrix lay on the
// first; 0 if no GPU is on the other socket.
func (p *Platform) Crossing(pt Point) float64 {
	return p.overCross(pt.Job, pt.Job.authorsInBytes, Param{Value: 1 / giga}) / pt.H2D / giga
}

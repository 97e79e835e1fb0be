package model

import (
	"math"
	"slices"

	"github.com/msrep-go/msrep/bench/paper"
)

// Check is how far modelled times are from measured ones: the absolute values of the
// relative errors.
type Check struct {
	Version string
	Phase   string
	Format  string // "" for all
	N       int    // runs
	Median  float64
	Near    float64 // median of the runs on GPUs of one socket, 0 without any
	Far     float64 // median of those on GPUs of both
	Worst   float64

	far int // of the runs
}

// Tolerance is the median error up to which a phase counts as modelled. Reports draw
// no curve of a phase that is further from the runs that did not calibrate it.
const Tolerance = 0.25

// Good says whether the errors on one socket and on both are within Tolerance.
func (c Check) Good() bool { return c.N > 0 && max(c.Near, c.Far) <= Tolerance }

// On is the check of the runs on one socket alone, or on both alone. One without such
// runs has N 0.
func (c Check) On(both bool) Check {
	c.Median, c.N = c.Near, c.N-c.far
	if both {
		c.Median, c.N = c.Far, c.far
	}
	c.Near, c.Far = c.Median, 0
	return c
}

// CheckHeld compares the model with the points that are held out, by version, phase
// and format; first of each phase are all formats together.
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

// CheckFit compares the phase that a fit is about: on the runs that calibrated it, and
// on those held out.
func (p *Platform) CheckFit(f Fit, points []Point) (train, held Check) {
	if f.Params[0] == "hbm" {
		p = p.streaming(f.Matrix)
	}
	train = p.check(points, f.Phase, func(pt Point) bool { return f.takes(pt) && !pt.held() })
	held = p.check(points, f.Phase, func(pt Point) bool { return f.takes(pt) && pt.held() })
	return train, held
}

// splitKnown says whether the parts have as many rows or columns as Point.Job has them:
// where there is one part, in COO, which is split by what is counted, and in HV15R,
// whose rows are nearly equally long. On this the time of p to split depends.
func (pt Point) splitKnown() bool {
	return pt.Kind != "p" || pt.GPUs == 1 || pt.Format == "coo" || pt.Matrix == "HV15R"
}

// CheckOthers compares the phases that no kernel of a matrix is in, on matrices none of
// whose runs calibrated anything.
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

// median of numbers, which it sorts; 0 of none.
func median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	slices.Sort(v)
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}

// Find gives the check of a version, a phase and a format; one without runs where
// there is none.
func Find(checks []Check, version, phase, format string) Check {
	for _, c := range checks {
		if c.Version == version && c.Phase == phase && c.Format == format {
			return c
		}
	}
	return Check{Version: version, Phase: phase, Format: format}
}

// Crossing is the speed in GB/s at which the copies of a run passed from the first
// socket to the other if all of the matrix lay on the first; 0 where no GPU is on the
// other.
func (p *Platform) Crossing(pt Point) float64 {
	return p.overCross(pt.Job, pt.Job.inBytes, Param{Value: 1 / giga}) / pt.H2D / giga
}

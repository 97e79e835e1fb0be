package experiment

import (
	"fmt"

	"github.com/msrep-go/msrep/internal/bench/model"
	"github.com/msrep-go/msrep/internal/bench/paper"
	"github.com/msrep-go/msrep/msrep"
)

// trust holds the errors of a platform's modelled times on the authors' runs that did not calibrate the model: on the
// six matrices, and on each matrix.
type trust struct {
	socket int // number of GPUs of a socket
	all    []model.Check
	own    map[string][]model.Check // by matrix
}

func newTrust(p *model.Platform, points []model.Point) *trust {
	t := &trust{socket: p.GPUsPerSocket, all: p.CheckHeld(points), own: map[string][]model.Check{}}
	for _, m := range paper.Matrices {
		var of []model.Point
		for _, pt := range points {
			if pt.Matrix == m.Name {
				of = append(of, pt)
			}
		}
		t.own[m.Name] = p.CheckHeld(of)
	}
	return t
}

// worst returns the check that decides whether a phase of a run is known or, with devices 0, whether its curve is
// drawn: the worse of the checks over all matrices and on this matrix. A total also requires the copies, which are
// most of it.
func (t *trust) worst(r run, phase string) (worst model.Check) {
	phases := []string{phase}
	if phase == model.Total {
		phases = append(phases, "h2d")
	}
	for _, ph := range phases {
		for _, checks := range [][]model.Check{t.all, t.own[r.matrix]} {
			c := model.Find(checks, r.version(), ph, string(r.format))
			if r.devices > 0 {
				c = c.On(r.devices > t.socket)
			}
			if c.N == 0 {
				return c
			}
			if off(c) >= off(worst) {
				worst = c
			}
		}
	}
	return worst
}

// off returns the error that is compared with model.Tolerance.
func off(c model.Check) float64 { return max(c.Near, c.Far) }

// version returns the authors' version that a run is compared with.
func (r run) version() string {
	if r.strategy == msrep.Optimized && r.numa == msrep.NUMAOff {
		return paper.Unplaced
	}
	return string(r.strategy)
}

// drawn reports whether the curve of runs is drawn for any number of devices: measured curves always, modelled curves
// if the model is accurate enough in all the phases.
func (s *Session) drawn(r run, phases ...string) bool {
	r.devices = 0
	return s.good(r, phases...)
}

// good is drawn for the run's number of devices.
func (s *Session) good(r run, phases ...string) bool {
	if s.platform == nil {
		return true
	}
	for _, phase := range phases {
		if !s.trust.worst(r, phase).Good() {
			return false
		}
	}
	return true
}

// leftOut returns the reason for which a modelled curve is not drawn, or "".
func (s *Session) leftOut(r run, phases ...string) string {
	r.devices = 0
	for _, phase := range phases {
		if c := s.trust.worst(r, phase); !c.Good() {
			return fmt.Sprintf("%s %s (%s is off by %.0f %%)", r.format, r.version(), c.Phase, 100*off(c))
		}
	}
	return ""
}

// notDrawn returns a remark about the curves that are left out, or none.
func notDrawn(left []string) []string {
	if len(left) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("Modelled curves that are not drawn, because their median error on the held-out runs of the authors is above %.0f %%: %s.", 100*model.Tolerance, join(left))}
}

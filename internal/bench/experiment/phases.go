package experiment

import (
	"context"
	"errors"
	"fmt"

	"github.com/msrep-go/msrep/internal/bench/measure"
	"github.com/msrep-go/msrep/internal/bench/model"
	"github.com/msrep-go/msrep/internal/bench/paper"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// Formats and strategies of the paper.
var (
	formats    = []sparse.Format{sparse.FormatCSR, sparse.FormatCSC, sparse.FormatCOO}
	strategies = []msrep.Strategy{msrep.Baseline, msrep.Partial, msrep.Optimized}
)

// run is one configuration.
type run struct {
	matrix   string
	format   sparse.Format
	strategy msrep.Strategy
	numa     msrep.NUMA
	devices  int
}

func (r run) name() string {
	name := fmt.Sprintf("%s %s %s %d devices", r.matrix, r.format, r.strategy, r.devices)
	if r.numa != "" {
		name += " numa=" + string(r.numa)
	}
	return name
}

// phases holds the median seconds of one product, as in the paper. h2d is the copy of the matrix and the vectors to
// the devices, 0 if they are used in place.
type phases struct {
	partition, h2d, compute, merge float64
}

// total is the paper's whole time: all phases, with the matrix copied for each product.
func (p phases) total() float64 { return p.partition + p.h2d + p.compute + p.merge }

// withoutSplit is the time whose value for the baseline on one device is the numerator of speed-ups.
func (p phases) withoutSplit() float64 { return p.h2d + p.compute + p.merge }

// resident is the time of a product of a matrix that stays on the devices.
func (p phases) resident() float64 { return p.compute + p.merge }

// quantities names the results of measureRun.
var quantities = []string{"partition", "h2d", "compute", "merge"}

// phasesOf measures or models a configuration, once in a pass.
func (s *Session) phasesOf(ctx context.Context, experiment string, r run) (phases, error) {
	if p, ok := s.runs[r]; ok {
		return p, nil
	}
	if err := s.step(ctx, r.name()); err != nil {
		return phases{}, err
	}
	m, err := s.load(ctx, r.matrix)
	if err != nil {
		return phases{}, err
	}
	var p phases
	if s.platform != nil {
		p, err = s.modelRun(m, r)
		for i, v := range []float64{p.partition, p.h2d, p.compute, p.merge} {
			s.Record.AddModelled(experiment, s.platform.Name+" "+r.name(), quantities[i], v)
		}
	} else {
		var samples [][]float64
		if samples, err = s.measureRun(ctx, m, r); err == nil {
			var medians [4]float64
			for i, v := range samples {
				medians[i] = s.Record.Add(experiment, r.name(), quantities[i], v).Median
				if quantities[i] == "compute" {
					s.Record.Moves(leastBytes(r.format, m.csr.Rows, m.csr.Cols, m.csr.NNZ()))
				}
			}
			p = phases{medians[0], medians[1], medians[2], medians[3]}
		}
	}
	if err != nil {
		return phases{}, err
	}
	s.runs[r] = p
	return p, nil
}

// measureRun repeatedly makes a plan and multiplies once, on CPU devices of one thread each.
func (s *Session) measureRun(ctx context.Context, m *matrixSet, r run) (samples [][]float64, err error) {
	sys, err := msrep.Open(msrep.Config{Devices: s.measured(r.devices), Threads: r.devices, NUMA: r.numa})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, sys.Close()) }()
	a := m.in(r.format)
	rows, cols := a.Dims()
	x, y := make([]float64, cols), make([]float64, rows)
	for i := range x {
		x[i] = 1 / float64(i+1)
	}
	return measure.Repeat(ctx, s.Options, func() ([]float64, error) {
		plan, err := msrep.NewPlan(ctx, sys, a, msrep.PlanOptions{Storage: msrep.Storage{Format: r.format}, Variant: msrep.Variant{Strategy: r.strategy}, Expected: msrep.Expected{Products: 1}, SkipValidation: true})
		if err != nil {
			return nil, err
		}
		err = plan.SpMV(ctx, msrep.NoTrans, 1.5, x, 0.5, y)
		made, t := plan.Timing(), plan.LastTiming()
		if err := errors.Join(err, plan.Close()); err != nil {
			return nil, err
		}
		return []float64{
			made.Partition.Seconds(), (made.Distribute + t.Distribute).Seconds(), t.Kernel.Seconds(), t.Merge.Seconds(),
		}, nil
	})
}

// modelRun splits the matrix for real. It models the phases of the authors' program from the sizes of the parts, at
// the size of the matrix that the authors multiplied.
func (s *Session) modelRun(m *matrixSet, r run) (phases, error) {
	j, err := s.job(m, r)
	if err != nil {
		return phases{}, err
	}
	t := s.platform.Authors(j, r.version())
	return phases{t.Partition, t.H2D, t.Compute, t.Merge}, nil
}

// job splits the matrix and scales the parts to the size of the paper's matrix.
func (s *Session) job(m *matrixSet, r run) (model.Job, error) {
	ptr := m.csr.RowPtr
	if csc, ok := m.in(r.format).(*sparse.CSC[float64]); ok {
		ptr = csc.ColPtr
	}
	rule := partition.RuleNNZ
	if r.strategy == msrep.Baseline {
		rule = partition.RuleMajor
	}
	parts, _, err := partition.Split(ptr, r.devices, rule)
	if err != nil {
		return model.Job{}, err
	}
	j := model.Of(m.name, r.format, m.csr.Rows, m.csr.Cols, parts)
	of, _ := paper.Find(m.name)
	return j.Resized(int64(of.Rows), int64(of.Cols), of.Stored), nil
}

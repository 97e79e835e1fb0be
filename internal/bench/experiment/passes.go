package experiment

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/msrep-go/msrep/internal/bench/measure"
	"github.com/msrep-go/msrep/internal/plot"
	"github.com/msrep-go/msrep/sparse"
)

// Run runs experiments one after the other, in Passes. Of several experiments, it leaves out one that the devices
// cannot run, and the report states the reason.
func (s *Session) Run(ctx context.Context, list []Experiment) (err error) {
	defer func() { err = errors.Join(err, s.matrix.free()) }()
	mem, err := measure.NewMemory(max(memoryBytes, 4*int64(s.Record.Machine.L3)))
	if err != nil {
		return err
	}
	defer mem.Free()
	s.Record.Machine.Bandwidth = mem.Bandwidth(5)
	if s.Cache == CacheCold {
		s.Options.Before = func() { mem.Read() }
	}
	if s.platform != nil || s.Passes == 0 {
		s.Passes = 1
	}
	inOnePass := s.Options
	s.Options = spread(s.Options, s.Passes)
	for s.pass = 1; s.pass <= s.Passes; s.pass++ {
		s.Page.Sections, s.runs, s.verdicts = nil, map[run]phases{}, nil
		if err := s.onePass(ctx, list, inOnePass); err != nil {
			return err
		}
	}
	if len(s.gpus) == 0 { // the memory bandwidth of GPUs is not measured
		s.Record.JudgeBytes(s.Cache == CacheCold)
	}
	s.describe()
	return nil
}

// onePass runs the experiments once. Experiments that are not spread over passes run in the last pass. The record
// adds the samples of all passes, so the page of the last pass has the medians over all.
func (s *Session) onePass(ctx context.Context, list []Experiment, whole measure.Options) error {
	spread := s.Options
	defer func() { s.Options = spread }()
	for _, e := range list {
		s.Options = spread
		if !e.spread() {
			if s.pass < s.Passes {
				continue
			}
			s.Options = whole
		}
		err := e.run(ctx, s)
		if in := (*sparse.InputError)(nil); len(list) > 1 && errors.As(err, &in) && in.Subject == "--devices" {
			s.Page.Sections = append(s.Page.Sections, plot.Section{Name: e.Name, Title: e.Name + ": left out", Intro: []string{err.Error()}})
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", e.Name, err)
		}
	}
	return nil
}

// spread reports whether the experiment runs in several passes. Those of the MSREP paper do: their cases are long and
// measured one after the other. The other experiments alternate between the cases that they compare.
func (e Experiment) spread() bool { return strings.HasPrefix(e.Name, "msrep-fig") }

// spread divides samples and time among passes.
func spread(o measure.Options, passes int) measure.Options {
	share := func(n int) int { return (n + passes - 1) / passes }
	o.MinSamples, o.MaxSamples, o.MaxTime = share(o.MinSamples), share(o.MaxSamples), o.MaxTime/time.Duration(passes)
	return o
}

// step reports progress.
func (s *Session) step(ctx context.Context, what string) error {
	if s.Passes > 1 {
		what = fmt.Sprintf("pass %d of %d, %s", s.pass, s.Passes, what)
	}
	if s.Progress != nil {
		s.Progress(s.done, s.total, what)
	}
	s.done++
	return ctx.Err()
}

// steps sets the number of the following steps.
func (s *Session) steps(n int) { s.done, s.total = 0, n }

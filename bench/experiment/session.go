package experiment

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/msrep-go/msrep/bench/measure"
	"github.com/msrep-go/msrep/bench/model"
	"github.com/msrep-go/msrep/bench/record"
	"github.com/msrep-go/msrep/bench/report"
	"github.com/msrep-go/msrep/sparse"
)

// Config says what is measured and how.
type Config struct {
	// Devices is "auto" or "cpu" (8 CPU devices), cpu:N, or sim:dgx1 and sim:summit,
	// whose times are modelled.
	Devices string
	// Mats is a folder with matrices of Table 2 under their names; "" and those that
	// are missing are generated.
	Mats string
	// Entries is about how many entries a matrix has that is measured.
	Entries int64
	Options measure.Options
	// Progress hears what is done now, and how many steps of how many are.
	Progress func(done, total int, what string)
}

// Experiment is one that msrep bench knows.
type Experiment struct {
	Name    string
	Summary string
	run     func(ctx context.Context, s *Session) error
}

// All lists the experiments in the order of the report.
func All() []Experiment {
	return []Experiment{
		{"msrep-fig6", "speed when some devices get fewer nonzeros than others", figure6},
		{"msrep-fig16", "time to split a matrix", phaseFigure("msrep-fig16")},
		{"msrep-fig17", "share of the time that splitting takes", phaseFigure("msrep-fig17")},
		{"msrep-fig18", "time to merge results", phaseFigure("msrep-fig18")},
		{"msrep-fig19", "share of the time that merging takes", phaseFigure("msrep-fig19")},
		{"msrep-fig20", "speed-up with and without NUMA placement", figure20},
		{"msrep-fig21", "speed-up of the three strategies on HV15R", figure21},
		{"msrep-fig22", "speed-up on the six matrices of Table 2, beside the DGX-1", sixMatrices("msrep-fig22", "dgx1")},
		{"msrep-fig23", "speed-up on the six matrices of Table 2, beside Summit", sixMatrices("msrep-fig23", "summit")},
		{"model", "the model of the DGX-1 and of Summit beside the authors' times, and what it says about resident matrices", modelReport},
	}
}

// Session runs experiments into one record and one report.
type Session struct {
	Config
	Record *record.Record
	Page   *report.Page

	platform *model.Platform // where times are modelled
	most     int             // devices
	matrix   *matrixSet
	runs     map[run]phases // what several experiments use
	done     int
	total    int
}

// defaultDevices is how many CPU devices there are when nobody says: as many as the
// paper's DGX-1 has GPUs.
const defaultDevices = 8

// New checks the configuration and starts a session.
func New(c Config, r *record.Record) (*Session, error) {
	s := &Session{Config: c, Record: r, Page: &report.Page{Title: "msrep bench"}, runs: map[run]phases{}, matrix: &matrixSet{}}
	word, arg, has := strings.Cut(c.Devices, ":")
	switch {
	case c.Entries < 1:
		return nil, sparse.Inputf("--entries", "%d: a matrix needs entries", c.Entries)
	case (word == "auto" || word == "cpu" || word == "") && !has:
		s.most = defaultDevices
	case word == "cpu":
		n, err := strconv.Atoi(arg)
		if err != nil || n < 1 || n > maxDevices {
			return nil, sparse.Inputf("--devices", "%q: use cpu:1 to cpu:%d", c.Devices, maxDevices)
		}
		s.most = n
	case word == "sim" && slices.Contains(model.Names(), arg):
		p, err := model.Load(arg)
		if err != nil {
			return nil, err
		}
		s.platform, s.most = p, p.GPUs
	default:
		return nil, sparse.Inputf("--devices", "%q: experiments run on cpu:N, or modelled on sim:dgx1 or sim:summit", c.Devices)
	}
	return s, nil
}

// maxDevices bounds the devices of an experiment.
const maxDevices = 64

// Run runs experiments one after the other.
func (s *Session) Run(ctx context.Context, list []Experiment) error {
	for _, e := range list {
		if err := e.run(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", e.Name, err)
		}
	}
	s.describe()
	return nil
}

// step tells the progress.
func (s *Session) step(ctx context.Context, what string) error {
	if s.Progress != nil {
		s.Progress(s.done, s.total, what)
	}
	s.done++
	return ctx.Err()
}

// steps announces how many steps follow.
func (s *Session) steps(n int) { s.done, s.total = 0, n }

// origin of the figures of this session.
func (s *Session) origin() report.Origin {
	if s.platform != nil {
		return report.Modelled
	}
	return report.Measured
}

// paperPlatform is the paper's machine that ours is laid beside.
func (s *Session) paperPlatform() string {
	if s.platform != nil {
		return s.platform.Name
	}
	return "dgx1"
}

// counts are the numbers of devices that are tried: 1, 2, 4, 8, 12, ... and the
// most; in a model all.
func (s *Session) counts() (c []int) {
	for n := 1; n <= s.most; n++ {
		if s.platform != nil || n <= 2 || n%4 == 0 || n == s.most {
			c = append(c, n)
		}
	}
	return c
}

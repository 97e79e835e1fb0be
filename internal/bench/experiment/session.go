package experiment

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/msrep-go/msrep/internal/bench/measure"
	"github.com/msrep-go/msrep/internal/bench/model"
	"github.com/msrep-go/msrep/internal/bench/record"
	"github.com/msrep-go/msrep/internal/plot"
	"github.com/msrep-go/msrep/kernels/nvidia"
	"github.com/msrep-go/msrep/sparse"
)

// Config sets what is measured and how.
type Config struct {
	// Devices is "auto" (all GPUs if there are any, else 8 CPU devices), "cpu" (8 CPU devices), cpu:N, cuda or
	// cuda:0,2; or sim:dgx1 or sim:summit, whose times are modelled.
	Devices string
	// Mats is a folder with matrices: those of Table 2 by name, and small ones for the formats of the PELLR paper.
	// Missing matrices of Table 2, or all with "", are generated.
	Mats string
	// Entries is the approximate number of entries of a measured matrix.
	Entries int64
	Options measure.Options
	// Passes is the number of passes over the measured experiments of the MSREP paper; 0 means one. The samples and
	// the time of a case are divided among the passes, so a slow moment of the machine does not affect all of them.
	Passes int
	// Cache is the state of the caches before a product: CacheWarm (also "") or CacheCold.
	Cache Cache
	// Interpreted is the limit of the steps of threads of an interpreted product; see bench.PELLR.
	Interpreted int64
	// LeastSegment is the number of bits that cpms rankings with 4 segments read first: 16 as in the CPMS paper, or
	// 32 (also 0).
	LeastSegment int
	// Results is a folder with results of scripts/gpu-run for gpu-peers, or a folder of such folders.
	Results string
	// Progress, unless nil, is called with the number of finished steps, the number of all steps, and the current
	// step.
	Progress func(done, total int, what string)
}

// Cache is the state of the caches before a product.
type Cache string

// The states of the caches. Cold caches hold nothing of the matrix or the vectors: before each product, outside the
// timed interval, memory four times as large as the last-level cache is read. Each sample is then one product.
const (
	CacheWarm Cache = "warm"
	CacheCold Cache = "cold"
)

// Experiment is an experiment of msrep bench.
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
		{"msrep-fig17", "fraction of the time that splitting takes", phaseFigure("msrep-fig17")},
		{"msrep-fig18", "time to merge results", phaseFigure("msrep-fig18")},
		{"msrep-fig19", "fraction of the time that merging takes", phaseFigure("msrep-fig19")},
		{"msrep-fig20", "speed-up with and without NUMA placement", figure20},
		{"msrep-fig21", "speed-up of the three strategies on HV15R", figure21},
		{"msrep-fig22", "speed-up on the six matrices of Table 2, compared with the DGX-1", sixMatrices("msrep-fig22", "dgx1")},
		{"msrep-fig23", "speed-up on the six matrices of Table 2, compared with Summit", sixMatrices("msrep-fig23", "summit")},
		{"cpms", "precision by segments and adaptive PageRank: Table 2 and Figures 3 to 11 of the CPMS paper", cpmsPaper},
		{"pellr", "the formats of the PELLR paper: its Figures 6 and 8 to 12", pellr},
		{"gpu-peers", "products on GPUs compared with cuSPARSE, CuPy and torch, from results of scripts/gpu-run", gpuPeers},
		{"model", "the model of the DGX-1 and of Summit compared with the authors' times, and applied to resident matrices", modelReport},
		{"apply", "products of vectors that stay on 8 H100, 8 V100 or 6 V100, modelled before and after each step of their exchange", applyReport},
		{"outcomes", "which results of the three papers the earlier experiments of this run reproduced", outcomes},
	}
}

// Session runs experiments into one record and one report.
type Session struct {
	Config
	Record *record.Record
	Page   *plot.Page

	platform *model.Platform // set if times are modelled
	trust    *trust          // in the platform
	verdicts []verdict       // for the table of outcomes
	gpus     []string        // ordinals of the measured GPUs; none on CPU devices
	most     int             // number of devices
	matrix   *matrixSet
	loaded   map[string]loaded // matrices of Table 2 that were read or generated
	from     map[string]string // source of each matrix of Table 2, and its entries over those that the authors multiplied
	runs     map[run]phases    // results that several experiments use
	pass     int               // current pass, from 1
	method   string            // sampling of an experiment that does not use Options; "" for the others
	done     int
	total    int
}

// defaultDevices is the default number of CPU devices: the number of GPUs of the paper's DGX-1.
const defaultDevices = 8

// New checks the configuration and starts a session.
func New(c Config, r *record.Record) (*Session, error) {
	s := &Session{Config: c, Record: r, Page: &plot.Page{Title: "msrep bench"}, runs: map[run]phases{}, matrix: &matrixSet{}, from: map[string]string{}, loaded: map[string]loaded{}}
	if c.Entries < 1 {
		return nil, sparse.Inputf("--entries", "%d: a matrix needs entries", c.Entries)
	}
	if c.Passes < 0 || c.Passes > maxPasses {
		return nil, sparse.Inputf("--passes", "%d: use 1 to %d", c.Passes, maxPasses)
	}
	if c.Cache != "" && c.Cache != CacheWarm && c.Cache != CacheCold {
		return nil, sparse.Inputf("--cache", "%q is not known: use %s or %s", c.Cache, CacheWarm, CacheCold)
	}
	if c.LeastSegment != 0 && c.LeastSegment != 16 && c.LeastSegment != 32 {
		return nil, sparse.Inputf("--least-segment", "%d: use 16 or 32", c.LeastSegment)
	}
	if c.Mats != "" {
		if st, err := os.Stat(c.Mats); err != nil || !st.IsDir() {
			return nil, sparse.Inputf("--mats", "%s: is not a folder; missing matrices are generated", c.Mats)
		}
	}
	return s, s.chooseDevices(nvidia.Query())
}

// chooseDevices parses Config.Devices.
func (s *Session) chooseDevices(found nvidia.Status) error {
	word, arg, has := strings.Cut(s.Devices, ":")
	auto := !has && (word == "auto" || word == "")
	switch {
	case word == "cuda" && found.Reason != "":
		return sparse.Inputf("--devices", "%q: %s", s.Devices, found.Reason)
	case auto && len(found.GPUs) > 0 || word == "cuda" && !has:
		for _, g := range found.GPUs {
			s.gpus = append(s.gpus, strconv.Itoa(g.Ordinal))
		}
		s.most = len(s.gpus)
	case word == "cuda":
		s.gpus = strings.Split(arg, ",") // msrep.Open checks them
		s.most = len(s.gpus)
	case auto || word == "cpu" && !has:
		s.most = defaultDevices
	case word == "cpu":
		n, err := strconv.Atoi(arg)
		if err != nil || n < 1 || n > maxDevices {
			return sparse.Inputf("--devices", "%q: use cpu:1 to cpu:%d", s.Devices, maxDevices)
		}
		s.most = n
	case word == "sim" && slices.Contains(model.Names(), arg):
		p, err := model.Load(arg)
		if err != nil {
			return err
		}
		s.platform, s.most, s.trust = p, p.GPUs, newTrust(p, model.Points(arg, true))
	default:
		return sparse.Inputf("--devices", "%q: experiments run on cpu:N or cuda, or modelled on sim:dgx1 or sim:summit", s.Devices)
	}
	return nil
}

// measured returns the first n of the measured devices, as msrep.Config.Devices.
func (s *Session) measured(n int) string {
	if len(s.gpus) > 0 {
		return "cuda:" + strings.Join(s.gpus[:n], ",")
	}
	return fmt.Sprintf("cpu:%d", n)
}

// devicesAre describes the devices of a measured run.
func (s *Session) devicesAre() string {
	if len(s.gpus) > 0 {
		return "GPUs"
	}
	return "CPU devices of one thread each"
}

// maxDevices and maxPasses are the limits of the configuration.
const (
	maxDevices = 64
	maxPasses  = 100
)

// memoryBytes is the least size of the memory that is read to measure its bandwidth and to empty the caches. The size
// is four times the last-level cache if that is more.
const memoryBytes = 64 << 20

// origin returns the origin of the figures of this session.
func (s *Session) origin() plot.Origin {
	if s.platform != nil {
		return plot.Modelled
	}
	return plot.Measured
}

// paperPlatform returns the paper's machine that ours is compared with.
func (s *Session) paperPlatform() string {
	if s.platform != nil {
		return s.platform.Name
	}
	return "dgx1"
}

// counts returns the numbers of devices that are tried: 1, 2, 4, 8, 12, ... and the most; in a model every number.
func (s *Session) counts() (c []int) {
	for n := 1; n <= s.most; n++ {
		if s.platform != nil || n <= 2 || n%4 == 0 || n == s.most {
			c = append(c, n)
		}
	}
	return c
}

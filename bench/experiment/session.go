package experiment

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/msrep-go/msrep/bench/measure"
	"github.com/msrep-go/msrep/bench/model"
	"github.com/msrep-go/msrep/bench/record"
	"github.com/msrep-go/msrep/bench/report"
	"github.com/msrep-go/msrep/kernels/nvidia"
	"github.com/msrep-go/msrep/sparse"
)

// Config says what is measured and how.
type Config struct {
	// Devices is "auto" (all GPUs where there are any, else 8 CPU devices), "cpu" (8 CPU
	// devices), cpu:N, cuda or cuda:0,2, or sim:dgx1 and sim:summit, whose times are
	// modelled.
	Devices string
	// Mats is a folder with matrices: those of Table 2 under their names, and the
	// small ones that the formats of the PELLR paper are compared on. "" and those of
	// Table 2 that are missing are generated.
	Mats string
	// Entries is about how many entries a matrix has that is measured.
	Entries int64
	Options measure.Options
	// Passes is how many times the experiments of the MSREP paper are gone through when
	// they are measured, 0 for once. The samples and the time of a case are shared out
	// over the passes, so that a slow moment of the machine does not meet all of them.
	Passes int
	// Cache says what products find in the caches: CacheWarm ("" too) or CacheCold.
	Cache Cache
	// Interpreted is the most steps of threads of a product that the interpreter of GPU
	// code is given; see bench.PELLR.
	Interpreted int64
	// LeastSegment is the bits that rankings of cpms with 4 segments read first: 16 as in
	// the CPMS paper, or 32, also for 0.
	LeastSegment int
	// Results is a folder with results of scripts/gpu-run for gpu-peers, or a folder of
	// such folders.
	Results string
	// Progress, unless nil, is called with what is done now and how many steps of how many
	// are done.
	Progress func(done, total int, what string)
}

// Cache says what products find in the caches.
type Cache string

// The caches. Cold ones hold nothing of the matrix or the vectors: before each product,
// off the clock, memory four times as large as the last cache is read. Each sample is
// then one product.
const (
	CacheWarm Cache = "warm"
	CacheCold Cache = "cold"
)

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
		{"cpms", "precision by segments and adaptive PageRank: Table 2 and Figures 3 to 11 of the CPMS paper", cpmsPaper},
		{"pellr", "the formats of the PELLR paper: its Figures 6 and 8 to 12", pellr},
		{"gpu-peers", "products on GPUs beside cuSPARSE, CuPy and torch, from what scripts/gpu-run wrote", gpuPeers},
		{"model", "the model of the DGX-1 and of Summit beside the authors' times, and what it says about resident matrices", modelReport},
		{"outcomes", "what of the three papers the experiments before it in the same run reproduced", outcomes},
	}
}

// Session runs experiments into one record and one report.
type Session struct {
	Config
	Record *record.Record
	Page   *report.Page

	platform *model.Platform // where times are modelled
	trust    *trust          // of the platform
	verdicts []verdict       // for the table of outcomes
	gpus     []string        // ordinals of GPUs that are measured; none on CPU devices
	most     int             // devices
	matrix   *matrixSet
	loaded   map[string]loaded // the matrices of Table 2 that were read or generated
	from     map[string]string // where each matrix of Table 2 came from, and its entries by those that the authors multiplied
	runs     map[run]phases    // what several experiments use
	pass     int               // which of Passes this is, from 1
	method   string            // how an experiment measures that does not go by Options; "" for the others
	done     int
	total    int
}

// defaultDevices is how many CPU devices there are when nobody says: as many as the
// paper's DGX-1 has GPUs.
const defaultDevices = 8

// New checks the configuration and starts a session.
func New(c Config, r *record.Record) (*Session, error) {
	s := &Session{Config: c, Record: r, Page: &report.Page{Title: "msrep bench"}, runs: map[run]phases{}, matrix: &matrixSet{}, from: map[string]string{}, loaded: map[string]loaded{}}
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
			return nil, sparse.Inputf("--mats", "%s: is no folder; matrices that are not in it are generated", c.Mats)
		}
	}
	return s, s.chooseDevices(nvidia.Query())
}

// chooseDevices reads Config.Devices.
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

// measured names the first n of the devices that are measured, as msrep.Config does.
func (s *Session) measured(n int) string {
	if len(s.gpus) > 0 {
		return "cuda:" + strings.Join(s.gpus[:n], ",")
	}
	return fmt.Sprintf("cpu:%d", n)
}

// devicesAre says in words what the devices of a measured run are.
func (s *Session) devicesAre() string {
	if len(s.gpus) > 0 {
		return "GPUs"
	}
	return "CPU devices of one thread each"
}

// maxDevices and maxPasses bound what is asked for.
const (
	maxDevices = 64
	maxPasses  = 100
)

// memoryBytes is the least that is read to measure the speed of the memory and to empty
// the caches; four times the last cache where that is more.
const memoryBytes = 64 << 20

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

package experiment

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/msrep-go/msrep/internal/bench/model"
	"github.com/msrep-go/msrep/internal/bench/paper"
	"github.com/msrep-go/msrep/internal/plot"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
)

// placed is p-opt with the matrix on the NUMA nodes of the devices.
const placed = "p-opt, NUMA"

// caseKey identifies a product of the MSREP paper's experiments.
type caseKey struct {
	matrix  string
	format  sparse.Format
	version string // one of paper.Versions, or placed
	devices int
}

// timed holds the times of a product in seconds. Unknown times are NaN.
type timed struct{ partition, h2d, compute, merge, total float64 }

// cases maps the products measured on one machine to their times.
type cases map[caseKey]timed

// most returns the largest number of devices.
func (c cases) most() (n int) {
	for k := range c {
		n = max(n, k.devices)
	}
	return n
}

// at returns a case of HV15R.
func (c cases) at(format sparse.Format, version string, devices int) timed {
	if t, ok := c[caseKey{single, format, version, devices}]; ok {
		return t
	}
	nan := math.NaN()
	return timed{nan, nan, nan, nan, nan}
}

// counts returns the numbers of devices above 1 with a case of the version.
func (c cases) counts(version string) (n []int) {
	for k := range c {
		if k.version == version && k.devices > 1 && !slices.Contains(n, k.devices) {
			n = append(n, k.devices)
		}
	}
	slices.Sort(n)
	return n
}

// speedup returns the speed-up as paper.Speedup defines it.
func (c cases) speedup(matrix string, format sparse.Format, version string, devices int) float64 {
	one, ok1 := c[caseKey{matrix, format, string(msrep.Baseline), 1}]
	run, ok2 := c[caseKey{matrix, format, version, devices}]
	if !ok1 || !ok2 {
		return math.NaN()
	}
	return (one.h2d + one.compute + one.merge) / run.total
}

// authorsCases returns the authors' times on a platform.
func authorsCases(platform string) cases {
	c := cases{}
	for _, t := range paper.Times() {
		if _, ok := paper.Find(t.Matrix); !ok || t.Platform != platform || t.Kind() == "" {
			continue
		}
		v := timed{t.Partition, t.H2D, t.Compute, t.Merge, t.Partition + t.H2D + t.Compute + t.Merge}
		c[caseKey{t.Matrix, sparse.Format(t.Format), t.Kind(), t.GPUs}] = v
		if t.Kind() == "p-opt" {
			c[caseKey{t.Matrix, sparse.Format(t.Format), placed, t.GPUs}] = v
		}
	}
	return c
}

// ownCases returns the times of this session.
func (s *Session) ownCases() cases {
	c := cases{}
	for r, p := range s.runs {
		key := caseKey{r.matrix, r.format, r.version(), r.devices}
		if r.numa == msrep.NUMAOn {
			key.version = placed
		}
		c[key] = s.known(r, p)
	}
	return c
}

// known returns the times of a run; phases that the model does not reproduce within its tolerance are NaN.
func (s *Session) known(r run, p phases) timed {
	v := timed{p.partition, p.h2d, p.compute, p.merge, p.total()}
	for phase, to := range map[string]*float64{"partition": &v.partition, "h2d": &v.h2d, "compute": &v.compute, "merge": &v.merge, model.Total: &v.total} {
		if !s.good(r, phase) {
			*to = math.NaN()
		}
	}
	return v
}

// claim is a statement of the MSREP paper with a number that follows from times.
type claim struct {
	figure   string
	platform string // the platform of the statement, "" for both
	says     string
	paper    string // the paper's value, in words
	when     string // condition under which the statement holds
	value    func(c cases) float64
	holds    func(x float64) bool
	parallel bool // needs as many processors as devices
}

// greatest returns the largest number; NaN for none and if one of them is unknown.
func greatest(v []float64) float64 {
	if len(v) == 0 || slices.ContainsFunc(v, math.IsNaN) {
		return math.NaN()
	}
	return slices.Max(v)
}

// percentOf returns the percentage of the numbers that fulfil a condition; NaN as for greatest.
func percentOf(v []float64, is func(float64) bool) float64 {
	n := 0
	for _, x := range v {
		if is(x) {
			n++
		}
	}
	if math.IsNaN(greatest(v)) {
		return math.NaN()
	}
	return 100 * float64(n) / float64(len(v))
}

// each collects a number for each of the formats and each number of devices above 1 with a case of the version.
func (c cases) each(of []sparse.Format, version string, value func(f sparse.Format, n int) float64) (v []float64) {
	for _, f := range of {
		for _, n := range c.counts(version) {
			v = append(v, value(f, n))
		}
	}
	return v
}

// atMost collects a number for each of the formats, with the most devices.
func (c cases) atMost(of []sparse.Format, value func(f sparse.Format, n int) float64) (v []float64) {
	for _, f := range of {
		v = append(v, value(f, c.most()))
	}
	return v
}

var (
	byRows     = []sparse.Format{sparse.FormatCSR, sparse.FormatCOO}
	compressed = []sparse.Format{sparse.FormatCSR, sparse.FormatCSC}
	onlyCSC    = []sparse.Format{sparse.FormatCSC}
	onlyCOO    = []sparse.Format{sparse.FormatCOO}
	onlyCSR    = []sparse.Format{sparse.FormatCSR}
)

// highestPercentage returns the largest percentage of the whole time that a phase takes in a version, over all numbers of
// devices.
func highestPercentage(of []sparse.Format, version string, phase func(timed) float64) func(cases) float64 {
	return func(c cases) float64 {
		v := c.each(of, version, func(f sparse.Format, n int) float64 { t := c.at(f, version, n); return 100 * phase(t) / t.total })
		for _, f := range of {
			t := c.at(f, version, 1)
			v = append(v, 100*phase(t)/t.total)
		}
		return greatest(v)
	}
}

// ratioOf returns the geometric mean of the ratio of a phase in two versions.
func ratioOf(of []sparse.Format, over, under string, phase func(timed) float64) func(cases) float64 {
	return func(c cases) float64 {
		return geometricMean(c.each(of, over, func(f sparse.Format, n int) float64 { return phase(c.at(f, over, n)) / phase(c.at(f, under, n)) }))
	}
}

// scalingOf returns the speed-up of a version with the most devices divided by their number: the geometric mean over
// all matrices and formats.
func scalingOf(c cases) float64 {
	var v []float64
	for _, m := range paper.Matrices {
		v = append(v, c.atMost(formats, func(f sparse.Format, n int) float64 {
			return c.speedup(m.Name, f, string(msrep.Optimized), n) / float64(n)
		})...)
	}
	return geometricMean(v)
}

func partitionOf(t timed) float64 { return t.partition }
func mergeOf(t timed) float64     { return t.merge }

// between returns a condition: the number is within the limits.
func between(low, high float64) func(float64) bool {
	return func(x float64) bool { return x >= low && x <= high }
}

const (
	base  = string(msrep.Baseline)
	plain = string(msrep.Partial)
	opt   = string(msrep.Optimized)
)

// msrepClaims are the statements of sections 5.4 to 5.7 of the MSREP paper. They are about HV15R unless they name
// other matrices.
var msrepClaims = []claim{
	{"16", "", "baseline: time to split with the most devices over that with one", "the same", "0.8 to 1.25",
		func(c cases) float64 {
			return geometricMean(c.atMost(formats, func(f sparse.Format, n int) float64 {
				return c.at(f, base, n).partition / c.at(f, base, 1).partition
			}))
		}, between(0.8, 1.25), false},
	{"16", "", "p: times as fast to split with the most devices, by their number", "good speed-up", ">= 0.5",
		func(c cases) float64 {
			return geometricMean(c.atMost(formats, func(f sparse.Format, n int) float64 {
				return c.at(f, plain, 1).partition / c.at(f, plain, n).partition / float64(n)
			}))
		}, atLeast(0.5), true},
	{"16", "", "p over p-opt: time to split", "significant benefit", ">= 2", ratioOf(formats, plain, opt, partitionOf), atLeast(2), false},
	{"17", "dgx1", "baseline, CSR and CSC: highest share of splitting, %", "2.3", "1.8 to 2.8", highestPercentage(compressed, base, partitionOf), between(1.8, 2.8), false},
	{"17", "dgx1", "baseline, COO: highest share of splitting, %", "62", "52 to 72", highestPercentage(onlyCOO, base, partitionOf), between(52, 72), false},
	{"17", "summit", "baseline, CSR and CSC: highest share of splitting, %", "9", "7 to 11", highestPercentage(compressed, base, partitionOf), between(7, 11), false},
	{"17", "summit", "baseline, COO: highest share of splitting, %", "85", "75 to 95", highestPercentage(onlyCOO, base, partitionOf), between(75, 95), false},
	{"17", "", "p-opt: cases in which splitting takes less than 2 %, %", "most", "> 50",
		func(c cases) float64 {
			return percentOf(c.each(formats, opt, func(f sparse.Format, n int) float64 { t := c.at(f, opt, n); return t.partition / t.total }), below(0.02))
		}, func(x float64) bool { return x > 50 }, false},
	{"18", "", "baseline, CSC: time to merge with the most devices over that with one, by their number", "1", "0.65 to 1.35",
		func(c cases) float64 {
			return geometricMean(c.atMost(onlyCSC, func(f sparse.Format, n int) float64 {
				return c.at(f, base, n).merge / c.at(f, base, 1).merge / float64(n)
			}))
		}, between(0.65, 1.35), false},
	{"18", "", "p over baseline: time to merge CSR and COO", "higher", "> 1.1", ratioOf(byRows, plain, base, mergeOf), atLeast(1.1), false},
	{"18", "", "p over baseline: time to merge CSC", "the same", "0.8 to 1.25", ratioOf(onlyCSC, plain, base, mergeOf), between(0.8, 1.25), false},
	{"18", "", "p over p-opt: time to merge", "reduced", "> 1", ratioOf(formats, plain, opt, mergeOf), atLeast(1), false},
	{"19", "", "p-opt, CSR: highest share of merging, %", "3.8", "< 3.8", highestPercentage(onlyCSR, opt, mergeOf), below(3.85), false},
	{"19", "", "p-opt, CSC: highest share of merging, %", "9", "< 9", highestPercentage(onlyCSC, opt, mergeOf), below(9.5), false},
	{"19", "", "p-opt, COO: highest share of merging, %", "17", "< 17", highestPercentage(onlyCOO, opt, mergeOf), below(17.5), false},
	{"20", "summit", "without placement: speed of 6 GPUs over that of 3, highest of the formats", "cannot scale well beyond 3 GPUs", "< 1.25",
		func(c cases) float64 {
			var v []float64
			for _, f := range formats {
				v = append(v, c.at(f, paper.Unplaced, 3).total/c.at(f, paper.Unplaced, 6).total)
			}
			return greatest(v)
		}, below(1.25), false},
	{"20", "dgx1", "time without placement over that with it", "no effect seen consistently", "0.9 to 1.1",
		func(c cases) float64 {
			return geometricMean(c.each(formats, paper.Unplaced, func(f sparse.Format, n int) float64 {
				return c.at(f, paper.Unplaced, n).total / c.at(f, placed, n).total
			}))
		}, between(0.9, 1.1), false},
	{"21", "", "cases in which the baseline is the slowest, %", "worst performance", ">= 90",
		func(c cases) float64 {
			return percentOf(c.each(formats, base, func(f sparse.Format, n int) float64 {
				return c.at(f, base, n).total / math.Max(c.at(f, plain, n).total, c.at(f, opt, n).total)
			}), atLeast(1))
		}, atLeast(90), false},
	{"21", "", "cases in which p-opt is the fastest, %", "near linear with all optimisations", ">= 90",
		func(c cases) float64 {
			return percentOf(c.each(formats, opt, func(f sparse.Format, n int) float64 {
				return math.Min(c.at(f, base, n).total, c.at(f, plain, n).total) / c.at(f, opt, n).total
			}), atLeast(1))
		}, atLeast(90), false},
	{"21", "dgx1", "p-opt, CSR: speed-up of 8 GPUs", "6.2", "5.9 to 6.5", func(c cases) float64 { return c.speedup(single, sparse.FormatCSR, opt, 8) }, about(6.2, 0.05), false},
	{"21", "summit", "p-opt, CSR: speed-up of 6 GPUs", "5.5", "5.2 to 5.8", func(c cases) float64 { return c.speedup(single, sparse.FormatCSR, opt, 6) }, about(5.5, 0.05), false},
	{"22", "dgx1", "p-opt on six matrices: speed-up of 8 GPUs by their number", "near linear", ">= 0.8", scalingOf, atLeast(0.8), false},
	{"23", "summit", "p-opt on six matrices: speed-up of 6 GPUs by their number", "near linear", ">= 0.8", scalingOf, atLeast(0.8), false},
}

// Outcomes of a statement.
const (
	reproduced    = "reproduced"
	notReproduced = "not reproduced"
	notTestable   = "cannot be tested here"
)

// outcome judges a number. An unknown number is notTestable.
func outcome(x float64, holds func(float64) bool) string {
	switch {
	case math.IsNaN(x):
		return notTestable
	case holds(x):
		return reproduced
	}
	return notReproduced
}

// judgeFigure compares the statements about a figure with the times of this session and with the authors' own. It
// adds the verdicts to the table of outcomes.
func (s *Session) judgeFigure(number string) (plot.Table, []string) {
	t := plot.Table{
		Name: "msrep-fig" + number + "-claims", Title: "What the paper says", Prose: true,
		Header: []string{"statement", "paper", "holds when", string(s.origin()), "the authors' own times, DGX-1", "Summit"},
	}
	own := s.ownCases()
	theirs := map[string]cases{"dgx1": authorsCases("dgx1"), "summit": authorsCases("summit")}
	found, held, contradicted := 0, 0, []string{}
	for _, cl := range msrepClaims {
		if cl.figure != number {
			continue
		}
		x := math.NaN()
		few := s.platform == nil && len(s.gpus) == 0 && s.most > s.Record.Machine.Cores
		if cl.parallel && few {
			x = math.NaN() // devices share cores
		} else if cl.platform == "" || s.platform != nil && s.platform.Name == cl.platform {
			x = cl.value(own)
		}
		row := []string{cl.says, cl.paper, cl.when, cl.cell(x)}
		var beside []string
		for _, platform := range model.Names() {
			y := math.NaN()
			if cl.platform == "" || cl.platform == platform {
				y = cl.value(theirs[platform])
			}
			row = append(row, cl.cell(y))
			if !math.IsNaN(y) {
				beside = append(beside, platformTitle(platform)+" "+cl.cell(y))
			}
			if outcome(y, cl.holds) == notReproduced {
				contradicted = append(contradicted, fmt.Sprintf("The authors' own times on %s contradict the paper. %s: %s; the paper says %s.", platformTitle(platform), capital(cl.says), short(y), cl.paper))
			}
		}
		t.Rows = append(t.Rows, row)
		v := verdict{Paper: "MSREP", Item: "Figure " + number, Says: cl.says, Printed: cl.paper, Found: orDash(x), Outcome: outcome(x, cl.holds), Authors: strings.Join(beside, "; ")}
		if v.Outcome != notTestable {
			if found++; v.Outcome == reproduced {
				held++
			}
			v.Found += " (" + string(s.origin()) + ")"
		}
		s.verdicts = append(s.verdicts, v)
	}
	return t, append([]string{fmt.Sprintf("Statements of the paper about this figure: %d. Tested here: %d. Of these hold: %d.", len(t.Rows), found, held)}, contradicted...)
}

// cell returns the number with its verdict, "-" without a number.
func (cl claim) cell(x float64) string {
	switch outcome(x, cl.holds) {
	case reproduced:
		return short(x) + ", holds"
	case notReproduced:
		return short(x) + ", does not hold"
	}
	return "-"
}

// platformTitle returns the short name of a platform.
func platformTitle(platform string) string {
	return map[string]string{"dgx1": "DGX-1", "summit": "Summit"}[platform]
}

// capital returns the sentence with a capital letter.
func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// join joins the list with commas.
func join(list []string) string { return strings.Join(list, ", ") }

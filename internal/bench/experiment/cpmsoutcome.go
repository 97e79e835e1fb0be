package experiment

import (
	"fmt"
	"math"
	"slices"

	"github.com/msrep-go/msrep/internal/bench/paper"
	"github.com/msrep-go/msrep/internal/plot"
	"github.com/msrep-go/msrep/solver/graph"
)

// cpmsMeans holds the numbers that judge the statements of the CPMS paper: geometric means over the graphs, by format
// and by the name of a case or way. Unknown numbers are missing.
type cpmsMeans struct {
	bytes    int64                           // least bytes that an iteration reads
	extra    float64                         // largest number of iterations above that of fp64, to 1e-10
	products map[string]map[string]float64   // speed-up of products over fp64
	counted  map[string]map[string]float64   // sectors with fp64 over those of a case
	ranked   map[string]map[string][]float64 // speed-up of PageRank over stored fp64, by paper.CPMSThresholds
}

// cpmsMeansOf computes the means of the results.
func cpmsMeansOf(all []cpmsResults) cpmsMeans {
	var extra []float64
	m := cpmsMeans{products: map[string]map[string]float64{}, counted: map[string]map[string]float64{}, ranked: map[string]map[string][]float64{}}
	m.bytes = math.MaxInt64
	for _, r := range all {
		m.bytes = min(m.bytes, 4*r.links+16*int64(r.nodes))
		total := func(way int) (n int) {
			_, by := r.ranked[cpmsFormats[0]][way].to(1e-10)
			for _, v := range by {
				n += v
			}
			return n
		}
		for _, p := range []graph.Precision{graph.CPMS2, graph.CPMS4} {
			extra = append(extra, float64(total(wayOf(p))-total(storedFP64)))
		}
	}
	m.extra = greatest(extra)
	for _, format := range cpmsFormats {
		m.products[format], m.counted[format], m.ranked[format] = map[string]float64{}, map[string]float64{}, map[string][]float64{}
		over, _, _ := gains(all, func(r *cpmsResults) []float64 { return r.products[format] })
		for i, c := range cpmsCases(format)[firstCase:] {
			m.products[format][c.name] = over[len(all)][i]
		}
		over, _, _ = gains(all, func(r *cpmsResults) []float64 { return r.counted[format] })
		for i, c := range countedCases[firstCase:] {
			m.counted[format][countedName(c)] = over[len(all)][i]
		}
		for w, way := range cpmsWays(format, 0) {
			over, _, _ := speedups(all, format, w, onCPU)
			m.ranked[format][way.name] = over[len(all)]
		}
	}
	return m
}

// at returns an element of a map, NaN if it is missing.
func at(m map[string]float64, name string) float64 {
	if x, ok := m[name]; ok {
		return x
	}
	return math.NaN()
}

// rank returns the speed-up of a way to a tolerance.
func (m cpmsMeans) rank(format, way string, tol float64) float64 {
	v := m.ranked[format][way]
	if i := slices.Index(paper.CPMSThresholds, tol); i >= 0 && i < len(v) {
		return v[i]
	}
	return math.NaN()
}

// cpmsClaim is a statement of the CPMS paper with a number.
type cpmsClaim struct {
	item, says, paper string
	origin            plot.Origin
	value             func(m cpmsMeans) float64
	holds             func(x float64) bool
}

// cpmsClaims lists the statements. Those about Figures 10 and 11 concern stored weights.
var cpmsClaims = []cpmsClaim{
	{"Table 2", "most iterations that adaptive precision needs more than fp64 to 1e-10", "up to 24", plot.Measured,
		func(m cpmsMeans) float64 { return m.extra }, below(24.5)},
	{"Figure 4", "csr, 32 bits in 2 segments over fp64: by sectors, which stand in for time", "about 1.5", plot.Counted,
		func(m cpmsMeans) float64 { return at(m.counted["csr"], countedName(countedCases[firstCase])) }, about(1.5, 0.2)},
	{"Figure 6", "csr, 2 segments: speed-up to 1e-2 over that to 1e-12", "lower accuracy gains more", plot.Measured,
		func(m cpmsMeans) float64 {
			return m.rank("csr", "stored cpms2, separated", 1e-2) / m.rank("csr", "stored cpms2, separated", 1e-12)
		}, func(x float64) bool { return x > 1 }},
	{"Figure 9", "csr, banks of 128 bytes, 32 bits of 2 segments over fp64", "at most marginally faster", plot.Measured,
		func(m cpmsMeans) float64 { return at(m.products["csr"], "32 bits, 2-seg, 128 B") }, below(1.1)},
	{"Figure 9", "csr, 32 bits of 2 segments: banks of 8 KiB over separated segments", "competitive", plot.Measured,
		func(m cpmsMeans) float64 {
			return at(m.products["csr"], "32 bits, 2-seg, 8 KiB") / at(m.products["csr"], "32 bits, 2-seg, separated")
		}, atLeast(0.9)},
	{"Figure 9", "csr, separated, 32 bits of 2 segments over fp64", "faster", plot.Measured,
		func(m cpmsMeans) float64 { return at(m.products["csr"], "32 bits, 2-seg, separated") }, func(x float64) bool { return x > 1 }},
	separatedAhead("Figure 10", "csr"), twoAhead("Figure 10", "csr"),
	separatedAhead("Figure 11", "ell"), twoAhead("Figure 11", "ell"),
}

// separatedAhead is the statement that segments in separate arrays are faster than in banks.
func separatedAhead(item, format string) cpmsClaim {
	return cpmsClaim{item, format + ", 2 segments to 1e-10: separated over banks of 128 bytes", "CPMS-s outperforms CPMS-i", plot.Measured,
		func(m cpmsMeans) float64 {
			return m.rank(format, "stored cpms2, separated", 1e-10) / m.rank(format, "stored cpms2, 128 B", 1e-10)
		}, func(x float64) bool { return x > 1 }}
}

// twoAhead is the statement that two segments are faster than four.
func twoAhead(item, format string) cpmsClaim {
	return cpmsClaim{item, format + ", separated to 1e-10: 2 segments over 4", "2 segments outperform 4", plot.Measured,
		func(m cpmsMeans) float64 {
			return m.rank(format, "stored cpms2, separated", 1e-10) / m.rank(format, "stored cpms4, separated", 1e-10)
		}, func(x float64) bool { return x > 1 }}
}

// judgeCPMS adds the statements of the CPMS paper to the table of outcomes. Statements about time need graphs at
// least twice as large as the last-level cache.
func (s *Session) judgeCPMS(m cpmsMeans) {
	for _, cl := range cpmsClaims {
		x := cl.value(m)
		v := verdict{Paper: "CPMS", Item: cl.item, Says: cl.says, Printed: cl.paper, Found: orDash(x), Outcome: outcome(x, cl.holds)}
		if !math.IsNaN(x) {
			v.Found = fmt.Sprintf("%s (%s)", short(x), cl.origin)
			if cl.origin == plot.Measured && cl.item != "Table 2" && m.bytes < 2*int64(s.Record.Machine.L3) {
				v.Found, v.Outcome = v.Found+", but graphs are in the caches", notTestable
			}
		}
		s.verdicts = append(s.verdicts, v)
	}
}

// Relative errors up to which a figure counts as reproduced, and as roughly reproduced.
const (
	sameWithin  = 0.10
	aboutWithin = 0.25
)

// beside compares a figure with the paper's and gives a verdict by the error.
func beside(ours, theirs float64) string { return besideAs(ours, theirs, true) }

// gainBeside is beside for speed-ups: a slow-down never reproduces a speed-up, however small both are.
func gainBeside(ours, theirs float64) string {
	return besideAs(ours, theirs, (ours > 1) == (theirs > 1))
}

func besideAs(ours, theirs float64, comparable bool) string {
	off := math.Abs(ours/theirs - 1)
	verdict := "not reproduced"
	switch {
	case !comparable:
	case off <= sameWithin:
		verdict = "reproduced"
	case off <= aboutWithin:
		verdict = "roughly reproduced"
	}
	return fmt.Sprintf("%.3g here, %.3g in the paper, %.1f %% off: %s", ours, theirs, 100*off, verdict)
}

// holds states whether a claim of the paper holds in n of the given number of cases.
func holds(claim string, n, of int) string {
	verdict := "does not hold"
	switch share := float64(n) / float64(of); {
	case share >= 1-sameWithin/2:
		verdict = "holds"
	case share >= 1-aboutWithin:
		verdict = "mostly holds"
	}
	return fmt.Sprintf("%s: %s, in %d of %d cases.", claim, verdict, n, of)
}

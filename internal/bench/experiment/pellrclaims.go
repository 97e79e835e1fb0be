package experiment

import (
	"fmt"
	"math"

	"github.com/msrep-go/msrep/internal/bench"
	"github.com/msrep-go/msrep/internal/plot"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/ellpack"
)

// pellrClaim is a statement of the paper with a number that can be compared with ours.
type pellrClaim struct {
	figure, says, paper string
	when                string // condition under which the statement holds, in words
	value               func(v *pellrView, c pellrMeasure) float64
	holds               func(x float64) bool
}

// atLeast, about and below are conditions on a number.
func atLeast(y float64) func(float64) bool { return func(x float64) bool { return x >= y } }
func below(y float64) func(float64) bool   { return func(x float64) bool { return x < y } }
func about(y, within float64) func(float64) bool {
	return func(x float64) bool { return math.Abs(x/y-1) <= within }
}

// meanOver and others return the number of a claim.
func meanOver(f sparse.Format, pick func(m *bench.PELLRMatrix) bool) func(*pellrView, pellrMeasure) float64 {
	return func(v *pellrView, c pellrMeasure) float64 { return v.mean(c, f, pick) }
}

func overOn(f sparse.Format, matrix string) func(*pellrView, pellrMeasure) float64 {
	return meanOver(f, func(m *bench.PELLRMatrix) bool { return m.Name == matrix })
}

func shareAhead(f sparse.Format) func(*pellrView, pellrMeasure) float64 {
	return func(v *pellrView, c pellrMeasure) float64 {
		n, of := v.ahead(c, f)
		return 100 * float64(n) / float64(of)
	}
}

// paperFormats are the formats of the paper's Figures 11 and 12 that are compared with PELLR.
var paperFormats = []sparse.Format{"csrv", ellpack.FormatJAD, ellpack.FormatELL, ellpack.FormatELLR, ellpack.FormatPELLR, ellpack.FormatHYB, ellpack.FormatBiELL, ellpack.FormatBiJAD, "cucsr"}

// percentBest returns the percentage of matrices on which no other format of the paper is better than PELLR.
func percentBest(v *pellrView, c pellrMeasure) float64 {
	best, of := 0, 0
	for i := range v.matrices {
		m := &v.matrices[i]
		if _, ok := c.cost(m, ellpack.FormatPELLR); !ok {
			continue
		}
		of++
		ahead := true
		for _, f := range paperFormats {
			if r, ok := c.over(m, f); ok && r < 1 {
				ahead = false
			}
		}
		if ahead {
			best++
		}
	}
	return 100 * float64(best) / float64(of)
}

// highestOver returns the largest ratio of all matrices.
func highestOver(f sparse.Format) func(*pellrView, pellrMeasure) float64 {
	return func(v *pellrView, c pellrMeasure) float64 {
		most := math.NaN()
		for i := range v.matrices {
			if r, ok := c.over(&v.matrices[i], f); ok && !(r <= most) {
				most = r
			}
		}
		return most
	}
}

// shortRows returns the cost of CSRV over PELLR with short rows, divided by the same ratio with long rows.
func shortRows(v *pellrView, c pellrMeasure) float64 {
	short := v.mean(c, "csrv", func(m *bench.PELLRMatrix) bool { return m.Mean <= 16 })
	return short / v.mean(c, "csrv", func(m *bench.PELLRMatrix) bool { return m.Mean > 16 })
}

var pellrClaims = []pellrClaim{
	{"6", "PELLR over ELLR, sigma > 10", "1.5", ">= 1.35", meanOver(ellpack.FormatELLR, sigma(10, math.Inf(1))), atLeast(1.35)},
	{"6", "the same, and ave > 20, max-min > 10", "1.5", ">= 1.35", meanOver(ellpack.FormatELLR, func(m *bench.PELLRMatrix) bool {
		return m.StdDev > 10 && m.Mean > 20 && m.Spread > 10
	}), atLeast(1.35)},
	{"6", "PELLR over ELLR, sigma < 3", "no obvious advantage", "0.9 to 1.1", meanOver(ellpack.FormatELLR, sigma(-1, 3)), about(1, 0.1)},
	{"6", "PELLR over ELLR on memplus", "1.1", "0.95 to 1.25", overOn(ellpack.FormatELLR, "memplus"), about(1.1, 0.14)},
	{"6", "PELLR ahead of ELLR, % of matrices", "100", ">= 95", shareAhead(ellpack.FormatELLR), atLeast(95)},
	{"8", "PELLR over HYB, sigma < 10", "4", ">= 3.6", meanOver(ellpack.FormatHYB, sigma(-1, 10)), atLeast(3.6)},
	{"8", "PELLR over HYB, sigma > 10", "1.6", ">= 1.44", meanOver(ellpack.FormatHYB, sigma(10, math.Inf(1))), atLeast(1.44)},
	{"8", "PELLR over HYB on memplus: HYB is ahead", "0.7", "< 0.9", overOn(ellpack.FormatHYB, "memplus"), below(0.9)},
	{"9", "PELLR ahead of BiELL, % of matrices", "85", ">= 75", shareAhead(ellpack.FormatBiELL), atLeast(75)},
	{"9", "PELLR over BiELL on memplus: BiELL is ahead", "0.82", "< 0.9", overOn(ellpack.FormatBiELL, "memplus"), below(0.9)},
	{"10", "PELLR ahead of BiJAD, % of matrices", "75", ">= 65", shareAhead(ellpack.FormatBiJAD), atLeast(65)},
	{"10", "PELLR over BiJAD, the highest", "1.3", "< 1.4", highestOver(ellpack.FormatBiJAD), below(1.4)},
	{"11, 12", "PELLR the best of the paper's formats, % of matrices", "more than 70", "> 70", percentBest, atLeast(70)},
	{"12", "CSRV by PELLR: rows of ave <= 16 over those of ave > 16", "poor on short rows", "> 1.1", shortRows, atLeast(1.1)},
}

// claimTable compares the statements of the paper with our numbers.
func (v *pellrView) claimTable() plot.Table {
	t := plot.Table{Name: "pellr-claims", Title: "Statements of the paper, and results here", Header: []string{"statement", "figure", "paper", "said to hold when"}}
	for _, c := range v.measures() {
		t.Header = append(t.Header, fmt.Sprintf("%s (%s)", c.name, c.origin))
	}
	for _, claim := range pellrClaims {
		row := []string{claim.says, claim.figure, claim.paper, claim.when}
		for _, c := range v.measures() {
			row = append(row, claim.verdict(v, c))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// verdict returns the number and whether the statement holds; "-" without a number.
func (claim pellrClaim) verdict(v *pellrView, c pellrMeasure) string {
	x := claim.value(v, c)
	switch {
	case math.IsNaN(x):
		return "-"
	case claim.holds(x):
		return short(x) + ", holds"
	}
	return short(x) + ", does not hold"
}

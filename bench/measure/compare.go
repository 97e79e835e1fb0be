package measure

import (
	"math"
	"slices"
)

// Verdict is what a comparison found.
type Verdict string

// The verdicts. NoDifference means that a change beyond the tolerance was not
// found; what could have been found is in the interval.
const (
	NoDifference Verdict = "no difference"
	Slower       Verdict = "slower" // b takes longer than a
	Faster       Verdict = "faster"
)

// Comparison is b beside a, as a ratio of times: 1.1 means that b takes 10 %
// longer.
type Comparison struct {
	Ratio   float64 `json:"ratio"`
	Low     float64 `json:"low"` // the true ratio lies in [Low, High]; with too few samples 0 and the largest number
	High    float64 `json:"high"`
	Verdict Verdict `json:"verdict"`
}

// Judge says how two sets of samples are compared. The zero value finds nothing;
// use DefaultJudge.
type Judge struct {
	// Confidence of the interval of each ratio.
	Confidence float64
	// Tolerance is the change that is of no interest: only an interval that lies
	// wholly beyond 1 ± Tolerance is a difference. It stands for what differs
	// between two starts of the same program, which no number of samples within a
	// start can show: where memory lies, and who else uses the machine.
	Tolerance float64
}

// DefaultJudge is 99 % confidence and a tolerance of 3 %.
func DefaultJudge() Judge { return Judge{Confidence: 0.99, Tolerance: 0.03} }

// Compare estimates by which factor b is larger than a: the shift between the
// logarithms of the samples (Hodges and Lehmann, Annals of Mathematical
// Statistics 34, 1963), which is the median of all ratios b[j]/a[i]; its interval
// is the one that belongs to the rank test of Mann and Whitney (Hollander and
// Wolfe, Nonparametric Statistical Methods, section 4.3), and so needs no
// distribution. All samples must be positive. With less than 4 in a set nothing
// can be said, and the interval is unbounded.
func (j Judge) Compare(a, b []float64) Comparison {
	c := Comparison{Ratio: 1, Low: 0, High: math.MaxFloat64, Verdict: NoDifference}
	n, m := len(a), len(b)
	if n == 0 || m == 0 {
		return c
	}
	ratios := make([]float64, 0, n*m)
	for _, x := range a {
		for _, y := range b {
			ratios = append(ratios, y/x)
		}
	}
	slices.Sort(ratios)
	c.Ratio = quantile(ratios, 0.5)
	if n < 4 || m < 4 {
		return c
	}
	z := math.Sqrt2 * math.Erfinv(j.Confidence)
	k := int(math.Floor(float64(n*m)/2 - z*math.Sqrt(float64(n*m)*float64(n+m+1)/12)))
	if k < 1 {
		return c
	}
	c.Low, c.High = ratios[k-1], ratios[n*m-k]
	switch {
	case c.Low > 1+j.Tolerance:
		c.Verdict = Slower
	case c.High < 1/(1+j.Tolerance):
		c.Verdict = Faster
	}
	return c
}

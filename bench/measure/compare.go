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
	k := rankBound(n, m, (1-j.Confidence)/2)
	if k < 1 {
		return c
	}
	c.Low, c.High = ratios[k-1], ratios[n*m-k]
	c.Verdict = j.verdict(c.Low, c.High)
	return c
}

// verdict is what an interval of the ratio says.
func (j Judge) verdict(low, high float64) Verdict {
	switch {
	case low > 1+j.Tolerance:
		return Slower
	case high < 1/(1+j.Tolerance):
		return Faster
	}
	return NoDifference
}

// rankBound is the largest k for which less than k of the n*m pairs are in one
// order with a probability of at most tail, when both sets are drawn from one
// distribution: 0 where even k = 1 is likelier than that.
func rankBound(n, m int, tail float64) int {
	if n*m > 400 { // the normal distribution is near enough
		z := math.Sqrt2 * math.Erfinv(1-2*tail)
		return int(math.Floor(float64(n*m)/2 - z*math.Sqrt(float64(n*m)*float64(n+m+1)/12)))
	}
	sum := 0.0
	for k, p := range rankSums(n, m) {
		if sum += p; sum > tail {
			return k
		}
	}
	return n * m
}

// rankSums is the distribution of the statistic of Mann and Whitney: element u is
// the probability that u of the n*m pairs are in one order. The largest of all
// samples is of the first set with n chances of n+m, and is then in order with all
// of the second set.
func rankSums(n, m int) []float64 {
	p := make([][][]float64, n+1)
	for i := range p {
		p[i] = make([][]float64, m+1)
		for k := range p[i] {
			p[i][k] = make([]float64, i*k+1)
			if i == 0 || k == 0 {
				p[i][k][0] = 1
				continue
			}
			for u, v := range p[i-1][k] {
				p[i][k][u+k] += v * float64(i) / float64(i+k)
			}
			for u, v := range p[i][k-1] {
				p[i][k][u] += v * float64(k) / float64(i+k)
			}
		}
	}
	return p[n][m]
}

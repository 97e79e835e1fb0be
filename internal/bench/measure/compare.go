package measure

import (
	"math"
	"slices"
)

// Verdict is the result of a comparison.
type Verdict string

// The verdicts. NoDifference means that no change beyond the tolerance was found; the interval shows which changes
// could have been missed.
const (
	NoDifference Verdict = "no difference"
	Slower       Verdict = "slower" // b takes longer than a
	Faster       Verdict = "faster"
)

// Comparison is the ratio of the times of b to those of a: 1.1 means that b takes 10 % longer.
type Comparison struct {
	Ratio   float64 `json:"ratio"`
	Low     float64 `json:"low"` // the true ratio lies in [Low, High]; with too few samples they are 0 and the largest number
	High    float64 `json:"high"`
	Verdict Verdict `json:"verdict"`
}

// Judge sets how two sets of samples are compared. Use DefaultJudge: the zero value finds no difference.
type Judge struct {
	// Confidence is the confidence level of the interval of each ratio.
	Confidence float64
	// Tolerance is the largest change that is ignored: only an interval entirely beyond 1 ± Tolerance is a
	// difference. It covers differences between two starts of the same program, such as memory placement and other
	// load on the machine, which no number of samples within one start can show.
	Tolerance float64
}

// DefaultJudge returns a Judge with 99 % confidence and a tolerance of 3 %.
func DefaultJudge() Judge { return Judge{Confidence: 0.99, Tolerance: 0.03} }

// Compare estimates the factor by which b is larger than a: the shift between the logarithms of the samples (Hodges
// and Lehmann, Annals of Mathematical Statistics 34, 1963), which is the median of all ratios b[j]/a[i]. The interval
// belongs to the rank test of Mann and Whitney (Hollander and Wolfe, Nonparametric Statistical Methods, section 4.3)
// and assumes no distribution. All samples must be positive. With fewer than 4 samples in a set the interval is
// unbounded.
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

// verdict returns the verdict that an interval of the ratio implies.
func (j Judge) verdict(low, high float64) Verdict {
	switch {
	case low > 1+j.Tolerance:
		return Slower
	case high < 1/(1+j.Tolerance):
		return Faster
	}
	return NoDifference
}

// rankBound returns the largest k such that, with probability of at most tail, fewer than k of the n*m pairs are in
// one order if both sets come from one distribution. It returns 0 if even k = 1 is more probable.
func rankBound(n, m int, tail float64) int {
	if n*m > 400 { // the normal approximation suffices
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

// rankSums returns the distribution of the Mann-Whitney statistic: element u is the probability that u of the n*m
// pairs are in one order. The largest of all samples belongs to the first set with probability n/(n+m), and then is
// in order with all m samples of the second set.
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

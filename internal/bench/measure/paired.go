package measure

import (
	"math"
	"slices"
)

// ComparePaired estimates the factor by which b is larger than a if b[i] was measured directly before or after a[i],
// so that other load affected both. It takes the logarithms of the ratios b[i]/a[i] and the median of the means of
// all their pairs (Hodges and Lehmann). The interval belongs to Wilcoxon's signed rank test (Hollander and Wolfe,
// Nonparametric Statistical Methods, section 3.2). It assumes that the logarithms are symmetric about their median.
// All samples must be positive, and both sets must have the same length. With too few samples (fewer than 8 at 99 %)
// the interval is unbounded.
func (j Judge) ComparePaired(a, b []float64) Comparison {
	c := Comparison{Ratio: 1, Low: 0, High: math.MaxFloat64, Verdict: NoDifference}
	n := min(len(a), len(b))
	if n == 0 {
		return c
	}
	means := make([]float64, 0, n*(n+1)/2)
	for i := range n {
		for k := range i + 1 {
			means = append(means, math.Sqrt(b[i]/a[i]*(b[k]/a[k])))
		}
	}
	slices.Sort(means)
	c.Ratio = quantile(means, 0.5)
	if k := signedRankBound(n, (1-j.Confidence)/2); k >= 1 {
		c.Low, c.High = means[k-1], means[len(means)-k]
		c.Verdict = j.verdict(c.Low, c.High)
	}
	return c
}

// signedRankBound returns the largest k such that, with probability of at most tail, the signed rank statistic of n
// values is below k if both signs are equally probable. It returns 0 if even k = 1 is more probable.
func signedRankBound(n int, tail float64) int {
	if n > 60 { // the normal approximation suffices
		z, m := math.Sqrt2*math.Erfinv(1-2*tail), float64(n)
		return int(math.Floor(m*(m+1)/4 - z*math.Sqrt(m*(m+1)*(2*m+1)/24)))
	}
	// p[u] is the probability that the ranks of the positive values add up to u.
	p := make([]float64, n*(n+1)/2+1)
	p[0] = 1
	for rank := 1; rank <= n; rank++ {
		for u := len(p) - 1; u >= 0; u-- {
			p[u] /= 2
			if u >= rank {
				p[u] += p[u-rank] / 2
			}
		}
	}
	sum := 0.0
	for k, v := range p {
		if sum += v; sum > tail {
			return k
		}
	}
	return len(p)
}

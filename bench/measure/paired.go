package measure

import (
	"math"
	"slices"
)

// ComparePaired estimates by which factor b is larger than a where b[i] was measured
// right after or before a[i], so that what else went on met both: from the logarithms
// of the ratios b[i]/a[i], the median of the means of all pairs of them (Hodges and
// Lehmann), with the interval that belongs to the signed rank test of Wilcoxon
// (Hollander and Wolfe, Nonparametric Statistical Methods, section 3.2). It takes the
// logarithms to lie symmetrically about their median. All samples must be positive and
// both sets equally large; with too few (less than 8 at 99 %) the interval is
// unbounded.
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

// signedRankBound is the largest k for which the signed rank statistic of n values is
// below k with a probability of at most tail, when their signs are those of a fair coin;
// 0 where even k = 1 is likelier than that.
func signedRankBound(n int, tail float64) int {
	if n > 60 { // the normal distribution is near enough
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

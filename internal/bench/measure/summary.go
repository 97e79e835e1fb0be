package measure

import (
	"math"
	"slices"
)

// Summary describes the samples of one quantity, in the unit of the samples.
type Summary struct {
	N      int     `json:"n"`
	Median float64 `json:"median"`
	// Low and High bound the median with a confidence of at least 95 % (order statistics; Hahn and Meeker,
	// Statistical Intervals, 1991, section 5.2). With fewer than 6 samples they are the extremes, and the confidence
	// is lower.
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	Min  float64 `json:"min"`
	Max  float64 `json:"max"`
	// Outliers counts the samples beyond 3 interquartile ranges from the quartiles (Tukey's far out). All other
	// fields include them.
	Outliers int `json:"outliers"`
}

// Summarize describes samples, which must not be NaN. The summary of no samples is zero.
func Summarize(samples []float64) Summary {
	n := len(samples)
	if n == 0 {
		return Summary{}
	}
	s := slices.Sorted(slices.Values(samples))
	lo, hi := medianRanks(n)
	sum := Summary{N: n, Median: quantile(s, 0.5), Low: s[lo], High: s[hi], Min: s[0], Max: s[n-1]}
	q1, q3 := quantile(s, 0.25), quantile(s, 0.75)
	for _, v := range s {
		if v < q1-3*(q3-q1) || v > q3+3*(q3-q1) {
			sum.Outliers++
		}
	}
	return sum
}

// RelErr returns half the width of the interval over the median: the relative error of the median.
func (s Summary) RelErr() float64 {
	if s.N < 2 || s.Median == 0 {
		return math.Inf(1)
	}
	return (s.High - s.Low) / 2 / math.Abs(s.Median)
}

// LowerQuartile returns the lower quartile, or 0 for no samples.
func LowerQuartile(samples []float64) float64 {
	if len(samples) == 0 {
		return 0
	}
	return quantile(slices.Sorted(slices.Values(samples)), 0.25)
}

// medianRanks returns the ranks lo <= hi of the sorted samples that bound the true median with at least 95 %
// confidence. The number of samples below the median is binomial with n and 1/2, and lo is the largest rank with
//
//	P(fewer than lo+1 below) <= 0.025.
func medianRanks(n int) (lo, hi int) {
	p := math.Pow(0.5, float64(n)) // P(0 below)
	if p == 0 {                    // many samples: normal approximation
		lo = int(float64(n)/2 - 0.98*math.Sqrt(float64(n)) - 1)
		return lo, n - 1 - lo
	}
	sum := p
	for k := 0; sum <= 0.025; k++ {
		lo = k
		p *= float64(n-k) / float64(k+1)
		sum += p
	}
	return lo, n - 1 - lo
}

// quantile interpolates between sorted samples.
func quantile(s []float64, q float64) float64 {
	at := q * float64(len(s)-1)
	i := int(at)
	if i+1 == len(s) {
		return s[i]
	}
	return s[i] + (at-float64(i))*(s[i+1]-s[i])
}

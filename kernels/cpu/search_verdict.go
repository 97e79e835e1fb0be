package cpu

import (
	"math"
	"slices"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
)

// verdict is how the times of a contender and of the best form so far compare, in natural logarithms: 0.1 is
// a tenth.
type verdict struct {
	ratio  float64 // of the contender's time to that of the best
	stderr float64 // standard error of that
}

const (
	// A duel is over when its verdict is as exact as this, or so many times its error away from a tie.
	exactVerdict = 0.03
	clearVerdict = 3
	// modelError is how far what is expected of two forms is from what they take, as a standard deviation.
	modelError = 0.3
	// onceTimed is the least error of the times of two forms that took no turns.
	onceTimed = 0.03
	// lostError is the error that does not show in the scatter of times where workers lost their CPUs: it is this
	// times the share of the time that they lost. Who comes back to a CPU finds less in its caches.
	lostError = 0.25
	// agreed is how near to each other two verdicts are that say the same.
	agreed = 0.25
	// closeForms is by how much a form may be faster than the one that is taken without being missed.
	closeForms = 0.05
)

// judged is the verdict of the ratios of rounds: their median, so that a round in which one of the two was held
// up does not count.
func judged(ratios []float64) verdict {
	sorted := slices.Sorted(slices.Values(ratios))
	v := verdict{ratio: median(sorted)}
	for i, r := range sorted {
		sorted[i] = math.Abs(r - v.ratio)
	}
	slices.Sort(sorted)
	// The standard deviation of a normal distribution is 1.48 times its median deviation, and the error of a
	// median 1.25 times that of a mean.
	v.stderr = 1.48 * 1.25 * median(sorted) / math.Sqrt(float64(len(sorted)))
	return v
}

// median is that of sorted numbers.
func median(sorted []float64) float64 {
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// clear reports whether more rounds would tell no more.
func (v verdict) clear() bool {
	return v.stderr <= exactVerdict || math.Abs(v.ratio) > clearVerdict*v.stderr
}

// apart is the verdict on a contender by times that it and the best took one after the other, not in turns.
func (s *search[V]) apart(c *contender[V]) verdict {
	return verdict{math.Log(float64(c.product) / float64(s.best.product)), max(onceTimed, math.Hypot(c.scatter, s.best.scatter))}
}

// believed is a verdict on a contender together with what is expected of the two forms, each by its exactness:
// times that scatter less than the model errs decide, and times that were held up do not.
func (s *search[V]) believed(c *contender[V]) verdict {
	v := c.verdict
	measured := v.stderr*v.stderr + math.Pow(lostError*s.lostShare(), 2)
	expected, known := s.expected(c)
	if measured == 0 || !known {
		v.stderr = math.Sqrt(measured)
		return v
	}
	const model = modelError * modelError
	v.ratio = (v.ratio*model + expected*measured) / (model + measured)
	v.stderr = math.Sqrt(model * measured / (model + measured))
	return v
}

// expected is the ratio of the times of a contender and of the best form by the model: by what is known of the
// forms in the caches, and by the bytes that they read where these decide.
func (s *search[V]) expected(c *contender[V]) (ratio float64, known bool) {
	a, known := s.expectedProduct(c)
	b, too := s.expectedProduct(&s.best)
	return math.Log(a / b), known && too
}

// expectedProduct is a product of a form in products of csr.
func (s *search[V]) expectedProduct(c *contender[V]) (product float64, known bool) {
	switch {
	case c.Form == kernels.FormCSR:
		return 1, true
	case s.cached():
		return c.Cached.Product, c.Cached.Product > 0
	}
	return c.Bytes / float64(4+mem.Size[V]()), c.Bytes > 0
}

// lostShare is the share of the time of all products that were timed in which workers had no CPU.
func (s *search[V]) lostShare() float64 {
	return float64(s.lost) / float64(max(s.wanted, 1))
}

// doubts notes how likely it is that the form that loses by this verdict would be missed.
func (s *search[V]) doubts(v verdict) {
	if v.stderr > 0 {
		away := (math.Abs(v.ratio) + closeForms) / v.stderr
		s.info.Doubt = max(s.info.Doubt, math.Erfc(away/math.Sqrt2)/2)
	}
}

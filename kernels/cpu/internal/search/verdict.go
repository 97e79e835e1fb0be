package search

import (
	"math"
	"slices"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
)

// verdict compares the times of a contender and of the best form so far, in natural logarithms: 0.1 is about 10 %.
type verdict struct {
	ratio  float64 // contender's time over that of the best
	stderr float64 // standard error of ratio
}

const (
	// Paired timing ends when its verdict is as exact as exactVerdict, or clearVerdict times its error away from a
	// tie.
	exactVerdict = 0.03
	clearVerdict = 3
	// modelError is the standard deviation of the model's ratio of two forms from their measured ratio.
	modelError = 0.3
	// onceTimed is the least error of the times of two forms that were not timed alternately.
	onceTimed = 0.03
	// lostError is the error that the scatter of times does not show where workers lost their CPUs: lostError times
	// the fraction of the time that they lost. A worker that comes back to a CPU finds less in its caches.
	lostError = 0.25
	// agreed is the largest difference between two verdicts that count as equal.
	agreed = 0.25
	// closeForms is by how much a rejected form may be faster than the chosen one without counting as missed.
	closeForms = 0.05
)

// medianVerdict returns the verdict of the ratios of rounds: their median, so that a round in which one of the two forms was
// delayed does not count.
func medianVerdict(ratios []float64) verdict {
	sorted := slices.Sorted(slices.Values(ratios))
	v := verdict{ratio: median(sorted)}
	for i, r := range sorted {
		sorted[i] = math.Abs(r - v.ratio)
	}
	slices.Sort(sorted)
	// The standard deviation of a normal distribution is 1.48 times its median deviation, and the error of a median
	// 1.25 times that of a mean.
	v.stderr = 1.48 * 1.25 * median(sorted) / math.Sqrt(float64(len(sorted)))
	return v
}

// median returns the median of sorted numbers.
func median(sorted []float64) float64 {
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// clear reports whether more rounds would not change the verdict.
func (v verdict) clear() bool {
	return v.stderr <= exactVerdict || math.Abs(v.ratio) > clearVerdict*v.stderr
}

// unpaired returns the verdict on a contender by times of the contender and the best form that were not taken
// alternately.
func (s *search[V]) unpaired(c *contender[V]) verdict {
	return verdict{math.Log(float64(c.product) / float64(s.best.product)), max(onceTimed, math.Hypot(c.scatter, s.best.scatter))}
}

// withModel combines the verdict on a contender with the model's ratio of the two forms, each weighted by its
// exactness. Times that scatter less than the model errs decide; times that were delayed do not.
func (s *search[V]) withModel(c *contender[V]) verdict {
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

// expected returns the model's ratio of the times of a contender and of the best form: by what is known of the forms
// in the caches, and beyond them by the bytes that they read if these decide.
func (s *search[V]) expected(c *contender[V]) (ratio float64, known bool) {
	a, known := s.expectedProduct(c)
	b, too := s.expectedProduct(&s.best)
	return math.Log(a / b), known && too
}

// expectedProduct returns the model's time of a product of a form, in products of csr.
func (s *search[V]) expectedProduct(c *contender[V]) (product float64, known bool) {
	switch {
	case c.Form == kernels.FormCSR:
		return 1, true
	case s.cached():
		return c.Cached.Product, c.Cached.Product > 0
	}
	return c.Bytes / float64(4+mem.Size[V]()), c.Bytes > 0
}

// lostShare returns the fraction of the time of all timed products in which workers had no CPU.
func (s *search[V]) lostShare() float64 {
	return float64(s.lost) / float64(max(s.wanted, 1))
}

// updateDoubt updates PackInfo.Doubt, the probability that the form that loses by this verdict is faster by more than
// closeForms.
func (s *search[V]) updateDoubt(v verdict) {
	if v.stderr > 0 {
		away := (math.Abs(v.ratio) + closeForms) / v.stderr
		s.Info.Doubt = max(s.Info.Doubt, math.Erfc(away/math.Sqrt2)/2)
	}
}

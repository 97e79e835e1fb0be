package form

import (
	"github.com/msrep-go/msrep/kernels/cpu/simd"
)

// MultiplyTransposed adds windows in the order of Multiply, and then the long rows.
func (s *slicesForm[V]) MultiplyTransposed(alpha V, x []V, to func(lo, hi int) []V) {
	x = x[:s.rows]
	lanes := s.narrow.Values.Lanes
	var narrow, wide simd.Position
	order := s.order
	for i := range s.windows {
		w := &s.windows[i]
		part := x[i*s.size : min((i+1)*s.size, s.rows)]
		list := successiveRows()[:len(part)]
		if w.sorted {
			list, order = order[:len(part)], order[len(part):]
		}
		before, after := simd.Factors(s.level, alpha, part)
		if w.narrow.columns > 0 {
			lo, hi := int(max(w.least, w.base)), int(min(w.greatest, w.base+narrowSpan-1))+1
			s.factors(list, int(w.narrow.slices)*lanes, before, part)
			simd.AddSlicesTransposed(s.level, &s.narrow, narrow, int(w.narrow.slices), after, s.sums, to(lo, hi), lo-int(w.base), s.more)
			narrow = w.narrow.after(narrow)
		}
		if w.wide.columns > 0 {
			s.factors(order[:w.listed], int(w.wide.slices)*lanes, before, part)
			simd.AddSlicesTransposed(s.level, &s.wide, wide, int(w.wide.slices), after, s.sums, to(int(w.least), int(w.greatest)+1), int(w.least), s.more)
			wide = w.wide.after(wide)
			order = order[w.listed:]
		}
	}
	s.addLongTransposed(alpha, x, to, narrow, wide)
}

// factors puts alpha*x for the rows of a list to as many lanes of s.sums.
func (s *slicesForm[V]) factors(list []uint16, lanes int, alpha V, x []V) {
	list = list[:min(lanes, len(list))]
	factors := s.sums[:len(list)]
	for lane, r := range list {
		factors[lane] = alpha * x[r]
	}
}

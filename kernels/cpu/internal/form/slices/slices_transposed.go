package slices

import (
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

// MultiplyTransposed visits the windows and the pieces of long rows in the order of Multiply. It
// prefetches the elements of y that the next window is the first to add to.
func (s *slicesForm[V]) MultiplyTransposed(alpha V, x []V, to func(lo, hi int) []V) {
	x = x[:s.rows]
	var narrow, wide form.Position
	order, long := s.order, s.long.pieces
	for i := range s.windows {
		w := &s.windows[i]
		if from, end := int(w.prefetchFrom), int(w.prefetchTo); from < end { // columns are elements of y here
			form.Prefetch(s.level, to(from, end), 0, end-from)
		}
		part := x[i*s.size : min((i+1)*s.size, s.rows)]
		lane := form.SuccessiveRows()[:len(part)]
		if w.sorted {
			lane, order = order[:len(part)], order[len(part):]
		}
		before, after := form.Factors(s.level, alpha, part)
		spreadFactors(lane, before, part, s.sums)
		if w.narrow.Columns > 0 {
			lo, hi := int(max(w.least, w.base)), int(min(int64(w.greatest)+1, int64(w.base)+form.NarrowSpan))
			AddSlicesTransposed(s.level, &s.narrow, narrow, int(w.narrow.Slices), after, s.sums, to(lo, hi), lo-int(w.base), s.wideSums)
			narrow = w.narrow.After(narrow)
		}
		if w.wide.Columns > 0 {
			for l, r := range order[:w.listed] {
				s.sums[l] = before * part[r]
			}
			order = order[w.listed:]
			AddSlicesTransposed(s.level, &s.wide, wide, int(w.wide.Slices), after, s.sums, to(int(w.least), int(w.greatest)+1), int(w.least), s.wideSums)
			wide = w.wide.After(wide)
		}
		for ; len(long) > 0 && long[0].after == i; long = long[1:] {
			s.addPieceTransposed(&long[0], alpha, x, to)
			long[0].pass(s.narrow.Values.Lanes, &narrow, &wide)
		}
	}
}

// spreadFactors sets factors[lane[r]] = alpha*x[r] for each row r. It does four rows at a time,
// which takes two thirds of the time of one by one.
func spreadFactors[V sparse.Value](lane []uint16, alpha V, x, factors []V) {
	for len(lane) >= 4 && len(x) >= 4 {
		l, v := lane[:4:4], x[:4:4]
		a, b, c, d := alpha*v[0], alpha*v[1], alpha*v[2], alpha*v[3]
		factors[l[0]], factors[l[1]], factors[l[2]], factors[l[3]] = a, b, c, d
		lane, x = lane[4:], x[4:]
	}
	for r, l := range lane {
		factors[l] = alpha * x[r]
	}
}

package slices

import (
	"math"

	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

// storesDirectly reports whether put can multiply the current window: its rows are sorted, its
// entries are all narrow or all wide, and every lane has a row.
func (p *slicePlanner[V]) storesDirectly() bool {
	one := p.wide.Slices == 0 || p.joint && p.narrow.Slices == 0
	return p.window.sorted && one && p.lanes*int(p.narrow.Slices+p.wide.Slices) <= len(p.narrowRows.Order)
}

// multiplyDirect multiplies a window and stores each result directly, without a pass over its sums.
// Such a pass would read nothing of x. rows has the row of each lane.
func (s *slicesForm[V]) multiplyDirect(w *window, narrow, wide form.Position, rows []uint16, x []V, out *form.Results[V]) {
	of, at, n := &s.narrow, narrow, int(w.narrow.Slices)
	if n == 0 {
		of, at, n = &s.wide, wide, int(w.wide.Slices)
	}
	y, none := out.Y[:len(rows)], form.RowValue(out.Alpha, 0, 0, 0)
	if empty := rows[n*s.narrow.Values.Lanes:]; len(empty) > len(rows)/8 {
		fill(y, none) // fill the cache lines of y in their order
	} else {
		for _, r := range empty {
			y[r] = none
		}
	}
	MultiplySlicesToRows(s.level, of, at, n, x[w.base:], x[w.prefetchFrom:w.prefetchTo], s.sums, out.Alpha, rows, y)
	out.Y = out.Y[len(rows):]
}

// fill sets all elements of y to v.
func fill[V sparse.Value](y []V, v V) {
	if v == 0 && !math.Signbit(float64(v)) {
		clear(y)
		return
	}
	for i := range y {
		y[i] = v
	}
}

package form

import (
	"math"

	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/sparse"
)

// storesDirectly reports whether put can multiply the current window: its rows are sorted, its
// entries are all narrow or all wide, and every lane has a row.
func (p *slicePlanner[V]) storesDirectly() bool {
	one := p.wide.slices == 0 || p.joint && p.narrow.slices == 0
	return p.window.sorted && one && p.lanes*int(p.narrow.slices+p.wide.slices) <= len(p.narrowRows.order)
}

// multiplyDirect multiplies a window and stores each result directly, without a pass over its sums.
// Such a pass would read nothing of x. rows has the row of each lane.
func (s *slicesForm[V]) multiplyDirect(w *window, narrow, wide simd.Position, rows []uint16, x []V, out *results[V]) {
	of, at, n := &s.narrow, narrow, int(w.narrow.slices)
	if n == 0 {
		of, at, n = &s.wide, wide, int(w.wide.slices)
	}
	y, none := out.y[:len(rows)], simd.RowValue(out.alpha, 0, 0, 0)
	if empty := rows[n*s.narrow.Values.Lanes:]; len(empty) > len(rows)/8 {
		fill(y, none) // fill the cache lines of y in their order
	} else {
		for _, r := range empty {
			y[r] = none
		}
	}
	simd.MultiplySlicesToRows(s.level, of, at, n, x[w.base:], x[w.prefetchFrom:w.prefetchTo], s.sums, out.alpha, rows, y)
	out.y = out.y[len(rows):]
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

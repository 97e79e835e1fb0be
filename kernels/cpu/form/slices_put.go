package form

import (
	"math"

	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/sparse"
)

// puts reports whether put is to multiply the window that was planned: its rows are sorted, all in slices of one kind,
// with a row for each lane.
func (p *slicePlanner[V]) puts() bool {
	one := p.wide.slices == 0 || p.joint && p.narrow.slices == 0
	return p.window.sorted && one && p.lanes*int(p.narrow.slices+p.wide.slices) <= len(p.narrowRows.order)
}

// put multiplies a window whose lanes are those rows. It stores results at once, without sums in between: the last step
// of a product would move nothing of x.
func (s *slicesForm[V]) put(w *window, narrow, wide simd.Position, rows []uint16, x []V, out *results[V]) {
	of, at, n := &s.narrow, narrow, int(w.narrow.slices)
	if n == 0 {
		of, at, n = &s.wide, wide, int(w.wide.slices)
	}
	y, none := out.y[:len(rows)], simd.RowValue(out.alpha, 0, 0, 0)
	if empty := rows[n*s.narrow.Values.Lanes:]; len(empty) > len(rows)/8 {
		fill(y, none) // so that all lines come to the first cache in their order
	} else {
		for _, r := range empty {
			y[r] = none
		}
	}
	simd.PutSlices(s.level, of, at, n, x[w.base:], x[w.aheadFrom:w.aheadTo], s.sums, out.alpha, rows, y)
	out.y = out.y[len(rows):]
}

// fill sets all elements of y.
func fill[V sparse.Value](y []V, v V) {
	if v == 0 && !math.Signbit(float64(v)) {
		clear(y)
		return
	}
	for i := range y {
		y[i] = v
	}
}

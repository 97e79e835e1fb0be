package slices

import (
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
)

// MultiplyTransposed visits the panels in the order of Multiply.
func (f *panelsForm[V]) MultiplyTransposed(alpha V, x []V, to func(lo, hi int) []V) {
	var at form.Position
	order, block, after := f.order, -1, V(1)
	for i := range f.pieces {
		p := &f.pieces[i]
		if int(p.block) != block { // f.sums must have the factors of the new block
			block = int(p.block)
			after = form.ScaleTo(f.level, f.sums, alpha, x[block*f.height:min((block+1)*f.height, f.rows)])
		}
		for k, r := range order[:p.listed] {
			f.lanes[k] = f.sums[r]
		}
		order = order[p.listed:]
		y := to(int(p.base), min(int(p.base)+1<<f.shift, f.cols))
		AddSlicesTransposed(f.level, &f.slices, at, int(p.slices.Slices), after, f.lanes, y, 0, f.products)
		at = p.slices.After(at)
	}
}

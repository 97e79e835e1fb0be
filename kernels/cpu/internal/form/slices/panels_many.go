package slices

import (
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
)

// MultiplyMany computes y = beta*y and adds the products of the panels one after the other.
func (f *panelsForm[V]) MultiplyMany(alpha, beta V, x, y form.MultiVector[V]) {
	x, y = x.First(f.cols), y.First(f.rows)
	form.ScaleRows(beta, y, f.rows)
	var values form.Expansion[V]
	var at form.Position
	order := f.order
	for i := range f.pieces {
		p := &f.pieces[i]
		MultiplySlicesMany(f.level, &f.slices, at, int(p.slices.Slices), alpha, 1, x.From(int(p.base)), order[:p.listed],
			y.From(int(p.block)*f.height), false, &values)
		at, order = p.slices.After(at), order[p.listed:]
	}
}

// RowsFrom is 0: the elements of x of a panel stay in the second-level cache.
func (f *panelsForm[V]) RowsFrom() int { return 0 }

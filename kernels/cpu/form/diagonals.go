package form

import (
	"fmt"

	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/sparse"
)

// DiagonalOptions says how diagonals are made.
type DiagonalOptions[V sparse.Value] struct {
	Level simd.Level
	// Values is how values are stored; see FindValues. Values that are the same along
	// each diagonal need no place of their own, whatever it says.
	Values ValueSet[V]
}

// NewDiagonals builds slices of successive rows whose entries are at the same
// distances from the main diagonal, as in stencils and bands: no index is stored
// but the distances, once for each pattern of them. A slice has the distances of
// all its rows; lanes without an entry are masked out.
//
// It fails with a *sparse.InputError on a column outside x, rows whose columns do
// not ascend, and a matrix without such diagonals, which would take more than half
// as many places again as it has entries; with an error that wraps
// kernels.ErrOutOfMemory when there is no memory for it.
func NewDiagonals[V sparse.Value](r Rows[V], o DiagonalOptions[V]) (Form[V], error) {
	if err := r.noChunks(); err != nil {
		return nil, err
	}
	b := newDiagonalBuilder(r, o.Level, true)
	err := b.plan()
	if err == errVary {
		b = newDiagonalBuilder(r, o.Level, false)
		err = b.plan()
	}
	if err != nil {
		return nil, err
	}
	return b.build(o.Values)
}

// diagonalForm is the Form of NewDiagonals.
type diagonalForm[V sparse.Value] struct {
	footprint
	level      simd.Level
	rows, cols int
	slices     simd.Diagonals[V]
	patterns   int
}

func (d *diagonalForm[V]) Multiply(alpha, beta V, x, y []V) {
	simd.MultiplyDiagonals(d.level, &d.slices, alpha, beta, x[:d.cols], y[:d.rows])
}

func (d *diagonalForm[V]) Name() string {
	name := fmt.Sprintf("diagonals in %d patterns", d.patterns)
	if d.slices.Values.Storage == simd.Same {
		return name + ", one value each"
	}
	return named(name, d.slices.Values.Storage)
}

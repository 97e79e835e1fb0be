// The layout of diagonals, with 4 lanes (AVX2, float64):
//
//	     0 1 2 3 4 5 6 7 8 9 10
//	  0  a b . c . . . . . . .      offsets from the diagonal: 0, 1 and 3
//	  1  . d e . f . . . . . .
//	  2  . . g h . i . . . . .      slice 0: rows 0 to 3, all with the three offsets
//	  3  . . . j k . l . . . .
//	  4  . . . . m n . o . . .
//	  5  . . . . . p . . q . .      slice 1: rows 4 to 7; row 5 has no entry at offset 1
//	  6  . . . . . . r s . t .
//	  7  . . . . . . . u v . w
//
//	Offsets  0 1 3                                    one pattern
//	Runs     {Slices 1, Pattern 0, Width 3}           Pattern is the index in Offsets
//	         {Slices 1, Pattern 0, Width 3, Masked}
//	Masks    1111 1101 1111                           of the masked run: one bit per lane, lane 0 last
//	Values   a d g j  b e h k  c f i l  |  m p r u  n - s v  o q t w
//
//	| separates the slices; it is not stored. - is padding. If all values of a pattern at one offset
//	are equal, Values has no columns, only one value per offset.

package diagonals

import (
	"fmt"

	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

// DiagonalOptions are the options of NewDiagonals.
type DiagonalOptions[V sparse.Value] struct {
	Level simd.Level
	// Values is the storage of the values; see FindValues. If the values are equal along each
	// diagonal, they are stored once per diagonal instead.
	Values form.ValueSet[V]
}

// NewDiagonals builds slices of successive rows with entries at the same offsets from the main
// diagonal, as in stencils and bands. The form stores no column index, only the offsets, once for
// each pattern of offsets. A slice has all offsets of its rows; lanes without an entry at an offset
// are masked out.
//
// NewDiagonals fails with a *sparse.InputError if a column is outside x, if the columns of a row do
// not ascend, or if the matrix has no such diagonals: it would need more than 1.5 slots per entry,
// or more than one offset per 16 entries. It fails with an error that wraps kernels.ErrOutOfMemory
// if there is too little memory.
func NewDiagonals[V sparse.Value](r form.Rows[V], o DiagonalOptions[V]) (form.Form[V], error) {
	if err := r.NoChunks(); err != nil {
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

// diagonalForm is the Form that NewDiagonals builds.
type diagonalForm[V sparse.Value] struct {
	form.Footprint
	level      simd.Level
	rows, cols int
	slices     Diagonals[V]
	patterns   int
}

func (d *diagonalForm[V]) Multiply(alpha, beta V, x, y []V) {
	MultiplyDiagonals(d.level, &d.slices, alpha, beta, x[:d.cols], y[:d.rows])
}

func (d *diagonalForm[V]) Name() string {
	name := fmt.Sprintf("diagonals in %d patterns", d.patterns)
	if d.slices.Values.Storage == form.Same {
		return name + ", one value each"
	}
	return form.WithStorage(name, d.slices.Values.Storage)
}

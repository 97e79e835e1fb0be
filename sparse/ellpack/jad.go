package ellpack

import "github.com/msrep-go/msrep/sparse"

// JAD is the jagged diagonals: rows sorted by falling length, and the entries of one
// step after those of the last, without padding. Entry k of place i is at
// Start[k] + i, for i < Start[k+1] - Start[k].
type JAD[V sparse.Value] struct {
	Shape Shape
	Start []int64 // longest row + 1
	Perm  []int32 // place i holds row Perm[i]
	Idx   []int32
	Val   []V
}

// NewJAD builds the format from rows. Errors are those of NewELL.
func NewJAD[V sparse.Value](r Rows[V], o Options) (*JAD[V], error) {
	b, err := begin(&r, FormatJAD, o)
	if err != nil {
		return nil, err
	}
	e := &JAD[V]{Shape: b.shape}
	if e.Start, err = take[int64](b.opt, b.len.longest+1); err != nil {
		return nil, err
	}
	// Rows are passed from the shortest on: those before have more than k entries.
	for i, k := b.len.rows(), int64(0); i > 0; i-- {
		for n := b.len.at(b.perm, i-1); k < n; k++ {
			e.Start[k+1] = e.Start[k] + i
		}
	}
	if e.Idx, e.Val, err = b.entries(b.shape.Slots); err != nil {
		return nil, err
	}
	h := int64(b.opt.Height)
	b.eachWarp(func(lo, hi int64) {
		for w := lo; w < hi; w++ {
			for i := w * h; i < min(w*h+h, b.len.rows()); i++ {
				idx, val := b.row(i)
				for k := range idx {
					e.Idx[e.Start[k]+i], e.Val[e.Start[k]+i] = idx[k], val[k]
				}
			}
		}
	})
	e.Perm, err = keep(b, b.perm)
	return e, err
}

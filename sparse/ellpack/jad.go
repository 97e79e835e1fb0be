package ellpack

import "github.com/msrep-go/msrep/sparse"

// JAD is the jagged diagonal format: rows sorted by descending length, with the entries
// of each step after those of the step before, without padding. Entry k of position i is
// in slot Start[k] + i, for i < Start[k+1] - Start[k].
type JAD[V sparse.Value] struct {
	Shape Shape
	Start []int64 // longest row + 1
	Perm  []int32 // position i holds row Perm[i]
	Idx   []int32
	Val   []V
}

// NewJAD builds the format from rows, with the errors of NewELL.
func NewJAD[V sparse.Value](r Rows[V], o Options) (*JAD[V], error) {
	b, err := newBuilder(&r, FormatJAD, o)
	if err != nil {
		return nil, err
	}
	e := &JAD[V]{Shape: b.shape}
	if e.Start, err = allocate[int64](b.opt, b.len.longest+1); err != nil {
		return nil, err
	}
	// The loop runs from the shortest row to the longest: the i first rows have more than
	// k entries.
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
	e.Perm, err = allocCopy(b, b.perm)
	return e, err
}

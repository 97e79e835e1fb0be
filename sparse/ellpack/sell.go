package ellpack

import "github.com/msrep-go/msrep/sparse"

// SELL is SELL-C-sigma: rows are sorted by descending length within windows of sigma
// rows, and stored in slices of C = Height rows, each as wide as its longest row. Entry k
// of position i, in slice w, is in slot Start[w] + i - w*Height + k*Height.
type SELL[V sparse.Value] struct {
	Shape Shape
	Start []int64 // slices+1
	Perm  []int32 // position i holds row Perm[i]; nil if rows are in the order of the matrix
	Idx   []int32
	Val   []V
}

// NewSELL builds the format from rows, with the errors of NewELL.
func NewSELL[V sparse.Value](r Rows[V], o Options) (*SELL[V], error) {
	b, err := newBuilder(&r, FormatSELL, o)
	if err != nil {
		return nil, err
	}
	e := &SELL[V]{Shape: b.shape}
	if e.Start, err = allocCopy(b, b.starts(func(w int64) int64 { return b.len.warpLongest(b.perm, w) })); err != nil {
		return nil, err
	}
	if e.Idx, e.Val, err = b.entries(b.shape.Slots); err != nil {
		return nil, err
	}
	h := int64(b.opt.Height)
	b.eachWarp(func(lo, hi int64) {
		for w := lo; w < hi; w++ {
			b.warp(w, e.Idx, e.Val, e.Start[w], h, (e.Start[w+1]-e.Start[w])/h)
		}
	})
	e.Perm, err = allocCopy(b, b.perm)
	return e, err
}

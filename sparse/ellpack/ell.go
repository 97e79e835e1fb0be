package ellpack

import "github.com/msrep-go/msrep/sparse"

// ELL stores every row padded to the longest one, column by column: entry k of row i is
// in slot i + k*Stride.
type ELL[V sparse.Value] struct {
	Shape  Shape
	Width  int64 // slots of each row
	Stride int64 // rows, rounded up to whole warps
	Idx    []int32
	Val    []V
}

// NewELL builds the format from rows. It fails with a *sparse.InputError if the format
// would take more than Options.MaxBytes, with an error that wraps ErrMemory if it does
// not fit into memory, or with the error of Options.Alloc.
func NewELL[V sparse.Value](r Rows[V], o Options) (*ELL[V], error) {
	b, err := newBuilder(&r, FormatELL, o)
	if err != nil {
		return nil, err
	}
	e := &ELL[V]{Shape: b.shape}
	return e, b.ell(e, b.len.longest)
}

// ell stores the first width entries of each row in e.
func (b *builder[V]) ell(e *ELL[V], width int64) (err error) {
	e.Width, e.Stride = width, roundUp(b.len.rows(), int64(b.opt.Height))
	if e.Idx, e.Val, err = b.entries(e.Width * e.Stride); err != nil {
		return err
	}
	b.eachWarp(func(lo, hi int64) {
		for w := lo; w < hi; w++ {
			b.warp(w, e.Idx, e.Val, w*int64(b.opt.Height), e.Stride, e.Width)
		}
	})
	return nil
}

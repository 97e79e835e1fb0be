package ellpack

import "github.com/msrep-go/msrep/sparse"

// ELLR is ELL with the length of each row, or of the longest row of each warp. With Perm
// it is PELLR: position i holds row Perm[i], longest first.
//
// Entry k of position i, in warp w, is in slot i + k*Stride if Start is nil. Otherwise
// each warp is only as wide as its longest row, and the slot is Start[w] + i - w*Height +
// k*Height.
type ELLR[V sparse.Value] struct {
	Shape  Shape
	Stride int64   // slots between two entries of a row
	Start  []int64 // warps+1; nil if all rows have the same width
	Length []int32 // per position, or per warp if ByWarp
	ByWarp bool
	Perm   []int32 // nil: rows are in the order of the matrix
	Idx    []int32
	Val    []V
}

// NewELLR builds FormatELLR, FormatPELLR or FormatPELLRWarp. If padding all rows to one
// width would take more than Options.MaxBytes, each warp gets its own width. Errors are
// those of NewELL.
func NewELLR[V sparse.Value](f sparse.Format, r Rows[V], o Options) (*ELLR[V], error) {
	b, err := newBuilder(&r, f, o)
	if err != nil {
		return nil, err
	}
	h := int64(b.opt.Height)
	e := &ELLR[V]{Shape: b.shape, ByWarp: f == FormatPELLRWarp, Stride: roundUp(b.len.rows(), h)}
	longest := func(w int64) int64 { return b.len.warpLongest(b.perm, w) }
	if e.Shape.Sliced {
		e.Stride = h
		if e.Start, err = allocCopy(b, b.starts(longest)); err != nil {
			return nil, err
		}
	}
	n := b.len.rows()
	if e.ByWarp {
		n = b.len.warps()
	}
	if e.Length, err = allocate[int32](b.opt, n); err != nil {
		return nil, err
	}
	if e.Idx, e.Val, err = b.entries(e.Shape.Slots); err != nil {
		return nil, err
	}
	b.eachWarp(func(lo, hi int64) {
		for w := lo; w < hi; w++ {
			at, steps := w*h, longest(w)
			if e.Start != nil {
				at = e.Start[w]
			}
			b.warp(w, e.Idx, e.Val, at, e.Stride, steps)
			if e.ByWarp {
				e.Length[w] = int32(steps)
				continue
			}
			for i := w * h; i < min(w*h+h, n); i++ {
				e.Length[i] = int32(b.len.at(b.perm, i))
			}
		}
	})
	e.Perm, err = allocCopy(b, b.perm)
	return e, err
}

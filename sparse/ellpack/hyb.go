package ellpack

import "github.com/msrep-go/msrep/sparse"

// HYB stores the first ELL.Width entries of each row as ELL, and the other entries as
// coordinates (COO) sorted by row: entry k of these is at (Row[k], Col[k]) and has the
// value RestVal[k].
type HYB[V sparse.Value] struct {
	Shape   Shape
	ELL     ELL[V]
	Row     []int32
	Col     []int32
	RestVal []V
}

// NewHYB builds FormatHYB or FormatHYBMean, with the errors of NewELL.
func NewHYB[V sparse.Value](f sparse.Format, r Rows[V], o Options) (*HYB[V], error) {
	b, err := newBuilder(&r, f, o)
	if err != nil {
		return nil, err
	}
	width := b.len.hybWidth(f)
	e := &HYB[V]{Shape: b.shape}
	e.ELL.Shape = Shape{Format: FormatELL, Rows: b.shape.Rows, NNZ: b.shape.NNZ - b.len.beyond(width)}
	if err := b.ell(&e.ELL, width); err != nil {
		return nil, err
	}
	rest := b.len.beyond(width)
	if e.Row, err = allocate[int32](b.opt, rest); err != nil {
		return nil, err
	}
	if e.Col, e.RestVal, err = b.entries(rest); err != nil {
		return nil, err
	}
	at := int64(0)
	for i := range b.len.rows() {
		idx, val := b.row(i)
		if int64(len(idx)) <= width {
			continue
		}
		n := int64(copy(e.Col[at:], idx[width:]))
		copy(e.RestVal[at:], val[width:])
		for k := range n {
			e.Row[at+k] = int32(i)
		}
		at += n
	}
	return e, nil
}

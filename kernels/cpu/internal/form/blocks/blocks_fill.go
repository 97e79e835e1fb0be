package blocks

import (
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
)

// fill stores all blocks.
func (b *blockBuilder[V]) fill() error {
	o := b.out
	s := &o.blocks
	size := b.shape.Height * b.shape.Width
	var at form.Position
	for i, w := range o.windows {
		b.reopen(i)
		o.order = append(o.order, b.rows.Order...)
		for slice := range int(w.Slices) {
			order := b.rows.Order[slice*b.lanes : min((slice+1)*b.lanes, len(b.rows.Order))]
			full, masked := b.rows.Widths(slice*b.lanes, b.lanes)
			s.Widths[2*at.Slice], s.Widths[2*at.Slice+1] = uint32(full), uint32(masked)
			b.values.Open(at.Column*size*b.lanes, int(full+masked)*size*b.lanes)
			var rows [4]int
			for lane, r := range order {
				rows[lane%4] = b.row(i*blockWindow + int(r))
				if lane%4 == 3 && full > 0 {
					b.put4(&rows, int(full), at.Column*size*b.lanes+lane-3)
				}
				b.put(rows[lane%4], int(full), at.Column*b.lanes+lane, at.Column*size*b.lanes+lane)
				for j := full; j < b.rows.Counts[r]; j++ {
					s.Masks[at.Mask+int(j-full)] |= 1 << lane
				}
			}
			if err := b.values.Close(o.level, &s.Values); err != nil {
				return err
			}
			at = form.Group{Slices: 1, Columns: full + masked, Masks: masked}.After(at)
		}
	}
	return nil
}

// put4 stores the values of the first n blocks of four block rows in four adjacent lanes, beginning
// at slot place. rows are the first rows of the block rows.
func (b *blockBuilder[V]) put4(rows *[4]int, n, place int) {
	for i := range b.shape.Height {
		at := b.r.Starts4(rows, i)
		b.values.Put4(&b.out.blocks.Values, place+i*b.lanes, b.shape.Height*b.lanes, b.r.Val, &at, n*b.shape.Width)
	}
}

// put stores the block row that begins with row in one lane: all indices, and the values of all
// blocks after the first skip. idx and place are the slots of the first block.
func (b *blockBuilder[V]) put(row, skip, idx, place int) {
	width := b.shape.Width
	columns := b.r.Columns(row)
	for k := 0; k < len(columns); k += width {
		b.out.blocks.Idx[idx] = columns[k]
		idx += b.lanes
	}
	step := b.shape.Height * b.lanes
	for i := range b.shape.Height {
		_, val := b.r.Entries(row+i, row+i+1)
		b.values.Put(&b.out.blocks.Values, place+i*b.lanes+skip*width*step, step, val[skip*width:])
	}
}

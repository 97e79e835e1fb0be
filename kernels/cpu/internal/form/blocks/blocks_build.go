package blocks

import (
	"cmp"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/csr"
	"github.com/msrep-go/msrep/sparse"
)

// blockBuilder builds a blockForm: it counts the blocks of all block rows, allocates, and counts
// again while it fills.
type blockBuilder[V sparse.Value] struct {
	r      form.Rows[V]
	shape  BlockShape
	lanes  int
	head   int // rows before the first block row
	values form.ValueSet[V]
	out    *blockForm[V]
	rows   form.Lengths // number of blocks in each block row of a window
}

func newBlockBuilder[V sparse.Value](r form.Rows[V], o BlockOptions[V]) *blockBuilder[V] {
	rows := len(r.Ptr) - 1
	b := &blockBuilder[V]{r: r, shape: o.Shape, lanes: simd.Lanes[V](o.Level), head: min(max(0, o.Shape.First), rows), values: o.Values}
	if s := b.values.StoredAs; s == form.Table || s == form.Same {
		b.values = form.ValueSet[V]{}
	}
	blockRows := (rows - b.head) / o.Shape.Height
	b.out = &blockForm[V]{
		level: o.Level, cols: r.Cols, blockRows: blockRows,
		blocks:  Blocks[V]{Height: o.Shape.Height, Width: o.Shape.Width, Fused: r.Fixed},
		windows: make([]form.Group, (blockRows+blockWindow-1)/blockWindow),
		order:   make([]uint16, 0, blockRows),
		sums:    make([]V, (blockWindow+b.lanes)*o.Shape.Height),
		rows:    make([]V, blockWindow*o.Shape.Height),
	}
	b.rows.Counts, b.rows.Order = make([]int32, blockWindow), make([]uint16, blockWindow)
	return b
}

// window counts the blocks of each block row of window i and sorts the block rows by length.
func (b *blockBuilder[V]) window(i int) error {
	first := i * blockWindow
	n := min(blockWindow, b.out.blockRows-first)
	b.rows.Counts, b.rows.Order = b.rows.Counts[:n], b.rows.Order[:n]
	for r := range n {
		count, ok := countBlocks(&b.r, b.row(first+r), b.shape)
		if !ok {
			return sparse.Inputf("matrix", "an entry is outside the full blocks of %d x %d, or the columns do not ascend", b.shape.Height, b.shape.Width)
		}
		b.rows.Counts[r] = count
	}
	b.rows.Sort()
	return nil
}

// measure counts the blocks of all windows and allocates the arrays.
func (b *blockBuilder[V]) measure() (err error) {
	o, entries, longest := b.out, int64(0), 0
	var end form.Position
	for i := range o.windows {
		if err := b.window(i); err != nil {
			return err
		}
		o.windows[i], _ = b.rows.Group(b.lanes)
		end = o.windows[i].After(end)
		for _, n := range b.rows.Counts {
			entries += int64(n)
			longest = max(longest, int(n))
		}
	}
	size := b.shape.Height * b.shape.Width
	b.values = b.values.Within(o.level, longest*size*b.lanes)
	places := int64(end.Column * b.lanes)
	if places > entries+entries/4+int64(64*b.lanes) {
		return sparse.Inputf("matrix", "blocks of %d x %d: %d blocks would need %d slots", b.shape.Height, b.shape.Width, entries, places)
	}
	o.EmptySlots = (places - entries) * int64(size)
	s := &o.blocks
	if s.Values, err = b.values.Store(b.r.Mem, b.lanes, int64(end.Column*size)); err != nil {
		return err
	}
	if err := cmp.Or(
		form.Alloc(b.r.Mem, &s.Idx, places),
		form.Alloc(b.r.Mem, &s.Widths, 2*int64(end.Slice)),
		form.Alloc(b.r.Mem, &s.Masks, int64(end.Mask)),
	); err != nil {
		return err
	}
	if o.head, err = b.copyRows(0, b.head); err != nil {
		return err
	}
	if o.tail, err = b.copyRows(b.row(o.blockRows), len(b.r.Ptr)-1); err != nil {
		return err
	}
	o.MemoryBytes = form.CopyBytes(&o.head.Rows) + form.CopyBytes(&o.tail.Rows) + form.ValueBytes(&s.Values) + 4*places + 8*int64(end.Slice) + 2*int64(end.Mask+cap(o.order)) +
		12*int64(len(o.windows)) + mem.Size[V]()*int64(len(o.sums)+len(o.rows))
	o.stream = form.Beyond(o.MemoryBytes + mem.Size[V]()*int64(o.blockRows*o.blocks.Height+min(len(b.r.Ptr)-1, b.r.Cols)))
	return nil
}

// reopen is window for a window that has been checked.
func (b *blockBuilder[V]) reopen(i int) {
	first := i * blockWindow
	n := min(blockWindow, b.out.blockRows-first)
	b.rows.Counts, b.rows.Order = b.rows.Counts[:n], b.rows.Order[:n]
	for r := range n {
		row := b.row(first + r)
		b.rows.Counts[r] = int32((b.r.Ptr[row+1] - b.r.Ptr[row]) / int64(b.shape.Width))
	}
	b.rows.Sort()
}

// row returns the first row of a block row.
func (b *blockBuilder[V]) row(blocks int) int { return b.head + blocks*b.shape.Height }

// copyRows copies rows that are in no block row.
func (b *blockBuilder[V]) copyRows(from, to int) (*csr.CSR[V], error) {
	idx, val := b.r.Entries(from, to)
	rows, err := form.Copy(form.Rows[V]{Ptr: b.r.Ptr[from : to+1], Idx: idx, Val: val, Cols: b.r.Cols, Fixed: b.r.Fixed, Mem: b.r.Mem})
	if err != nil {
		return nil, err
	}
	return csr.NewCSRAt(rows, b.out.level), nil
}

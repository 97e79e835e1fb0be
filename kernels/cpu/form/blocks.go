package form

import (
	"fmt"
	"slices"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/sparse"
)

// BlockOptions says how blocks are made.
type BlockOptions[V sparse.Value] struct {
	Level simd.Level
	Shape BlockShape // see FindBlocks
	// Values is how values are stored; see FindValues. Tables and values that are all
	// the same are stored as they are.
	Values ValueSet[V]
}

// blockWindow is how many rows of blocks are sorted by length together.
const blockWindow = 256

// NewBlocks builds dense blocks, full of entries, each with one column index; rows of
// blocks lie side by side, one per lane of a register. The rows before the first
// whole row of blocks and behind the last stay in CSR, in place.
//
// It fails with a *sparse.InputError on a column outside x, a shape that is not
// there, a matrix with an entry outside its full blocks, and rows of blocks so
// unequal that they would take a quarter of places more than there are entries, and
// on values that do not fit 57 bits as their sample did; with an error that wraps
// kernels.ErrOutOfMemory when there is no memory for it.
func NewBlocks[V sparse.Value](r Rows[V], o BlockOptions[V]) (Form[V], error) {
	if o.Shape.Height < 2 || o.Shape.Height > simd.BlockMax || o.Shape.Width < 1 || o.Shape.Width > simd.BlockMax {
		return nil, sparse.Inputf("shape", "blocks of %d x %d: use 2 to %d rows and 1 to %d columns", o.Shape.Height, o.Shape.Width, simd.BlockMax, simd.BlockMax)
	}
	if err := checkColumns(r.Idx, r.Cols); err != nil {
		return nil, err
	}
	if err := r.noChunks(); err != nil {
		return nil, err
	}
	b := newBlockBuilder(r, o)
	if err := b.measure(); err != nil {
		return nil, err
	}
	if err := b.fill(); err != nil {
		return nil, err
	}
	return b.out, nil
}

// blockForm is the Form of NewBlocks.
type blockForm[V sparse.Value] struct {
	level      simd.Level
	cols       int
	head, tail *csr[V] // rows before and behind the blocks
	blockRows  int
	blocks     simd.Blocks[V]
	windows    []group
	// order has, for each lane, the row of blocks, counted from the start of its window.
	order   []uint16
	sums    []V // of a window, as simd.MultiplyBlocks leaves them
	rows    []V // the same, row by row
	stream  bool
	bytes   int64
	padding int64
}

func (b *blockForm[V]) Multiply(alpha, beta V, x, y []V) {
	x = x[:b.cols]
	head, height := b.head.size(), b.blocks.Height
	end := head + b.blockRows*height
	b.head.Multiply(alpha, beta, x, y[:head])
	b.tail.Multiply(alpha, beta, x, y[end:end+b.tail.size()])
	var at simd.Position
	y = y[head:end]
	for i, w := range b.windows {
		n := min(blockWindow, b.blockRows-i*blockWindow)
		lanes := int(w.slices) * b.blocks.Values.Lanes
		simd.MultiplyBlocks(b.level, &b.blocks, at, int(w.slices), x, b.sums)
		if lanes < n {
			clear(b.sums[lanes*height:])
		}
		rows := b.rows[:n*height]
		b.place(b.order[i*blockWindow:i*blockWindow+n], rows)
		simd.Finish(b.level, alpha, beta, rows, y[i*blockWindow*height:][:n*height], b.stream)
		at = w.after(at)
	}
	if b.stream {
		simd.Fence(b.level)
	}
}

// place puts the sums of a window, which lie lane by lane, into the order of its rows.
func (b *blockForm[V]) place(order []uint16, rows []V) {
	lanes, height := b.blocks.Values.Lanes, b.blocks.Height
	sums := b.sums
	for len(order) > 0 {
		n := min(lanes, len(order))
		for lane, r := range order[:n] {
			out, at := rows[int(r)*height:][:height], lane
			for i := range out {
				out[i] = sums[at]
				at += lanes
			}
		}
		order, sums = order[n:], sums[lanes*height:]
	}
}

func (b *blockForm[V]) Bytes() int64 { return b.bytes }

func (b *blockForm[V]) Padding() int64 { return b.padding }

func (b *blockForm[V]) Name() string {
	name := fmt.Sprintf("blocks of %d x %d", b.blocks.Height, b.blocks.Width)
	if b.blocks.Values.Storage != simd.Full {
		name += ", values " + b.blocks.Values.Storage.String()
	}
	return name
}

func (c *csr[V]) size() int { return len(c.rows.Ptr) - 1 }

// blockBuilder makes a blockForm: it looks at all rows of blocks, makes room, and
// looks again to fill it.
type blockBuilder[V sparse.Value] struct {
	r      Rows[V]
	shape  BlockShape
	lanes  int
	values ValueSet[V]
	out    *blockForm[V]
	rows   lengths // blocks in each row of blocks of a window
}

func newBlockBuilder[V sparse.Value](r Rows[V], o BlockOptions[V]) *blockBuilder[V] {
	b := &blockBuilder[V]{r: r, shape: o.Shape, lanes: simd.Lanes[V](o.Level), values: o.Values}
	if s := b.values.storage; s == simd.Table || s == simd.Same {
		b.values = ValueSet[V]{}
	}
	b.values = b.values.high()
	rows := len(r.Ptr) - 1
	head := min(max(0, o.Shape.First), rows)
	blockRows := (rows - head) / o.Shape.Height
	end := head + blockRows*o.Shape.Height
	part := func(from, to int) *csr[V] {
		lo, hi := r.Ptr[from]-r.Ptr[0], r.Ptr[to]-r.Ptr[0]
		return newCSR(Rows[V]{Ptr: slices.Clone(r.Ptr[from : to+1]), Idx: slices.Clone(r.Idx[lo:hi]), Val: slices.Clone(r.Val[lo:hi]), Cols: r.Cols, Fixed: r.Fixed}, o.Level)
	}
	b.out = &blockForm[V]{
		level: o.Level, cols: r.Cols, head: part(0, head), tail: part(end, rows), blockRows: blockRows,
		blocks:  simd.Blocks[V]{Height: o.Shape.Height, Width: o.Shape.Width, Fused: r.Fixed},
		windows: make([]group, (blockRows+blockWindow-1)/blockWindow),
		order:   make([]uint16, 0, blockRows),
		sums:    make([]V, (blockWindow+b.lanes)*o.Shape.Height),
		rows:    make([]V, blockWindow*o.Shape.Height),
	}
	b.rows.of, b.rows.order = make([]int32, blockWindow), make([]uint16, blockWindow)
	return b
}

// window counts the blocks of each row of blocks of window i, and orders them.
func (b *blockBuilder[V]) window(i int) error {
	first := i * blockWindow
	n := min(blockWindow, b.out.blockRows-first)
	b.rows.of, b.rows.order = b.rows.of[:n], b.rows.order[:n]
	for r := range n {
		count, ok := b.r.countBlocks(b.row(first+r), b.shape)
		if !ok {
			return sparse.Inputf("matrix", "an entry is outside of full blocks of %d x %d, or not in its order", b.shape.Height, b.shape.Width)
		}
		b.rows.of[r] = count
	}
	b.rows.sort()
	return nil
}

// measure looks at all windows and makes room for their blocks.
func (b *blockBuilder[V]) measure() (err error) {
	o, entries, longest := b.out, int64(0), 0
	var end simd.Position
	for i := range o.windows {
		if err := b.window(i); err != nil {
			return err
		}
		o.windows[i], _ = b.rows.group(b.lanes)
		end = o.windows[i].after(end)
		for _, n := range b.rows.of {
			entries += int64(n)
			longest = max(longest, int(n))
		}
	}
	size := b.shape.Height * b.shape.Width
	b.values = b.values.within(o.level, longest*size*b.lanes)
	places := int64(end.Column * b.lanes)
	if places > entries+entries/4+int64(64*b.lanes) {
		return sparse.Inputf("matrix", "blocks of %d x %d: %d blocks would take %d places", b.shape.Height, b.shape.Width, entries, places)
	}
	o.padding = (places - entries) * int64(size)
	s := &o.blocks
	if s.Values, err = b.values.store(b.r.Mem, b.lanes, int64(end.Column*size)); err != nil {
		return err
	}
	if s.Idx, err = Make[int32](b.r.Mem, places); err != nil {
		return err
	}
	if s.Widths, err = Make[uint32](b.r.Mem, 2*int64(end.Slice)); err != nil {
		return err
	}
	if s.Masks, err = Make[uint16](b.r.Mem, int64(end.Mask)); err != nil {
		return err
	}
	o.bytes = valueBytes(&s.Values) + 4*places + 8*int64(end.Slice) + 2*int64(end.Mask+cap(o.order)) +
		12*int64(len(o.windows)) + mem.Size[V]()*int64(len(o.sums)+len(o.rows))
	o.stream = beyond(o.bytes + mem.Size[V]()*int64(o.blockRows*o.blocks.Height+min(len(b.r.Ptr)-1, b.r.Cols)))
	return nil
}

// reopen counts and orders the blocks of a window that window did not refuse.
func (b *blockBuilder[V]) reopen(i int) {
	first := i * blockWindow
	n := min(blockWindow, b.out.blockRows-first)
	b.rows.of, b.rows.order = b.rows.of[:n], b.rows.order[:n]
	for r := range n {
		row := b.row(first + r)
		b.rows.of[r] = int32((b.r.Ptr[row+1] - b.r.Ptr[row]) / int64(b.shape.Width))
	}
	b.rows.sort()
}

// row is the first row of a row of blocks.
func (b *blockBuilder[V]) row(blocks int) int { return b.out.head.size() + blocks*b.shape.Height }

// fill stores all blocks.
func (b *blockBuilder[V]) fill() error {
	o := b.out
	s := &o.blocks
	size := b.shape.Height * b.shape.Width
	var at simd.Position
	for i, w := range o.windows {
		b.reopen(i)
		o.order = append(o.order, b.rows.order...)
		for slice := range int(w.slices) {
			order := b.rows.order[slice*b.lanes : min((slice+1)*b.lanes, len(b.rows.order))]
			full, masked := b.rows.widths(slice*b.lanes, b.lanes)
			s.Widths[2*at.Slice], s.Widths[2*at.Slice+1] = uint32(full), uint32(masked)
			b.values.open(at.Column*size*b.lanes, int(full+masked)*size*b.lanes)
			var rows [4]int
			for lane, r := range order {
				rows[lane%4] = b.row(i*blockWindow + int(r))
				if lane%4 == 3 && full > 0 {
					b.put4(&rows, int(full), at.Column*size*b.lanes+lane-3)
				}
				b.put(rows[lane%4], int(full), at.Column*b.lanes+lane, at.Column*size*b.lanes+lane)
				for j := full; j < b.rows.of[r]; j++ {
					s.Masks[at.Mask+int(j-full)] |= 1 << lane
				}
			}
			if err := b.values.close(o.level, &s.Values); err != nil {
				return err
			}
			at = group{1, full + masked, masked}.after(at)
		}
	}
	return nil
}

// put4 stores the values of the first n blocks of four rows of blocks, given by their
// first rows, in four lanes side by side from a place on.
func (b *blockBuilder[V]) put4(rows *[4]int, n, place int) {
	for i := range b.shape.Height {
		val := b.r.values4(rows, i, n*b.shape.Width)
		b.values.put4(&b.out.blocks.Values, place+i*b.lanes, b.shape.Height*b.lanes, &val)
	}
}

// values4 is the first n values of the rows that come i behind each of four.
func (r *Rows[V]) values4(rows *[4]int, i, n int) (val [4][]V) {
	for l, row := range rows {
		k := r.Ptr[row+i] - r.Ptr[0]
		val[l] = r.Val[k : k+int64(n)]
	}
	return val
}

// put stores the row of blocks that begins with a row, in one lane: its indices, and
// its values but for the first skip blocks. idx and place are those of its first
// block.
func (b *blockBuilder[V]) put(row, skip, idx, place int) {
	width := b.shape.Width
	columns := b.r.columns(row)
	for k := 0; k < len(columns); k += width {
		b.out.blocks.Idx[idx] = columns[k]
		idx += b.lanes
	}
	step := b.shape.Height * b.lanes
	for i := range b.shape.Height {
		lo, hi := b.r.Ptr[row+i]-b.r.Ptr[0], b.r.Ptr[row+i+1]-b.r.Ptr[0]
		b.values.put(&b.out.blocks.Values, place+i*b.lanes+skip*width*step, step, b.r.Val[lo+int64(skip*width):hi])
	}
}

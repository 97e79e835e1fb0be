package form

import (
	"fmt"

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
// whole row of blocks and behind the last are copied as they are.
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
	footprint
	level      simd.Level
	cols       int
	head, tail *csr[V] // rows before and behind the blocks
	blockRows  int
	blocks     simd.Blocks[V]
	windows    []group
	// order has, for each lane, the row of blocks, counted from the start of its window.
	order  []uint16
	sums   []V // of a window, as simd.MultiplyBlocks leaves them
	rows   []V // the same, row by row
	stream bool
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
		simd.StoreRows(b.level, alpha, beta, rows, y[i*blockWindow*height:][:n*height], b.stream)
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

func (b *blockForm[V]) Name() string {
	return named(fmt.Sprintf("blocks of %d x %d", b.blocks.Height, b.blocks.Width), b.blocks.Values.Storage)
}

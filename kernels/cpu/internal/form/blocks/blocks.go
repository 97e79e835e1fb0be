// The layout of blocks of 2 x 2, with 4 lanes (AVX2, float64):
//
//	     0 1 2 3 4 5 6 7     block rows by decreasing number of blocks: 0 3 1 2
//	  0  a b . . c d . .
//	  1  e f . . g h . .     slice 0    lane 0   lane 1   lane 2   lane 3
//	  2  . . i j . . . .
//	  3  . . k l . . . .     block 0     a b      q r      i j      m n     full
//	  4  . . . . m n . .                 e f      u v      k l      o p
//	  5  . . . . o p . .
//	  6  q r . . . . s t     block 1     c d      s t       -        -      masked
//	  7  u v . . . . w x                 g h      w x       -        -
//
//	Widths  1 1                   full and masked columns of blocks of each slice
//	Masks   0011                  one bit per lane, lane 0 last
//	Idx     0 0 2 4  4 6 0 0      first column of each block
//	Values  a q i m  e u k o  b r j n  f v l p     block 0, column by column of the block
//	        c s - -  g w - -  d t - -  h x - -     block 1; - is padding
//	order   0 3 1 2               the block row of each lane
//
//	head and tail have the rows before and after the block rows in CSR.

package blocks

import (
	"fmt"

	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/csr"
	"github.com/msrep-go/msrep/sparse"
)

// BlockOptions are the options of NewBlocks.
type BlockOptions[V sparse.Value] struct {
	Level simd.Level
	Shape BlockShape // see FindBlocks
	// Values is the storage of the values; see FindValues. Tables and equal values are stored as
	// Full.
	Values form.ValueSet[V]
}

// blockWindow is the number of block rows that are sorted by length together.
const blockWindow = 256

// NewBlocks builds dense blocks with one column index each. A block row is Shape.Height successive
// rows. Block rows are stored side by side, one per lane of a register. The rows before the first
// block row and after the last are copied in CSR.
//
// NewBlocks fails with a *sparse.InputError if a column is outside x, if the shape is out of range,
// if an entry is outside the full blocks, if block rows differ so much in length that padding would
// exceed a quarter of the blocks, or if values do not fit in 57 bits although their sample did. It
// fails with an error that wraps kernels.ErrOutOfMemory if there is too little memory.
func NewBlocks[V sparse.Value](r form.Rows[V], o BlockOptions[V]) (form.Form[V], error) {
	if o.Shape.Height < 2 || o.Shape.Height > BlockMax || o.Shape.Width < 1 || o.Shape.Width > BlockMax {
		return nil, sparse.Inputf("shape", "blocks of %d x %d: use 2 to %d rows and 1 to %d columns", o.Shape.Height, o.Shape.Width, BlockMax, BlockMax)
	}
	if err := form.CheckColumns(r.Idx, r.Cols); err != nil {
		return nil, err
	}
	if err := r.NoChunks(); err != nil {
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

// blockForm is the Form that NewBlocks builds.
type blockForm[V sparse.Value] struct {
	form.Footprint
	level      simd.Level
	cols       int
	head, tail *csr.CSR[V] // rows before and after the blocks
	blockRows  int
	blocks     Blocks[V]
	windows    []form.Group
	// order has the block row of each lane, relative to the start of the window.
	order  []uint16
	sums   []V // the sums of a window as simd.MultiplyBlocks returns them
	rows   []V // the same sums in the order of the rows
	stream bool
}

func (b *blockForm[V]) Multiply(alpha, beta V, x, y []V) {
	x = x[:b.cols]
	head, height := b.head.Size(), b.blocks.Height
	end := head + b.blockRows*height
	b.head.Multiply(alpha, beta, x, y[:head])
	b.tail.Multiply(alpha, beta, x, y[end:end+b.tail.Size()])
	var at form.Position
	y = y[head:end]
	for i, w := range b.windows {
		n := min(blockWindow, b.blockRows-i*blockWindow)
		lanes := int(w.Slices) * b.blocks.Values.Lanes
		MultiplyBlocks(b.level, &b.blocks, at, int(w.Slices), x, b.sums)
		if lanes < n {
			clear(b.sums[lanes*height:])
		}
		rows := b.rows[:n*height]
		b.place(b.order[i*blockWindow:i*blockWindow+n], rows)
		form.StoreRows(b.level, alpha, beta, rows, y[i*blockWindow*height:][:n*height], b.stream)
		at = w.After(at)
	}
	if b.stream {
		form.Fence(b.level)
	}
}

// place copies the sums of a window, which are in the order of the lanes, to the order of the rows.
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
	return form.WithStorage(fmt.Sprintf("blocks of %d x %d", b.blocks.Height, b.blocks.Width), b.blocks.Values.Storage)
}

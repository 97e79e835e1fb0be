package blocks

import (
	"cmp"
	"slices"

	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

// NewSymmetricBlocks builds rows of a square, symmetric matrix that consists of full blocks of size
// x size entries; the first row and the first column of a block are multiples of size. first is the
// first of the rows. NewSymmetricBlocks reads only the blocks on the diagonal and before it: the
// caller ensures that the others are equal to these and that columns ascend. Values are stored as
// Full.
//
// NewSymmetricBlocks fails with a *sparse.InputError if the size is out of range, if the rows do
// not consist of such blocks, or if block rows differ so much in length that padding would exceed a
// quarter of the blocks. It fails with an error that wraps kernels.ErrOutOfMemory if there is too
// little memory.
func NewSymmetric[V sparse.Value](r form.Rows[V], first, size int, l simd.Level) (*Symmetric[V], error) {
	rows := len(r.Ptr) - 1
	if size < 2 || size > SymmetricBlockMax {
		return nil, sparse.Inputf("size", "symmetric blocks of %d x %[1]d: use 2 to %d rows", size, SymmetricBlockMax)
	}
	if rows%size != 0 || first%size != 0 {
		return nil, sparse.Inputf("matrix", "%d rows from row %d on cannot be divided into blocks of %d rows", rows, first, size)
	}
	b := &symmetricBlocksBuilder[V]{r: r, size: size, lanes: SymmetricBlockLanes[V](l), out: &Symmetric[V]{
		level: l, first: first, rows: rows, low: first, top: first, blocks: SymmetricBlocks[V]{Size: size},
	}}
	if err := b.measure(); err != nil {
		return nil, err
	}
	b.fill()
	return b.out, nil
}

// symmetricBlocksBuilder counts the blocks of all block rows, allocates, and fills.
type symmetricBlocksBuilder[V sparse.Value] struct {
	r      form.Rows[V]
	size   int
	lanes  int
	values form.ValueSet[V]
	out    *Symmetric[V]
	before []int32      // number of blocks before the diagonal in each block row
	rows   form.Lengths // the block rows of a window: before plus 1
}

// row returns the first row of a block row, relative to r.
func (b *symmetricBlocksBuilder[V]) row(blocks int) int { return blocks * b.size }

// window sorts the block rows of window i by length and returns the first of them.
func (b *symmetricBlocksBuilder[V]) window(i int) (begin int) {
	begin = i * blockWindow
	before := b.before[begin:min(begin+blockWindow, len(b.before))]
	b.rows.Counts, b.rows.Order = b.rows.Counts[:0], append(b.rows.Order[:0], make([]uint16, len(before))...)
	for _, n := range before {
		b.rows.Counts = append(b.rows.Counts, n+1)
	}
	b.rows.Sort()
	return begin
}

// count returns the number of blocks of a block row before the diagonal, that number plus the block
// on the diagonal, and the least column. low is the first row if there are no blocks.
func (b *symmetricBlocksBuilder[V]) count(blocks int) (before, all, low int32, err error) {
	row := b.row(blocks)
	own := b.out.first + row
	idx := through(b.r.Columns(row), own+b.size-1)
	for i := row + 1; i < row+b.size; i++ {
		if !form.SameBits(idx, through(b.r.Columns(i), own+b.size-1)) {
			return 0, 0, 0, b.notBlocks(own)
		}
	}
	if len(idx)%b.size != 0 {
		return 0, 0, 0, b.notBlocks(own)
	}
	for k := 0; k < len(idx); k += b.size {
		if idx[k] < 0 || int(idx[k]) > own || int(idx[k])%b.size != 0 || int(idx[k+b.size-1]) != int(idx[k])+b.size-1 {
			return 0, 0, 0, b.notBlocks(own)
		}
	}
	if len(idx) == 0 {
		return 0, 0, int32(own), nil
	}
	all = int32(len(idx) / b.size)
	before = all
	if int(idx[len(idx)-1]) >= own {
		before--
	}
	return before, all, idx[0], nil
}

// through returns the leading columns of a row that are at most c.
func through(idx []int32, c int) []int32 {
	n, _ := slices.BinarySearch(idx, int32(c)+1)
	return idx[:n]
}

// notBlocks returns the error for a block row that does not consist of blocks; row is its first row.
func (b *symmetricBlocksBuilder[V]) notBlocks(row int) error {
	return sparse.Inputf("matrix", "an entry of rows %d to %d is outside the full blocks of %d x %[3]d, or the columns do not ascend", row, row+b.size-1, b.size)
}

// measure counts the blocks of all block rows and allocates the arrays.
func (b *symmetricBlocksBuilder[V]) measure() (err error) {
	o := b.out
	b.before = make([]int32, o.rows/b.size)
	o.windows = make([]symmetricBlocksWindow, (len(b.before)+blockWindow-1)/blockWindow)
	var blocks int64
	allSlices, columns := 0, 0
	for i := range o.windows {
		w := &o.windows[i]
		begin, end := i*blockWindow, min((i+1)*blockWindow, len(b.before))
		w.low = int32(o.first + b.row(begin))
		for j := begin; j < end; j++ {
			before, all, low, err := b.count(j)
			if err != nil {
				return err
			}
			b.before[j] = before
			w.low = min(w.low, low)
			blocks += int64(all)
		}
		if int(w.low) < o.first {
			o.low, o.top = min(o.low, int(w.low)), o.first+b.row(end)
		}
		b.window(i)
		g, _ := b.rows.Group(b.lanes)
		w.slices, w.columns = g.Slices, g.Columns
		allSlices, columns = allSlices+int(g.Slices), columns+int(g.Columns)
	}
	places := int64(columns * b.lanes)
	if places > blocks+blocks/4+int64(64*b.lanes) {
		return sparse.Inputf("matrix", "symmetric blocks of %d x %[1]d: %d blocks would need %d slots", b.size, blocks, places)
	}
	o.EmptySlots = (places - blocks) * int64(b.size*b.size)
	s := &o.blocks
	if s.Values, err = b.values.Store(b.r.Mem, b.lanes, int64(columns*b.size*b.size)); err != nil {
		return err
	}
	if err := cmp.Or(
		form.Alloc(b.r.Mem, &s.Idx, places),
		form.Alloc(b.r.Mem, &s.Widths, int64(allSlices)),
		form.Alloc(b.r.Mem, &s.Masks, int64(columns)),
	); err != nil {
		return err
	}
	o.MemoryBytes = form.ValueBytes(&s.Values) + 4*places + 4*int64(allSlices) + 2*int64(columns) + 12*int64(len(o.windows))
	return nil
}

// fill stores all blocks.
func (b *symmetricBlocksBuilder[V]) fill() {
	slice, column := 0, 0
	for i, w := range b.out.windows {
		begin := b.window(i)
		for s := range int(w.slices) {
			order := b.rows.Order[s*b.lanes : min((s+1)*b.lanes, len(b.rows.Order))]
			width := int(b.rows.Counts[order[0]])
			b.out.blocks.Widths[slice] = uint32(width)
			done := 0 // number of blocks before the diagonal that put4 stored
			for lane := range b.lanes {
				if lane >= len(order) {
					b.fillIndices(begin+int(order[0]), column, width, lane)
					continue
				}
				if lane%4 == 0 {
					if done = 0; lane+4 <= len(order) {
						done = b.put4(begin, (*[4]uint16)(order[lane:]), column, lane)
					}
				}
				b.put(begin+int(order[lane]), done, column, width, lane)
			}
			slice, column = slice+1, column+width
		}
	}
}

// put4 stores the values before the diagonal of four block rows in adjacent lanes, for as many
// blocks as all of them have. order is relative to begin.
func (b *symmetricBlocksBuilder[V]) put4(begin int, order *[4]uint16, column, lane int) (n int) {
	var rows [4]int
	n = int(b.before[begin+int(order[3])]) // order is by decreasing length
	for l, r := range order {
		rows[l] = b.row(begin + int(r))
	}
	for i := range b.size {
		at := b.r.Starts4(&rows, i)
		b.values.Put4(&b.out.blocks.Values, ((column+1)*b.size*b.size+i)*b.lanes+lane, b.size*b.lanes, b.r.Val, &at, n*b.size)
	}
	return n
}

// put stores a block row in a lane of the slice that begins with column. The values of the first
// done blocks before the diagonal are stored already.
func (b *symmetricBlocksBuilder[V]) put(blocks, done, column, width, lane int) {
	row, n, s := b.row(blocks), int(b.before[blocks]), &b.out.blocks
	b.fillIndices(blocks, column, width, lane)
	idx := through(b.r.Columns(row), b.out.first+row)
	for k := range n {
		s.Idx[(column+1+k)*b.lanes+lane] = idx[k*b.size]
		s.Masks[column+1+k] |= 1 << lane
	}
	diagonal := len(idx) > n*b.size
	if diagonal {
		s.Masks[column] |= 1 << lane
	}
	step := b.size * b.lanes
	for i := range b.size {
		val, place := b.r.Val[b.r.At(row+i):], column*b.size*step+i*b.lanes+lane
		if diagonal {
			b.values.Put(&s.Values, place, step, val[n*b.size:(n+1)*b.size])
		}
		b.values.Put(&s.Values, place+(1+done)*b.size*step, step, val[done*b.size:n*b.size])
	}
}

// fillIndices sets all indices of a lane to the lane's own first row.
func (b *symmetricBlocksBuilder[V]) fillIndices(blocks, column, width, lane int) {
	own := int32(b.out.first + b.row(blocks))
	for c := column; c < column+width; c++ {
		b.out.blocks.Idx[c*b.lanes+lane] = own
	}
}

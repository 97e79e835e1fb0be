package form

import (
	"cmp"
	"slices"

	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/sparse"
)

// NewSymmetricBlocks builds the rows of a square, symmetric matrix from row first on, in
// full blocks of size x size entries whose first rows and columns are multiples of size. Of
// r it reads the blocks on the diagonal and before it; that what is behind is the same, and
// that columns rise, is for the caller to know. Values are stored as they are.
//
// It fails with a *sparse.InputError on a size that is not there, rows that are not made of
// such blocks, and rows of blocks so unequal that they would take a quarter of places more
// than there are blocks; with an error that wraps kernels.ErrOutOfMemory when there is no
// memory for it.
func NewSymmetricBlocks[V sparse.Value](r Rows[V], first, size int, l simd.Level) (*SymmetricBlocks[V], error) {
	rows := len(r.Ptr) - 1
	if size < 2 || size > simd.SymmetricBlockMax {
		return nil, sparse.Inputf("size", "symmetric blocks of %d x %[1]d: use 2 to %d rows", size, simd.SymmetricBlockMax)
	}
	if rows%size != 0 || first%size != 0 {
		return nil, sparse.Inputf("matrix", "%d rows from row %d on do not fall into blocks of %d", rows, first, size)
	}
	b := &symmetricBlocksBuilder[V]{r: r, size: size, lanes: simd.SymmetricBlockLanes[V](l), out: &SymmetricBlocks[V]{
		level: l, first: first, rows: rows, low: first, top: first, blocks: simd.SymmetricBlocks[V]{Size: size},
	}}
	if err := b.measure(); err != nil {
		return nil, err
	}
	b.fill()
	return b.out, nil
}

// symmetricBlocksBuilder looks at all rows of blocks, makes room, and looks again.
type symmetricBlocksBuilder[V sparse.Value] struct {
	r      Rows[V]
	size   int
	lanes  int
	values ValueSet[V]
	out    *SymmetricBlocks[V]
	before []int32 // blocks before the diagonal, for each row of blocks
	rows   lengths // of a window: the same and 1
}

// row is the first row of a row of blocks, as r counts.
func (b *symmetricBlocksBuilder[V]) row(blocks int) int { return blocks * b.size }

// window orders the rows of blocks of window i, which begins with one, by their length.
func (b *symmetricBlocksBuilder[V]) window(i int) (begin int) {
	begin = i * blockWindow
	before := b.before[begin:min(begin+blockWindow, len(b.before))]
	b.rows.of, b.rows.order = b.rows.of[:0], append(b.rows.order[:0], make([]uint16, len(before))...)
	for _, n := range before {
		b.rows.of = append(b.rows.of, n+1)
	}
	b.rows.sort()
	return begin
}

// count is the number of blocks before the diagonal in a row of blocks, and with the one on
// it, and the least column, which is that of the row where there is none.
func (b *symmetricBlocksBuilder[V]) count(blocks int) (before, all, low int32, err error) {
	row := b.row(blocks)
	own := b.out.first + row
	idx := through(b.r.columns(row), own+b.size-1)
	for i := row + 1; i < row+b.size; i++ {
		if !sameBits(idx, through(b.r.columns(i), own+b.size-1)) {
			return 0, 0, 0, b.no(own)
		}
	}
	if len(idx)%b.size != 0 {
		return 0, 0, 0, b.no(own)
	}
	for k := 0; k < len(idx); k += b.size {
		if idx[k] < 0 || int(idx[k]) > own || int(idx[k])%b.size != 0 || int(idx[k+b.size-1]) != int(idx[k])+b.size-1 {
			return 0, 0, 0, b.no(own)
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

// through is the columns of a row that are at most c.
func through(idx []int32, c int) []int32 {
	n, _ := slices.BinarySearch(idx, int32(c)+1)
	return idx[:n]
}

// no says that the row of blocks that begins with a row is not made of blocks.
func (b *symmetricBlocksBuilder[V]) no(row int) error {
	return sparse.Inputf("matrix", "an entry of rows %d to %d is outside of full blocks of %d x %[3]d, or not in its order", row, row+b.size-1, b.size)
}

// measure looks at all rows and makes room for their blocks.
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
		g, _ := b.rows.group(b.lanes)
		w.slices, w.columns = g.slices, g.columns
		allSlices, columns = allSlices+int(g.slices), columns+int(g.columns)
	}
	places := int64(columns * b.lanes)
	if places > blocks+blocks/4+int64(64*b.lanes) {
		return sparse.Inputf("matrix", "symmetric blocks of %d x %[1]d: %d blocks would take %d places", b.size, blocks, places)
	}
	o.padding = (places - blocks) * int64(b.size*b.size)
	s := &o.blocks
	if s.Values, err = b.values.store(b.r.Mem, b.lanes, int64(columns*b.size*b.size)); err != nil {
		return err
	}
	if err := cmp.Or(
		take(b.r.Mem, &s.Idx, places),
		take(b.r.Mem, &s.Widths, int64(allSlices)),
		take(b.r.Mem, &s.Masks, int64(columns)),
	); err != nil {
		return err
	}
	o.bytes = valueBytes(&s.Values) + 4*places + 4*int64(allSlices) + 2*int64(columns) + 12*int64(len(o.windows))
	return nil
}

// fill stores all blocks.
func (b *symmetricBlocksBuilder[V]) fill() {
	slice, column := 0, 0
	for i, w := range b.out.windows {
		begin := b.window(i)
		for s := range int(w.slices) {
			order := b.rows.order[s*b.lanes : min((s+1)*b.lanes, len(b.rows.order))]
			width := int(b.rows.of[order[0]])
			b.out.blocks.Widths[slice] = uint32(width)
			done := 0 // blocks before the diagonal of four lanes
			for lane := range b.lanes {
				if lane >= len(order) {
					b.idle(begin+int(order[0]), column, width, lane)
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

// put4 stores the values before the diagonal of four rows of blocks, counted from one on, in
// lanes side by side: of as many blocks as all of them have.
func (b *symmetricBlocksBuilder[V]) put4(begin int, order *[4]uint16, column, lane int) (n int) {
	var rows [4]int
	n = int(b.before[begin+int(order[3])]) // they fall
	for l, r := range order {
		rows[l] = b.row(begin + int(r))
	}
	for i := range b.size {
		at := b.r.starts4(&rows, i)
		b.values.put4(&b.out.blocks.Values, ((column+1)*b.size*b.size+i)*b.lanes+lane, b.size*b.lanes, b.r.Val, &at, n*b.size)
	}
	return n
}

// put stores a row of blocks in a lane of a slice, which begins with a column; the values of
// the first done blocks before the diagonal are there.
func (b *symmetricBlocksBuilder[V]) put(blocks, done, column, width, lane int) {
	row, n, s := b.row(blocks), int(b.before[blocks]), &b.out.blocks
	b.idle(blocks, column, width, lane)
	idx := through(b.r.columns(row), b.out.first+row)
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
		val, place := b.r.Val[b.r.at(row+i):], column*b.size*step+i*b.lanes+lane
		if diagonal {
			b.values.put(&s.Values, place, step, val[n*b.size:(n+1)*b.size])
		}
		b.values.put(&s.Values, place+(1+done)*b.size*step, step, val[done*b.size:n*b.size])
	}
}

// idle gives a lane a column of its own for each of its blocks.
func (b *symmetricBlocksBuilder[V]) idle(blocks, column, width, lane int) {
	own := int32(b.out.first + b.row(blocks))
	for c := column; c < column+width; c++ {
		b.out.blocks.Idx[c*b.lanes+lane] = own
	}
}

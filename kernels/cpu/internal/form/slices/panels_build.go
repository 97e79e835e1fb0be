package slices

import (
	"cmp"
	"math/bits"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

// panelBuilder builds a panelsForm: it counts the entries of each row in each panel, allocates, and
// stores the entries.
type panelBuilder[V sparse.Value] struct {
	sliceFiller[V] // for the rows of a block
	form.Heap      // of counts and the sorted entries
	r              form.Rows[V]
	out            *panelsForm[V]
	lanes          int
	across         int          // number of panels
	counts         []int32      // number of entries of each row in each panel, ordered by block, then by panel
	rows           form.Lengths // the rows of a block in one panel
}

// mostInPanel is the largest number of entries of a row in a panel; columns may repeat.
const mostInPanel = 1 << 20

func newPanelBuilder[V sparse.Value](r form.Rows[V], o PanelOptions[V]) (*panelBuilder[V], error) {
	r, long := r.Chunked()
	rows, nnz := len(r.Ptr)-1, int64(len(r.Idx))
	height, width, err := form.TileSize[V]("panel", rows, o.Rows, o.Cols)
	if err != nil {
		return nil, err
	}
	across := form.TilesAcross(r.Cols, width)
	if n := int64(rows) * across; n > form.ManyTiles && n > nnz {
		return nil, sparse.Inputf("matrix", "panels of %d columns: %d entries would be in %d pieces of rows", width, nnz, n)
	}
	return &panelBuilder[V]{
		sliceFiller: sliceFiller[V]{values: o.Values.Not57(), idx: r.Idx, val: r.Val},
		Heap:        form.Heap{Mem: r.Mem},
		r:           r, lanes: simd.Lanes[V](o.Level), across: int(across),
		out: &panelsForm[V]{level: o.Level, rows: rows, cols: r.Cols, height: height,
			shift: uint8(bits.TrailingZeros(uint(width))), results: form.Results[V]{Level: o.Level, Long: long}},
	}, nil
}

// measure counts the entries of every panel, plans the slices, and allocates the arrays.
func (b *panelBuilder[V]) measure() error {
	f := b.out
	if err := form.CheckColumns(b.idx, f.cols); err != nil {
		return err
	}
	if err := b.Reserve(4 * int64(f.rows*b.across)); err != nil {
		return err
	}
	b.counts = make([]int32, f.rows*b.across)
	b.rows.Order = make([]uint16, min(f.height, f.rows))
	sorted, err := b.count()
	if err != nil {
		return err
	}
	if !sorted && b.r.Fixed {
		return sparse.Inputf("matrix", "the columns of a row do not ascend: with sums of a fixed shape, panels need sorted rows")
	}
	if !sorted {
		if err := b.Reserve(int64(len(b.idx)) * (4 + mem.Size[V]())); err != nil {
			return err
		}
		b.sort()
	}
	var end form.Position
	listed := 0
	for block := 0; block*f.height < f.rows; block++ {
		for c := range b.across {
			rows := b.open(block, c)
			for i := 0; i < len(rows.Order) && rows.Counts[rows.Order[i]] > 0; i += pieceLanes {
				some := form.Lengths{Counts: rows.Counts, Order: rows.Order[i:min(i+pieceLanes, len(rows.Order))]}
				g, n := some.Group(b.lanes)
				f.pieces = append(f.pieces, panelPiece{block: int32(block), base: int32(c << f.shift), slices: g, listed: n})
				end = g.After(end)
				listed += int(n)
			}
		}
	}
	return b.makeRoom(end, listed)
}

// open sets the rows of a block to their entries in panel c and sorts them by length.
func (b *panelBuilder[V]) open(block, c int) *form.Lengths {
	f, l := b.out, &b.rows
	first := block * f.height
	n := min(f.height, f.rows-first)
	l.Counts = b.counts[first*b.across+c*n:][:n]
	l.Order = l.Order[:n]
	l.Sort()
	return l
}

// count counts the entries. It reports whether no entry is in an earlier panel than the one before
// it.
func (b *panelBuilder[V]) count() (sorted bool, err error) {
	f := b.out
	sorted = true
	ptr := b.r.Ptr
	for first := 0; first < f.rows; first += f.height {
		n := min(f.height, f.rows-first)
		of := b.counts[first*b.across:][:n*b.across]
		for i := range n {
			idx := b.idx[ptr[first+i]-ptr[0] : ptr[first+i+1]-ptr[0]]
			last := int32(0)
			for k := 0; k < len(idx); {
				from, c := k, idx[k]>>f.shift
				for k++; k < len(idx) && idx[k]>>f.shift == c; k++ {
				}
				in := &of[int(c)*n+i]
				if k-from > mostInPanel-int(*in) {
					return false, sparse.Inputf("matrix", "a row has more than %d entries in one panel of columns", mostInPanel)
				}
				*in += int32(k - from)
				sorted = sorted && c >= last
				last = c
			}
		}
	}
	return sorted, nil
}

// sort copies the entries such that those of a row are ordered by panel.
func (b *panelBuilder[V]) sort() {
	f, ptr := b.out, b.r.Ptr
	b.idx, b.val = make([]int32, len(b.r.Idx)), make([]V, len(b.r.Idx))
	next := make([]int64, b.across)
	for first := 0; first < f.rows; first += f.height {
		n := min(f.height, f.rows-first)
		of := b.counts[first*b.across:][:n*b.across]
		for i := range n {
			at, end := ptr[first+i]-ptr[0], ptr[first+i+1]-ptr[0]
			k := at
			for c := range next {
				next[c] = at
				at += int64(of[c*n+i])
			}
			for ; k < end; k++ {
				c := b.r.Idx[k] >> f.shift
				b.idx[next[c]], b.val[next[c]] = b.r.Idx[k], b.r.Val[k]
				next[c]++
			}
		}
	}
}

// makeRoom allocates slices that end at position end and have listed rows in all.
func (b *panelBuilder[V]) makeRoom(end form.Position, listed int) (err error) {
	f, m := b.out, b.r.Mem
	nnz := int64(len(b.idx))
	f.EmptySlots = int64(end.Column*b.lanes) - nnz
	if f.EmptySlots > nnz+form.ManyTiles {
		return sparse.Inputf("matrix", "panels of %d columns: %d entries would need %d more slots", 1<<f.shift, nnz, f.EmptySlots)
	}
	if f.slices, err = newSlices(m, &b.values, b.lanes, end); err != nil {
		return err
	}
	f.slices.Fused = b.r.Fixed
	if err := cmp.Or(
		form.Alloc(m, &f.slices.Narrow, int64(end.Column*b.lanes)),
		form.Alloc(m, &f.order, int64(listed)),
		form.Alloc(m, &f.sums, int64(min(f.height, f.rows))),
		form.Alloc(m, &f.lanes, pieceLanes),
	); err != nil {
		return err
	}
	f.products = make([]V, b.lanes)
	f.MemoryBytes = sliceBytes(&f.slices) + 2*int64(listed) + mem.Size[V]()*int64(len(f.sums)+len(f.lanes)) + pieceBytes*int64(len(f.pieces))
	return nil
}

// fill stores all entries.
func (b *panelBuilder[V]) fill() {
	f, ptr := b.out, b.r.Ptr
	order := f.order
	var at form.Position
	for block := 0; block*f.height < f.rows; block++ {
		first := block * f.height
		b.from = b.from[:0]
		for _, p := range ptr[first:min(first+f.height, f.rows)] {
			b.from = append(b.from, p-ptr[0])
		}
		for c := range b.across {
			rows := b.open(block, c)
			g, n := rows.Group(b.lanes)
			order = order[copy(order, rows.Order[:n]):]
			b.fillGroup(&f.slices, &at, int32(c<<f.shift), rows, g)
			for i, n := range rows.Counts {
				b.from[i] += int64(n)
			}
		}
	}
}

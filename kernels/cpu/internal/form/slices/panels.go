// The layout of panels of 4 columns, with 4 lanes (AVX2, float64), one block of rows:
//
//	     0 1 2 3   4 5 6 7     panel 0: rows 3 0 2 1          panel 1: rows 2 4 0 1 | 3
//	  0  a b . . | c . . .
//	  1  . . d . | . . . e     lane   0    1    2    3        lane   0    1    2    3  |  0
//	  2  f . . g | . h i .            j    a    f    d               h    n    c    e  |  m
//	  3  j k l . | . . . m            k    b    g    -               i    o    -    -  |
//	  4  . . . . | n o . .            l    -    -    -
//
//	pieces  {block 0, base 0, 1 slice, listed 4}, {block 0, base 4, 2 slices, listed 5}
//	order   3 0 2 1 | 2 4 0 1  3                                   the row of each lane
//	Widths  1 2 | 1 1  0 1                                         full and masked columns
//	Masks   0111 0001 | 0011  0001                                 one bit per lane, lane 0 last
//	Narrow  0 0 0 2  1 1 3 -  2 - - - | 1 0 0 3  2 1 - -  3 - - -  columns in the panel
//	Values  j a f d  k b g -  l - - - | h n c e  i o - -  m - - -
//
//	| separates the panels in the arrays; it is not stored. - is padding, 0.

package slices

import (
	"fmt"

	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

// PanelOptions are the options of NewPanels.
type PanelOptions[V sparse.Value] struct {
	Level simd.Level
	// Rows is the largest number of rows that are summed together, Cols the number of columns of a
	// panel; both are at most 65536, and Cols is a power of two. 0 chooses Rows such that the sums
	// fill half of the second-level cache, and Cols such that the elements of x of a panel fill
	// half of the first-level cache.
	Rows, Cols int
	// Values is the storage of the values; see FindValues.
	Values form.ValueSet[V]
}

// NewPanels builds slices in panels. A panel is a range of columns; its elements of x fit in the
// first-level cache (cache blocking: Nishtala et al., Applicable Algebra in Engineering,
// Communication and Computing 18, 2007). The entries of the rows in one panel are stored in slices,
// one row per lane, sorted by length (SELL-C-sigma: Kreutzer et al., SIAM J. Sci. Comput. 36,
// 2014). The sums of a block of rows stay in the second-level cache. For each panel, a product adds
// the sum of each lane to that of its row; with Rows.Fixed it starts the lane with the sum of its
// row, so that entries are added in their order. Panels suit rows that have many entries in each
// panel and access x at random, if x is larger than the first-level cache. If rows have few entries
// in a panel, tiles are faster.
//
// NewPanels fails with a *sparse.InputError if a column is outside x, if an option is out of range,
// if most rows have no entry in most panels, if a few rows have far more entries than the others,
// and, with Rows.Fixed, if an entry of a row is in an earlier panel than the entry before it. It
// fails with an error that wraps kernels.ErrOutOfMemory.
func NewPanels[V sparse.Value](r form.Rows[V], o PanelOptions[V]) (form.Form[V], error) {
	b, err := newPanelBuilder(r, o)
	if err != nil {
		return nil, err
	}
	defer b.Release()
	if err := b.measure(); err != nil {
		return nil, err
	}
	b.fill()
	return b.out, nil
}

// panelsForm is the Form that NewPanels builds.
type panelsForm[V sparse.Value] struct {
	form.Footprint
	level      simd.Level
	rows, cols int   // a chunk of a long row counts as a row
	height     int   // number of rows that are summed together
	shift      uint8 // log2 of the number of columns of a panel
	pieces     []panelPiece
	slices     Slices[V]
	order      []uint16 // the row of each lane of each piece
	sums       []V      // the sums of a block of rows
	lanes      []V      // the sums of the lanes of a piece
	products   []V      // scratch of transposed products
	results    form.Results[V]
}

// panelPiece is successive slices of one block of rows and one panel.
type panelPiece struct {
	block  int32
	base   int32 // the first column of the panel
	slices form.Group
	listed int32 // number of lanes that have a row
}

const pieceBytes = 24

// pieceLanes is the largest number of lanes of a piece: their sums stay in the first-level cache.
const pieceLanes = 512

func (f *panelsForm[V]) Multiply(alpha, beta V, x, y []V) {
	x = x[:f.cols]
	f.results.Begin(alpha, beta, y)
	var at form.Position
	order, pieces := f.order, f.pieces
	for block := 0; block*f.height < f.rows; block++ {
		sums := f.sums[:min(f.height, f.rows-block*f.height)]
		clear(sums)
		for len(pieces) > 0 && int(pieces[0].block) == block {
			p := &pieces[0]
			pieces = pieces[1:]
			if len(pieces) > 0 && pieces[0].base != p.base {
				f.prefetch(x, int(pieces[0].base))
			}
			f.add(p, at, order[:p.listed], x, sums)
			at, order = p.slices.After(at), order[p.listed:]
		}
		f.results.Put(sums)
	}
}

// add adds the products of a piece to the sums of its rows; at is the position of its slices. If
// the entries of a row must be added in their order, lanes start with the sums of their rows. This
// is slower than adding the sums of the lanes afterwards.
func (f *panelsForm[V]) add(p *panelPiece, at form.Position, order []uint16, x, sums []V) {
	lanes := f.lanes[:len(order)]
	if f.slices.Fused {
		form.Permute(f.level, order, sums, lanes)
		AddSlices(f.level, &f.slices, at, int(p.slices.Slices), x[p.base:], f.lanes)
		for i, r := range order {
			sums[r] = lanes[i]
		}
		return
	}
	MultiplySlices(f.level, &f.slices, at, int(p.slices.Slices), x[p.base:], nil, f.lanes)
	for i, r := range order {
		sums[r] += lanes[i]
	}
}

// prefetch prefetches the elements of x of the panel that begins with column base.
func (f *panelsForm[V]) prefetch(x []V, base int) {
	form.Prefetch(f.level, x, base, min(base+1<<f.shift, len(x)))
}

func (f *panelsForm[V]) Name() string {
	return form.WithStorage(fmt.Sprintf("panels of %d columns", 1<<f.shift), f.slices.Values.Storage)
}

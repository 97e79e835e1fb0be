package form

import (
	"fmt"

	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/sparse"
)

// PanelOptions says how panels are made.
type PanelOptions[V sparse.Value] struct {
	Level simd.Level
	// Rows and Cols are the most rows that are summed together and the columns of a panel,
	// at most 65536, and columns a power of two; 0 fits them to the caches: the sums to half
	// of the second, a panel's part of x to half of the first.
	Rows, Cols int
	// Values is how values are stored; see FindValues.
	Values ValueSet[V]
}

// NewPanels builds slices in panels: the columns are cut into panels whose part of x stays
// in the first cache, and what rows have in a panel lies in slices, one row per lane, sorted
// by length (cache blocking: Nishtala et al., Applicable Algebra in Engineering,
// Communication and Computing 18, 2007; SELL-C-sigma: Kreutzer et al., SIAM J. Sci. Comput.
// 36, 2014). Sums are kept in the second cache: the sum of a lane is added to that of its row
// once for each panel, and with Rows.Fixed continues it, so that entries are added in their
// order. It suits rows of many entries in each panel, which jump about in an x that leaves
// the first cache; with few, tiles do.
//
// It fails with a *sparse.InputError on a column outside x, on options that are out of
// range, where most rows have nothing in most panels, or a few far more than the others, and
// with Rows.Fixed where a row goes back to an earlier panel; and with an error that wraps
// kernels.ErrOutOfMemory.
func NewPanels[V sparse.Value](r Rows[V], o PanelOptions[V]) (Form[V], error) {
	b, err := newPanelBuilder(r, o)
	if err != nil {
		return nil, err
	}
	defer b.drop()
	if err := b.measure(); err != nil {
		return nil, err
	}
	b.fill()
	return b.out, nil
}

// panelsForm is the Form of NewPanels.
type panelsForm[V sparse.Value] struct {
	footprint
	level      simd.Level
	rows, cols int   // chunks of long rows are rows here
	height     int   // rows that are summed together
	shift      uint8 // log2 of the columns of a panel
	pieces     []panelPiece
	slices     simd.Slices[V]
	order      []uint16 // the row of each lane of the slices of a piece, piece by piece
	sums       []V      // of the rows of a block
	lanes      []V      // of the slices of a piece
	products   []V      // scratch of transposed products
	results    results[V]
}

// panelPiece is successive slices of one panel and block of rows.
type panelPiece struct {
	block  int32
	base   int32 // the first column of the panel
	slices group
	listed int32 // lanes that have a row
}

const pieceBytes = 24

// pieceLanes is how many lanes a piece has at most: their sums stay in the first cache.
const pieceLanes = 512

func (f *panelsForm[V]) Multiply(alpha, beta V, x, y []V) {
	x = x[:f.cols]
	f.results.begin(alpha, beta, y)
	var at simd.Position
	order, pieces := f.order, f.pieces
	for block := 0; block*f.height < f.rows; block++ {
		sums := f.sums[:min(f.height, f.rows-block*f.height)]
		clear(sums)
		for len(pieces) > 0 && int(pieces[0].block) == block {
			p := &pieces[0]
			pieces = pieces[1:]
			if len(pieces) > 0 && pieces[0].base != p.base {
				f.loadAhead(x, int(pieces[0].base))
			}
			f.add(p, at, order[:p.listed], x, sums)
			at, order = p.slices.after(at), order[p.listed:]
		}
		f.results.put(sums)
	}
}

// add adds a piece, whose slices begin at a position, to the sums of its rows. Lanes begin with
// these where the entries of a row are to be added in their order, which takes longer than to
// add what lanes have summed.
func (f *panelsForm[V]) add(p *panelPiece, at simd.Position, order []uint16, x, sums []V) {
	lanes := f.lanes[:len(order)]
	if f.slices.Fused {
		simd.Permute(f.level, order, sums, lanes)
		simd.AddSlices(f.level, &f.slices, at, int(p.slices.slices), x[p.base:], f.lanes)
		for i, r := range order {
			sums[r] = lanes[i]
		}
		return
	}
	simd.MultiplySlices(f.level, &f.slices, at, int(p.slices.slices), x[p.base:], nil, f.lanes)
	for i, r := range order {
		sums[r] += lanes[i]
	}
}

// loadAhead asks for the panel of x that begins with a column.
func (f *panelsForm[V]) loadAhead(x []V, base int) {
	simd.LoadAhead(f.level, x, base, min(base+1<<f.shift, len(x)))
}

func (f *panelsForm[V]) Name() string {
	return named(fmt.Sprintf("panels of %d columns", 1<<f.shift), f.slices.Values.Storage)
}

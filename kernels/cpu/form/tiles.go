package form

import (
	"fmt"

	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/sparse"
)

// TileOptions says how tiles are made.
type TileOptions[V sparse.Value] struct {
	Level simd.Level
	// Rows and Cols are the most rows and columns of a tile, at most 65536, and
	// columns a power of two; 0 fits them to the caches: the sums of a tile in half of
	// the second, its part of x in two thirds of the first.
	Rows, Cols int
	// Values is how values are stored; see FindValues. A table is not used.
	Values ValueSet[V]
}

// NewTiles builds tiles: entries sorted by blocks of rows, and within them by
// blocks of columns, so that what a tile needs of x and y stays in the nearest
// caches (cache blocking: Nishtala et al., Applicable Algebra in Engineering,
// Communication and Computing 18, 2007). It suits matrices whose rows jump about
// in an x that leaves the first cache.
//
// An entry has 4 bytes for its place in the tile. The entries of a tile are
// dealt to 8 lanes in turn: successive ones belong to rows far apart, so that an
// addition does not wait for the one before. While a tile is multiplied, the next
// one's part of x is brought to the cache. A row that holds nearly all entries of
// its tiles has them in every lane: there additions do wait.
//
// With Rows.Fixed the entries of a row follow each other in their order, from tile to
// tile, so their columns must not fall from one block of columns to an earlier one.
//
// It fails with a *sparse.InputError on a column outside x, on options that are
// out of range, and where most tiles would be empty, and with an error that wraps
// kernels.ErrOutOfMemory.
func NewTiles[V sparse.Value](r Rows[V], o TileOptions[V]) (Form[V], error) {
	b, err := newTileBuilder(r, o)
	if err != nil {
		return nil, err
	}
	defer b.drop()
	if err := b.count(); err != nil {
		return nil, err
	}
	if err := b.fill(); err != nil {
		return nil, err
	}
	return b.out, nil
}

// tilesForm is the Form of NewTiles.
type tilesForm[V sparse.Value] struct {
	columnBlocks[V] // of which first is that of each tile, block of rows by block of rows
	footprint
	level   simd.Level
	rows    int // chunks of long rows are rows here
	height  int // rows of a tile
	entries simd.Tiles[V]
	sums    []V // of a block of rows
	results results[V]
}

func (f *tilesForm[V]) Multiply(alpha, beta V, x, y []V) {
	x = x[:f.cols]
	f.results.begin(alpha, beta, y)
	for t, first := 0, 0; first < f.rows; t, first = t+f.across, first+f.height {
		sums := f.sums[:min(f.height, f.rows-first)]
		clear(sums)
		for c := range f.across {
			lo, hi := f.first[t+c], f.first[t+c+1]
			if lo < hi {
				simd.AddTile(f.level, &f.entries, int(lo), int(hi), f.part(x, c), sums, f.ahead(x, t+c+1))
			}
		}
		f.results.put(sums)
	}
}

func (f *tilesForm[V]) Name() string {
	return fmt.Sprintf("tiles of %d x %d, values %s", f.height, 1<<f.shift, f.entries.Values.Storage)
}

// The layout of tiles of 3 x 4:
//
//	     0 1 2 3   4 5 6 7
//	  0  a . . b | . . . .     tile 0: a b c d e     tile 1: f
//	  1  . c . . | . . . .
//	  2  . . d e | . . f .
//	     --------+--------
//	  3  g . . . | . . . h     tile 2: g             tile 3: h i
//	  4  . . . . | i . . .
//
//	first    0 5 6 7 9                                   first entry of each tile, and the end
//	Entries  0,0 0,3 1,1 2,2 2,3 | 2,2 | 0,0 | 0,3 1,0   row<<16 | column, both in the tile
//	Values   a   b   c   d   e   | f   | g   | h   i
//
//	| separates the tiles; it is not stored. A tile of more than 8 entries is distributed over 8 lanes: with
//	16 entries, slots 0 to 7 have the entries 0 2 4 6 8 10 12 14, slots 8 to 15 the entries 1 3 5 7 9 11
//	13 15, so that consecutive slots belong to rows far apart.

package tiles

import (
	"fmt"

	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

// TileOptions are the options of NewTiles.
type TileOptions[V sparse.Value] struct {
	Level simd.Level
	// Rows and Cols are the largest numbers of rows and columns of a tile, at most 65536; Cols is a
	// power of two. 0 chooses Rows such that the sums of a tile fill half of the second-level
	// cache, and Cols such that its elements of x fill two thirds of the first-level cache.
	Rows, Cols int
	// Values is the storage of the values; see FindValues. Tiles do not use a table.
	Values form.ValueSet[V]
}

// NewTiles builds tiles: entries sorted by block of rows, and within it by block of columns. The
// elements of x and y that a tile needs stay in the first- and second-level caches (cache blocking:
// Nishtala et al., Applicable Algebra in Engineering, Communication and Computing 18, 2007). Tiles
// suit matrices that access x at random, if x is larger than the first-level cache.
//
// An entry has 4 bytes for its row and column in the tile. The entries of a tile are distributed
// over 8 lanes: successive ones belong to rows far apart, so that consecutive additions are
// independent. If one row has nearly all entries of a tile, it is in every lane, and additions
// depend on each other. While a tile is multiplied, the elements of x of the next one are
// prefetched.
//
// With Rows.Fixed the entries of a row stay in their order from tile to tile, so a row must not
// have an entry in an earlier block of columns than the entry before it.
//
// NewTiles fails with a *sparse.InputError if a column is outside x, if an option is out of range,
// or if most tiles would be empty, and with an error that wraps kernels.ErrOutOfMemory.
func NewTiles[V sparse.Value](r form.Rows[V], o TileOptions[V]) (form.Form[V], error) {
	b, err := newTileBuilder(r, o)
	if err != nil {
		return nil, err
	}
	defer b.Release()
	if err := b.count(); err != nil {
		return nil, err
	}
	if err := b.fill(); err != nil {
		return nil, err
	}
	return b.out, nil
}

// tilesForm is the Form that NewTiles builds.
type tilesForm[V sparse.Value] struct {
	columnBlocks[V] // first has an element for each tile, block of rows by block of rows
	form.Footprint
	level   simd.Level
	rows    int // a chunk of a long row counts as a row
	height  int // number of rows of a tile
	entries Tiles[V]
	sums    []V // the sums of a block of rows
	results form.Results[V]
}

func (f *tilesForm[V]) Multiply(alpha, beta V, x, y []V) {
	x = x[:f.cols]
	f.results.Begin(alpha, beta, y)
	for t, first := 0, 0; first < f.rows; t, first = t+f.across, first+f.height {
		sums := f.sums[:min(f.height, f.rows-first)]
		clear(sums)
		for c := range f.across {
			lo, hi := f.first[t+c], f.first[t+c+1]
			if lo < hi {
				AddTile(f.level, &f.entries, int(lo), int(hi), f.elements(x, c), sums, f.toPrefetch(x, t+c+1))
			}
		}
		f.results.Put(sums)
	}
}

func (f *tilesForm[V]) Name() string {
	return fmt.Sprintf("tiles of %d x %d, values %s", f.height, 1<<f.shift, f.entries.Values.Storage)
}

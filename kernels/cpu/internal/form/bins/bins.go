// The layout of bins, blocks of 3 rows and of 4 columns, one group:
//
//	     0 1 2 3   4 5 6 7
//	  0  a . . b | . . . .     run 0: a b c d e     run 1: f
//	  1  . c . . | . . . .
//	  2  . . d e | . . f .
//	     --------+--------
//	  3  g . . . | . . . h     run 2: g             run 3: h i
//	  4  . . . . | i . . .
//
//	A run occupies whole cache lines of 8 slots (float64), here 8 slots each; - is padding.
//
//	first pass, by block of columns:  run 0            run 2            run 1            run 3
//	Columns                           0 3 1 2 3 - - -  0 - - - - - - -  2 - - - - - - -  3 0 - - - - - -
//	runs   entries, first line        5, 0             1, 2             1, 1             2, 3
//
//	second pass, by block of rows:    run 0            run 1            run 2            run 3
//	Rows                              0 0 1 2 2 3 3 3  2 3 3 3 3 3 3 3  0 3 3 3 3 3 3 3  0 1 3 3 3 3 3 3
//	Values                            a b c d e - - -  f - - - - - - -  g - - - - - - -  h i - - - - - -
//
//	first   0 16 32      first slot of each block of columns, in the order of the first pass
//	blocks  0 16 32      first slot of each block of rows, in the order of the second pass
//
//	Padding has row 3, the extra sum, and column 0. Runs of more than 8 entries are distributed as in tiles.

package bins

import (
	"fmt"

	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

// BinOptions are the options of NewBins.
type BinOptions[V sparse.Value] struct {
	Level simd.Level
	// Rows is the largest number of rows of a block of rows, at most 65535. Cols is the number of
	// columns of a block of columns, a power of two, at most 65536. 0 chooses Rows such that the
	// sums of a block fill half of the first-level cache, and Cols such that the elements of x of a
	// block fit in the second-level cache.
	Rows, Cols int
	// Group is the approximate number of entries that the buffer holds; 0 derives it from x.
	Group int
	// Values is the storage of the values; see FindValues. Bins do not use a table.
	Values form.ValueSet[V]
}

// NewBins builds bins (propagation blocking: Beamer, Asanovic and Patterson, IPDPS 2017). A product
// makes two passes. The first pass fills a buffer with one element of x per entry. The second pass
// multiplies the buffer by the values and adds the products to y. Each pass accesses x or y only
// within a block that fits in the first- and second-level caches; the buffer is written once and
// read once, sequentially. Unlike in the paper, the order of the buffer is computed once, when the
// form is built. Bins suit matrices that access x at random, if x is so long that tiles would read
// it too often.
//
// The entries of one block of rows in one block of columns are a run. The first pass visits the
// runs block of columns by block of columns and writes, past the caches, to the slots of the run's
// block of rows. The second pass visits the same slots block of rows by block of rows. To limit the
// buffer, the blocks of rows are divided into groups; a product reads x once for each group. A run
// occupies whole cache lines. Slots without an entry are added to an extra sum that is not used.
//
// With Rows.Fixed the entries of a row stay in their order from run to run, so a row must not have
// an entry in an earlier block of columns than the entry before it.
//
// NewBins fails with a *sparse.InputError if a column is outside x, if an option is out of range,
// or if most runs would be short, and with an error that wraps kernels.ErrOutOfMemory.
func NewBins[V sparse.Value](r form.Rows[V], o BinOptions[V]) (form.Form[V], error) {
	b, err := newBinBuilder(r, o)
	if err != nil {
		return nil, err
	}
	defer b.Release()
	if err := b.count(); err != nil {
		return nil, err
	}
	if err := b.layOut(o.Group); err != nil {
		return nil, err
	}
	b.fill()
	return b.out, nil
}

// binsForm is the Form that NewBins builds.
type binsForm[V sparse.Value] struct {
	BinRuns[V]
	form.Footprint
	rows, height int // rows, where a chunk of a long row counts as a row; rows of a block
	sums         []V // the sums of a block of rows, and one sum for slots without an entry
	results      form.Results[V]
}

func (f *binsForm[V]) Multiply(alpha, beta V, x, y []V) {
	f.results.Begin(alpha, beta, y)
	for g := range len(f.Groups) - 1 {
		f.CopyGroup(g, x[:f.Cols])
		for b := f.Groups[g]; b < f.Groups[g+1]; b++ {
			f.results.Put(f.sum(g, b))
		}
	}
}

// sum returns the sums of block b of rows, which is in group g. They are valid until the next call.
func (f *binsForm[V]) sum(g, b int) []V {
	clear(f.sums)
	x := f.Copied(g, b)
	f.Entries.Multiply(f.Level, int(f.Blocks[b]), len(x), x, f.sums)
	return f.sums[:min(f.height, f.rows-b*f.height)]
}

func (f *binsForm[V]) Name() string {
	return fmt.Sprintf("bins of %d x %d, values %s", f.height, 1<<f.Shift, f.Entries.Values.Storage)
}

package form

import (
	"fmt"

	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/sparse"
)

// BinOptions says how bins are made.
type BinOptions[V sparse.Value] struct {
	Level simd.Level
	// Rows and Cols are the most rows of a block of rows, at most 65535, and the columns of
	// a block of columns, a power of two up to 65536; 0 fits them to the caches: the sums
	// of a block in half of the first, its part of x in the second.
	Rows, Cols int
	// Group is for about how many entries there is room between the passes; 0 fits it to x.
	Group int
	// Values is how values are stored; see FindValues. A table is not used.
	Values ValueSet[V]
}

// NewBins builds bins: a product takes two passes, each of which jumps about in the first
// caches only, and writes and reads an element for each entry in between once, as streams
// (propagation blocking: Beamer, Asanovic and Patterson, IPDPS 2017; here the bins are filled while
// the form is built, as the matrix stays). It suits matrices whose rows jump about in vectors that
// are so long that tiles would read x too often.
//
// The entries of a block of rows in a block of columns are a run. The first pass takes the runs
// block of columns by block of columns, and writes the elements of x of their entries past the
// caches to the place of their block of rows. The second one takes these block of rows by block of
// rows, multiplies them by the values and adds them up. To hold fewer elements at a time, the
// blocks of rows are parted into groups, for each of which x is read once. A run takes whole cache
// lines: places that hold no entry add to a sum that nobody reads.
//
// With Rows.Fixed the entries of a row follow each other in their order, from run to run, so their
// columns must not fall from one block of columns to an earlier one.
//
// It fails with a *sparse.InputError on a column outside x, on options that are out of range,
// and where most runs would be short, and with an error that wraps kernels.ErrOutOfMemory.
func NewBins[V sparse.Value](r Rows[V], o BinOptions[V]) (Form[V], error) {
	b, err := newBinBuilder(r, o)
	if err != nil {
		return nil, err
	}
	defer b.drop()
	if err := b.count(); err != nil {
		return nil, err
	}
	if err := b.lay(o.Group); err != nil {
		return nil, err
	}
	b.fill()
	return b.out, nil
}

// binsForm is the Form of NewBins.
type binsForm[V sparse.Value] struct {
	binRuns[V]
	footprint
	rows, height int // chunks of long rows are rows here; rows of a block
	sums         []V // of a block of rows, and one for places that hold no entry
	results      results[V]
}

func (f *binsForm[V]) Multiply(alpha, beta V, x, y []V) {
	f.results.begin(alpha, beta, y)
	for g := range len(f.groups) - 1 {
		f.copyGroup(g, x[:f.cols])
		for b := f.groups[g]; b < f.groups[g+1]; b++ {
			f.results.put(f.sum(g, b))
		}
	}
}

// sum multiplies and adds up block b of rows, of group g. The sums hold until the next call.
func (f *binsForm[V]) sum(g, b int) []V {
	clear(f.sums)
	x := f.of(g, b)
	f.entries.Multiply(f.level, int(f.blocks[b]), len(x), x, f.sums)
	return f.sums[:min(f.height, f.rows-b*f.height)]
}

func (f *binsForm[V]) Name() string {
	return fmt.Sprintf("bins of %d x %d, values %s", f.height, 1<<f.shift, f.entries.Values.Storage)
}

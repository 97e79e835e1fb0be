package form

import (
	"fmt"

	"github.com/msrep-go/msrep/internal/mem"
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
	level      simd.Level
	rows, cols int   // chunks of long rows are rows here
	height     int   // rows of a block
	shift      uint8 // log2 of the columns of a block
	across     int   // blocks of columns
	groups     []int // the first block of rows of each group, and how many blocks there are

	// runs is those of a group, then of a block of columns, then of a block of rows; first is
	// the place of the first entry of each block of columns of each group, and the end.
	runs    []simd.BinRun
	first   []int64
	entries simd.Bins[V] // by columns in the order of runs, by rows in that of blocks

	// blocks is the place of the first entry of each block of rows, and the end; within
	// them are the runs by blocks of columns. A group has the same places in both orders.
	blocks []int64

	between []V // of a group: what the first pass writes for each entry
	sums    []V // of a block of rows, and one for places that hold no entry
	results results[V]
	bytes   int64
	padding int64
}

func (f *binsForm[V]) Multiply(alpha, beta V, x, y []V) {
	f.results.begin(alpha, beta, y)
	for sums := f.begin(x); sums.next(); {
		f.results.put(sums.left)
	}
}

// binSums is the sums of bins, in the order of the rows.
type binSums[V sparse.Value] struct {
	f            *binsForm[V]
	x            []V
	group, block int // that come next
	left         []V // of the block under way
}

// begin starts a product.
func (f *binsForm[V]) begin(x []V) binSums[V] { return binSums[V]{f: f, x: x[:f.cols]} }

// next sums the next block of rows. It is false behind the last.
func (s *binSums[V]) next() bool {
	f := s.f
	if s.block+1 == len(f.blocks) {
		return false
	}
	if s.block == f.groups[s.group] {
		for c := range f.across {
			f.copy(s.group, c, f.part(s.x, c), f.ahead(s.x, s.group*f.across+c+1))
		}
		simd.Fence(f.level)
		s.group++
	}
	s.left = f.sum(s.group-1, s.block)
	s.block++
	return true
}

// addTo adds the sums of the rows that come next.
func (s *binSums[V]) addTo(sums []V) {
	for len(sums) > 0 && (len(s.left) > 0 || s.next()) {
		n := min(len(sums), len(s.left))
		for i, v := range s.left[:n] {
			sums[i] += v
		}
		sums, s.left = sums[n:], s.left[n:]
	}
}

// copy copies what the entries of group g take of block c of columns, whose part of x is given;
// next is asked for.
func (f *binsForm[V]) copy(g, c int, x, next []V) {
	f.entries.Copy(f.level, int(f.first[g*f.across+c]), f.strip(g, c), x, next, f.between)
}

// sum multiplies and adds up block b of rows, of group g. The sums hold until the next call.
func (f *binsForm[V]) sum(g, b int) []V {
	clear(f.sums)
	from, lo, hi := f.blocks[f.groups[g]], f.blocks[b], f.blocks[b+1]
	f.entries.Multiply(f.level, int(lo), int(hi-lo), f.between[lo-from:], f.sums)
	return f.sums[:min(f.height, f.rows-b*f.height)]
}

// strip is the runs of group g in block c of columns.
func (f *binsForm[V]) strip(g, c int) []simd.BinRun {
	first, n := f.groups[g], f.groups[g+1]-f.groups[g]
	return f.runs[first*f.across+c*n:][:n]
}

// part is the columns of x in block c.
func (f *binsForm[V]) part(x []V, c int) []V {
	lo := c << f.shift
	return x[lo:min(lo+1<<f.shift, len(x))]
}

// ahead is the part of x that block s of columns needs, counted through all groups, if it is
// worth reading as a whole.
func (f *binsForm[V]) ahead(x []V, s int) []V {
	if s+1 >= len(f.first) {
		return nil
	}
	part := f.part(x, s%f.across)
	if !f.worthAhead(s, len(part)) {
		return nil
	}
	return part
}

// worthAhead reports whether block s of columns has an entry for every other cache line of its
// elements of a vector.
func (f *binsForm[V]) worthAhead(s, elements int) bool {
	return (f.first[s+1]-f.first[s])*2*cacheLine >= int64(elements)*mem.Size[V]()
}

func (f *binsForm[V]) Bytes() int64 { return f.bytes }

func (f *binsForm[V]) Padding() int64 { return f.padding }

func (f *binsForm[V]) Name() string {
	return fmt.Sprintf("bins of %d x %d, values %s", f.height, 1<<f.shift, f.entries.Values.Storage)
}

// inLines is the places that so many entries take.
func inLines[V sparse.Value](entries int64) int64 {
	line := int64(simd.BinLine[V]())
	return (entries + line - 1) / line * line
}

package form

import (
	"fmt"

	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/sparse"
)

// NearFarOptions says how near and far entries are told apart.
type NearFarOptions[V sparse.Value] struct {
	Level simd.Level
	// Window is about how many successive entries are a block; 0 fits it to the second cache.
	Window int
	// Lone is in how many entries of a block a line of x is still far, at most 254; 0 is the
	// default of 3.
	Lone int
	// Cols is the columns of a block of columns of bins, a power of two up to 65536; 0 fits it
	// to the caches. Group is for about how many far entries there is room; 0 fits it to x.
	Cols, Group int
	// Values is how values are stored; see FindValues.
	Values ValueSet[V]
}

// NewNearFar builds blocks of rows with a vector of their own each, in the place of x, that the
// second cache holds: a product copies to it the cache lines of x that entries of the block share,
// which are near, and behind them the elements of x for single entries, which are far. These it
// takes from what the first pass of NewBins has copied for many blocks at once, so that the lines
// of x that only they need are read as a stream. The block is slices whose columns are places in
// its vector, 2 bytes for each as a rule. It suits rows most of whose entries are near the
// diagonal, or in columns that many rows have, as those of web graphs.
//
// The sums are in the stored order of rows, as those of NewSlices: see there for long ones, and
// for Rows.Fixed.
//
// It fails with a *sparse.InputError on a column outside x, on options that are out of range,
// for 2^32 far entries, and where a row alone needs a vector of 2^31 elements; and with an error
// that wraps kernels.ErrOutOfMemory.
func NewNearFar[V sparse.Value](r Rows[V], o NearFarOptions[V]) (Form[V], error) {
	b, err := newNearFarBuilder(r, o)
	if err != nil {
		return nil, err
	}
	defer b.drop()
	for first := 0; first < b.rows(); {
		if first, err = b.add(first); err != nil {
			return nil, err
		}
	}
	return b.finish()
}

// nearFarForm is the Form of NewNearFar.
type nearFarForm[V sparse.Value] struct {
	footprint
	rows, cols int // chunks of long rows are rows here
	blocks     []nearFarBlock[V]
	far        binRuns[V] // of the same blocks of rows
	local      []V        // the vector of a block
	results    results[V]
	share      float64 // of far entries
}

// nearFarBlock is successive rows.
type nearFarBlock[V sparse.Value] struct {
	base   int     // the first line of x that is near
	lines  []int32 // all of those, counted from base
	slices *slicesForm[V]
}

func (f *nearFarForm[V]) Multiply(alpha, beta V, x, y []V) {
	x = x[:f.cols]
	f.results.begin(alpha, beta, y)
	group := 0
	for i := range f.blocks {
		if i == f.far.groups[group] {
			f.far.copyGroup(group, x)
			group++
		}
		s := f.blocks[i].slices
		s.multiply(f.gather(group-1, i, x), &f.results)
		s.long.finish(alpha, y)
		y = y[min(s.rows, len(y)):] // where chunks are rows, nothing is left to finish
	}
	if f.results.stream {
		simd.Fence(f.far.level)
	}
}

// gather copies the vector of block i, of group g.
func (f *nearFarForm[V]) gather(g, i int, x []V) []V {
	b := &f.blocks[i]
	n := b.whole(f.cols)
	simd.CopyLines(f.far.level, b.lines[:n], x[b.base*simd.BinLine[V]():], f.local)
	at := b.places()
	if n < len(b.lines) { // the last line of x is not whole
		line := simd.BinLine[V]()
		copy(f.local[n*line:at], x[(b.base+int(b.lines[n]))*line:])
	}
	return f.local[:at+copy(f.local[at:], f.far.of(g, i))]
}

// places is the elements of near lines.
func (b *nearFarBlock[V]) places() int { return len(b.lines) * simd.BinLine[V]() }

// whole is the number of lines that lie in so many columns: all of them, or all but the last.
func (b *nearFarBlock[V]) whole(cols int) int {
	n := len(b.lines)
	if n > 0 && (b.base+int(b.lines[n-1])+1)*simd.BinLine[V]() > cols {
		n--
	}
	return n
}

func (f *nearFarForm[V]) Name() string {
	name := fmt.Sprintf("near entries in slices, %.0f %% far ones in bins", 100*f.share)
	if len(f.blocks) > 0 {
		name = named(name, f.blocks[0].slices.narrow.Values.Storage)
	}
	return name
}

// MultiplyTransposed adds up the vector of a block, and its near lines to y; its far elements wait
// for the second pass of bins.
func (f *nearFarForm[V]) MultiplyTransposed(alpha V, x []V, to func(lo, hi int) []V) {
	for g := range len(f.far.groups) - 1 {
		for i := f.far.groups[g]; i < f.far.groups[g+1]; i++ {
			b := &f.blocks[i]
			far := f.far.of(g, i)
			at := b.places()
			local := f.local[:at+len(far)]
			clear(local)
			b.slices.MultiplyTransposed(alpha, x[:b.slices.rows], func(lo, hi int) []V { return local[lo:hi] })
			x = x[b.slices.rows:]
			copy(far, local[at:])
			f.addLines(b, local[:at], to)
		}
		f.far.collect(g, 1, to)
	}
}

// addLines adds near lines of a block to y.
func (f *nearFarForm[V]) addLines(b *nearFarBlock[V], local []V, to func(lo, hi int) []V) {
	if len(b.lines) == 0 {
		return
	}
	line, n := simd.BinLine[V](), b.whole(f.cols)
	lo, last := b.base*line, int(b.lines[len(b.lines)-1])*line
	y := to(lo, min(lo+last+line, f.cols))
	simd.AddLines(f.far.level, b.lines[:n], local[:n*line], y)
	if n < len(b.lines) {
		for i, v := range local[n*line:][:len(y)-last] {
			y[last+i] += v
		}
	}
}

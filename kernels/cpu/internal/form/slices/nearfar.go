// The layout of near-far, Lone 1, cache lines of 8 elements, one block of 4 rows, 32 columns:
//
//	row 0   a in column 0, b in 3, c in 20      line of x    columns   entries
//	row 1   d in 1, e in 30                     0            0 to 7    a b d     near
//	row 2   f in 8, g in 9                      1            8 to 15   f g h i   near
//	row 3   h in 9, i in 10, j in 18            2            16 to 23  c j       near
//	                                            3            24 to 31  e         far
//
//	base 0, lines 0 1 2                                  the near lines
//	local vector    x[0:8] x[8:16] x[16:24] x[30] -...   24 near elements, 8 slots of far ones
//
//	slices of the block: columns are positions in the local vector
//	row 0   a 0, b 3, c 20
//	row 1   d 1, e 24
//	row 2   f 8, g 9
//	row 3   h 9, i 10, j 18
//
//	far, the first pass of bins with blocks of 8 columns: one run, e
//	entries.Columns  6 - - - - - - -                     column 30 in block of columns 3; - is padding
//	first  0 0 0 0 8                                     first slot of each block of columns
//	blocks 0 8                                           first slot of each block of rows

package slices

import (
	"fmt"

	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/bins"
	"github.com/msrep-go/msrep/sparse"
)

// NearFarOptions are the options of NewNearFar.
type NearFarOptions[V sparse.Value] struct {
	Level simd.Level
	// Window is the approximate number of entries of a block; 0 fits a block in the second-level
	// cache.
	Window int
	// Lone separates near from far lines: a cache line of x is far if at most Lone entries of a
	// block read it. Lone is at most 254; 0 is the default of 3.
	Lone int
	// Cols is the number of columns of a block of columns of bins, a power of two, at most 65536; 0
	// fits it to the caches. Group is the approximate number of far entries that the buffer holds;
	// 0 derives it from x.
	Cols, Group int
	// Values is the storage of the values; see FindValues.
	Values form.ValueSet[V]
}

// NewNearFar builds blocks of successive rows. Each block multiplies a local vector that fits in
// the second-level cache. Before it multiplies a block, a product copies to the local vector
//
//   - the near lines: the cache lines of x that more than Lone entries of the block read,
//   - after them, for each other entry, which is far, the element of x that it reads.
//
// The far elements come from the first pass of bins (see NewBins), which reads x block of columns
// by block of columns for many blocks at once. A block is stored as slices (see NewSlices); their
// columns are positions in the local vector, usually of 2 bytes. Near-far suits matrices with most
// entries near the diagonal or in columns that many rows share, such as those of web graphs.
//
// Sums are formed as in NewSlices, also for long rows and with Rows.Fixed.
//
// NewNearFar fails with a *sparse.InputError if a column is outside x, if an option is out of
// range, if there are 2^32 far entries, or if one row needs a local vector of 2^31 elements, and
// with an error that wraps kernels.ErrOutOfMemory.
func NewNearFar[V sparse.Value](r form.Rows[V], o NearFarOptions[V]) (form.Form[V], error) {
	b, err := newNearFarBuilder(r, o)
	if err != nil {
		return nil, err
	}
	defer b.Release()
	for first := 0; first < b.rows(); {
		if first, err = b.add(first); err != nil {
			return nil, err
		}
	}
	return b.finish()
}

// nearFarForm is the Form that NewNearFar builds.
type nearFarForm[V sparse.Value] struct {
	form.Footprint
	rows, cols  int // a chunk of a long row counts as a row
	blocks      []nearFarBlock[V]
	far         bins.BinRuns[V] // far entries, with the same blocks of rows
	local       []V             // the local vector of a block
	results     form.Results[V]
	farFraction float64 // fraction of entries that are far
}

// nearFarBlock is a block of successive rows.
type nearFarBlock[V sparse.Value] struct {
	base   int     // the first near line
	lines  []int32 // the near lines, relative to base
	slices *slicesForm[V]
}

func (f *nearFarForm[V]) Multiply(alpha, beta V, x, y []V) {
	x = x[:f.cols]
	f.results.Begin(alpha, beta, y)
	group := 0
	for i := range f.blocks {
		if i == f.far.Groups[group] {
			f.far.CopyGroup(group, x)
			group++
		}
		s := f.blocks[i].slices
		s.multiply(f.copyLocal(group-1, i, x), &f.results)
		s.long.finish(alpha, y)
		y = y[min(s.rows, len(y)):] // if chunks count as rows, slices.long is empty
	}
	if f.results.Stream {
		form.Fence(f.far.Level)
	}
}

// copyLocal copies the local vector of block i, which is in group g.
func (f *nearFarForm[V]) copyLocal(g, i int, x []V) []V {
	b := &f.blocks[i]
	n := b.linesBefore(f.cols)
	form.CopyLines(f.far.Level, b.lines[:n], x[b.base*form.BinLine[V]():], f.local)
	at := b.places()
	if n < len(b.lines) { // the last line of x is not whole
		line := form.BinLine[V]()
		copy(f.local[n*line:at], x[(b.base+int(b.lines[n]))*line:])
	}
	return f.local[:at+copy(f.local[at:], f.far.Copied(g, i))]
}

// places returns the number of elements of the near lines.
func (b *nearFarBlock[V]) places() int { return len(b.lines) * form.BinLine[V]() }

// linesBefore returns the number of near lines that end before column cols: all, or all but the
// last.
func (b *nearFarBlock[V]) linesBefore(cols int) int {
	n := len(b.lines)
	if n > 0 && (b.base+int(b.lines[n-1])+1)*form.BinLine[V]() > cols {
		n--
	}
	return n
}

func (f *nearFarForm[V]) Name() string {
	name := fmt.Sprintf("near entries in slices, %.0f %% far ones in bins", 100*f.farFraction)
	if len(f.blocks) > 0 {
		name = form.WithStorage(name, f.blocks[0].slices.narrow.Values.Storage)
	}
	return name
}

// MultiplyTransposed adds the products of a block to its local vector. It then adds the near lines
// to y, and copies the far elements to the buffer of bins, from which the second pass adds them to
// y.
func (f *nearFarForm[V]) MultiplyTransposed(alpha V, x []V, to func(lo, hi int) []V) {
	for g := range len(f.far.Groups) - 1 {
		for i := f.far.Groups[g]; i < f.far.Groups[g+1]; i++ {
			b := &f.blocks[i]
			far := f.far.Copied(g, i)
			at := b.places()
			local := f.local[:at+len(far)]
			clear(local)
			b.slices.MultiplyTransposed(alpha, x[:b.slices.rows], func(lo, hi int) []V { return local[lo:hi] })
			x = x[b.slices.rows:]
			copy(far, local[at:])
			f.addLines(b, local[:at], to)
		}
		f.far.AddBuffer(g, 1, to)
	}
}

// addLines adds the near lines of a block to y.
func (f *nearFarForm[V]) addLines(b *nearFarBlock[V], local []V, to func(lo, hi int) []V) {
	if len(b.lines) == 0 {
		return
	}
	line, n := form.BinLine[V](), b.linesBefore(f.cols)
	lo, last := b.base*line, int(b.lines[len(b.lines)-1])*line
	y := to(lo, min(lo+last+line, f.cols))
	form.AddLines(f.far.Level, b.lines[:n], local[:n*line], y)
	if n < len(b.lines) {
		for i, v := range local[n*line:][:len(y)-last] {
			y[last+i] += v
		}
	}
}

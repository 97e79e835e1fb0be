package form

import (
	"fmt"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/sparse"
)

// NearFarOptions says how near and far entries are told apart.
type NearFarOptions[V sparse.Value] struct {
	Level simd.Level
	// Window is about how many successive entries are looked at together; 0 fits it to the
	// second cache.
	Window int
	// Lone is in how many entries of a window a line of x is still far, at most 254; 0 is the
	// default of 3.
	Lone int
	// Block is how many rows are stored together, at most 65536; 0 is the default of 32768.
	Block int
	// Values is how values are stored; see FindValues.
	Values ValueSet[V]
}

// NewNearFar builds slices of most entries and bins of the others, which are far: the cache
// line of x that they read is read by few others of a window of rows, so that it would have to
// be loaded for them alone. In bins such lines are read as a stream, and slices keep what they
// read of x in the caches. It suits rows most of whose entries are near the diagonal, or in
// columns that many rows have, as those of web graphs. Where far entries are too few for bins all
// are in slices.
//
// It fails with a *sparse.InputError on a column outside x, on options that are out of range,
// for 2^32 far entries, and with Rows.Fixed; and with an error that wraps
// kernels.ErrOutOfMemory.
func NewNearFar[V sparse.Value](r Rows[V], o NearFarOptions[V]) (Form[V], error) {
	b, err := newNearFarBuilder(r, o)
	if err != nil {
		return nil, err
	}
	defer b.drop()
	if err := b.mark(); err != nil {
		return nil, err
	}
	b.keepFew()
	if err := b.near(); err != nil {
		return nil, err
	}
	return b.finish()
}

// nearFarForm is the Form of NewNearFar.
type nearFarForm[V sparse.Value] struct {
	rows, cols int
	height     int // rows of a block
	blocks     []*slicesForm[V]
	bins       *binsForm[V]
	far        float64 // share of all entries
	bytes      int64
}

// Multiply adds the sums of far entries to those of near ones before y is written.
func (f *nearFarForm[V]) Multiply(alpha, beta V, x, y []V) {
	sums := f.bins.begin(x)
	for i, s := range f.blocks {
		s.multiply(alpha, beta, x, y[i*f.height:][:s.rows], &sums)
	}
}

func (f *nearFarForm[V]) Bytes() int64 { return f.bytes }

func (f *nearFarForm[V]) Padding() int64 {
	sum := f.bins.Padding()
	for _, s := range f.blocks {
		sum += s.Padding()
	}
	return sum
}

func (f *nearFarForm[V]) Name() string {
	name := fmt.Sprintf("near entries in slices, %.0f %% far ones in bins", 100*f.far)
	if v := f.bins.entries.Values.Storage; v != simd.Full {
		name += ", values " + v.String()
	}
	return name
}

// MultiplyTransposed adds the near entries and then the far ones.
func (f *nearFarForm[V]) MultiplyTransposed(alpha V, x []V, to func(lo, hi int) []V) {
	for i, s := range f.blocks {
		s.MultiplyTransposed(alpha, x[i*f.height:][:s.rows], to)
	}
	f.bins.MultiplyTransposed(alpha, x, to)
}

// MultiplyMany multiplies the near entries and adds the far ones.
func (f *nearFarForm[V]) MultiplyMany(alpha, beta V, x, y simd.Block[V]) {
	for i, s := range f.blocks {
		s.MultiplyMany(alpha, beta, x, y.From(i*f.height))
	}
	f.bins.multiplyPairs(alpha, 1, x, y)
}

// RowsFrom is 1: the rows in CSR read a whole row of x for each entry, of which few miss.
func (f *nearFarForm[V]) RowsFrom() int { return 1 }

// share makes the slices of all blocks work in the same memory, and y be written past the
// caches where all of the form is beyond them.
func (f *nearFarForm[V]) share() {
	f.bytes = f.bins.bytes
	for i, s := range f.blocks {
		f.bytes += s.bytes
		if i > 0 {
			first := f.blocks[0]
			s.sums, s.more, s.row = first.sums, first.more, first.row
			f.bytes -= 3 * mem.Size[V]() * int64(len(first.sums))
		}
	}
	for _, s := range f.blocks {
		s.results.stream = beyond(f.bytes + mem.Size[V]()*int64(f.rows+min(f.rows, f.cols)))
	}
}

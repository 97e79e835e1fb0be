// The layout of runs, with pieces of at most 4 columns (AVX2, float64):
//
//	     0 1 2 3 4 5 6 7
//	  0  a b c . . . d e     group 0: 4 rows with different columns, 2 pieces with masks
//	  1  f g h . . . i j
//	  2  . k l . . m . .         piece 0: columns 0 to 3     piece 1: columns 4 to 7
//	  3  n o . . . p . .
//	  4  q . . . . r s t     group 1: 2 rows with equal columns, 2 pieces
//	  5  u . . . . v w x         piece 0: column 0           piece 1: columns 5 to 7
//
//	Groups  2<<4 | 0,  2<<4 | 2                        pieces<<4 | rows; 0 means 4 rows with masks
//	First   0 4 | 0 5                                  first column of each piece
//	Masks   0111 0111 0110 0011  1100 1100 0010 0010   group 0: one per row of each piece
//	        0001  0111                                 group 1: one per piece; bit i is column First+i
//	Val     a b c  f g h  k l  n o    d e  i j  m  p   group 0, piece by piece, row by row
//	        q  u    r s t  v w x                       group 1

package runs

import (
	"cmp"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

// RunOptions are the options of NewRuns.
type RunOptions[V sparse.Value] struct {
	Level simd.Level
	// Values is the storage of the values; see FindValues. Values that are not all equal are stored
	// as Full.
	Values form.ValueSet[V]
}

// runsWindow is about the number of rows that are summed before their results are stored.
const runsWindow = 512

// NewRuns builds runs of successive columns, each with one column index. Successive rows with the
// same columns, or nearly the same, share the indices. The form has no padding. It suits dense
// blocks of any size at any position (blocks without padding: Pinar and Heath, Supercomputing 1999;
// Bramas and Kus, PeerJ Computer Science 4:e151, 2018).
//
// The entries of a row may be in any order, but only ascending columns form runs. Every level
// works; in plain Go, runs are slower than CSR. If a value is not finite, products with AVX2, and
// float32 products without transpose at any level, run in plain Go.
//
// NewRuns fails with a *sparse.InputError if a column is outside x, if r.Fixed is set, or if a row
// has more than 2^28-1 runs, and with an error that wraps kernels.ErrOutOfMemory.
func NewRuns[V sparse.Value](r form.Rows[V], o RunOptions[V]) (form.Form[V], error) {
	if err := noRuns(&r); err != nil {
		return nil, err
	}
	if err := form.CheckColumns(r.Idx, r.Cols); err != nil {
		return nil, err
	}
	b := newRunsBuilder(r, o.Level)
	defer b.Release()
	if err := b.count(); err != nil {
		return nil, err
	}
	if err := b.cut(); err != nil {
		return nil, err
	}
	f := &runsForm[V]{level: o.Level, rows: b.rows, cols: r.Cols, windows: b.windows, sums: make([]V, runsWindow+2*form.RunRows)}
	f.runs.One = o.Values.StoredAs == form.Same
	if err := f.copyRuns(r.Mem, &b.runs, b.end()); err != nil {
		return nil, err
	}
	if f.runs.One {
		for i := range f.runs.Val {
			f.runs.Val[i] = o.Values.Values[0]
		}
	} else {
		b.fill(f.runs.Val)
		f.runs.Finite = form.Finite(o.Level, f.runs.Val)
	}
	return f, nil
}

// noRuns fails if sums have a fixed shape, because runs are summed in another order.
func noRuns[V sparse.Value](r *form.Rows[V]) error {
	if r.Fixed {
		return sparse.Inputf("format", "runs are summed in an order of their own: sums of a fixed shape have csr, slices, sell, diagonals, blocks, panels, tiles, bins and near-far")
	}
	return nil
}

// runsForm is the Form that NewRuns builds.
type runsForm[V sparse.Value] struct {
	form.Footprint
	level      simd.Level
	rows, cols int
	runs       Runs[V]
	windows    []runsStart // then the end of the last window
	sums       []V
	stream     bool
}

// runsStart is the start of a window. The columns of its pieces are least <= i < end.
type runsStart struct {
	row        int
	at         RunPosition
	least, end int32
}

const startBytes = 48

func (f *runsForm[V]) Multiply(alpha, beta V, x, y []V) {
	x = x[:f.cols]
	for i, w := range f.windows[:len(f.windows)-1] {
		next := f.windows[i+1]
		MultiplyRuns(f.level, &f.runs, w.at, next.at.Group-w.at.Group, x, f.sums)
		form.StoreRows(f.level, alpha, beta, f.sums[:next.row-w.row], y[w.row:next.row], f.stream)
	}
	if f.stream {
		form.Fence(f.level)
	}
}

func (f *runsForm[V]) MultiplyTransposed(alpha V, x []V, to func(lo, hi int) []V) {
	for i, w := range f.windows[:len(f.windows)-1] {
		next := f.windows[i+1]
		if w.least >= w.end {
			continue
		}
		after := form.ScaleTo(f.level, f.sums, alpha, x[w.row:next.row])
		AddRunsTransposed(f.level, &f.runs, w.at, next.at.Group-w.at.Group, after, f.sums[:next.row-w.row], to(int(w.least), int(w.end)), int(w.least))
	}
}

func (f *runsForm[V]) Name() string {
	if f.runs.One {
		return form.WithStorage("runs", form.Same)
	}
	return "runs"
}

// copyRuns copies the pieces to the memory of the form and allocates the values.
func (f *runsForm[V]) copyRuns(m *form.Memory, r *Runs[V], end RunPosition) error {
	values, apart := end.Entry, form.RunRows
	if f.runs.One {
		values, apart = form.RunRows, 0
	}
	var all []V
	if err := cmp.Or(
		form.Alloc(m, &f.runs.Groups, int64(end.Group)),
		form.Alloc(m, &f.runs.First, int64(end.Piece)),
		form.Alloc(m, &f.runs.Masks, int64(end.Mask)),
		form.Alloc(m, &all, int64(values+2*apart)),
	); err != nil {
		return err
	}
	f.runs.Val = all[apart : apart+values]
	copy(f.runs.Groups, r.Groups)
	copy(f.runs.First, r.First)
	copy(f.runs.Masks, r.Masks)
	f.MemoryBytes = 4*int64(end.Group+end.Piece) + int64(end.Mask) + mem.Size[V]()*int64(len(all)+len(f.sums)) + startBytes*int64(len(f.windows))
	f.stream = form.Beyond(f.MemoryBytes + mem.Size[V]()*int64(f.rows+min(f.rows, f.cols)))
	return nil
}

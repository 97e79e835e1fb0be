package form

import (
	"cmp"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/sparse"
)

// RunOptions says how runs are made.
type RunOptions[V sparse.Value] struct {
	Level simd.Level
	// Values is how values are stored; see FindValues. Those that are not all the same are
	// stored as they are.
	Values ValueSet[V]
}

// runsWindow is about how many rows are summed before their results are stored.
const runsWindow = 512

// NewRuns builds runs of successive columns, each with one column index; rows that follow
// each other share them, where they have the same columns or nearly the same. No entry
// is added: this suits dense blocks of any size that lie anywhere (blocks without
// padding: Pinar and Heath, Supercomputing 1999; Bramas and Kus, PeerJ Computer Science
// 4:e151, 2018).
//
// Rows may have their entries in any order, but runs are only seen in rising columns. The
// level may be any, though they are slower than CSR in plain Go, which products with AVX2, and
// straight ones of float32, are made in as well where a value is not finite.
//
// It fails with a *sparse.InputError on a column outside x, for sums of a fixed shape, and
// where a row has more than 2^28-1 runs, and with an error that wraps
// kernels.ErrOutOfMemory.
func NewRuns[V sparse.Value](r Rows[V], o RunOptions[V]) (Form[V], error) {
	if err := r.noRuns(); err != nil {
		return nil, err
	}
	if err := checkColumns(r.Idx, r.Cols); err != nil {
		return nil, err
	}
	b := newRunsBuilder(r, o.Level)
	defer b.drop()
	if err := b.count(); err != nil {
		return nil, err
	}
	if err := b.cut(); err != nil {
		return nil, err
	}
	f := &runsForm[V]{level: o.Level, rows: b.rows, cols: r.Cols, windows: b.windows, sums: make([]V, runsWindow+2*simd.RunRows)}
	f.runs.One = o.Values.storage == simd.Same
	if err := f.keep(r.Mem, &b.runs, b.end()); err != nil {
		return nil, err
	}
	if f.runs.One {
		for i := range f.runs.Val {
			f.runs.Val[i] = o.Values.values[0]
		}
	} else {
		b.fill(f.runs.Val)
		f.runs.Finite = simd.Finite(o.Level, f.runs.Val)
	}
	return f, nil
}

// noRuns fails where sums have a fixed shape: those of runs have another.
func (r *Rows[V]) noRuns() error {
	if r.Fixed {
		return sparse.Inputf("format", "runs are summed in an order of their own: sums of a fixed shape have csr, slices, sell, diagonals, blocks, panels, tiles, bins and near-far")
	}
	return nil
}

// runsForm is the Form of NewRuns.
type runsForm[V sparse.Value] struct {
	footprint
	level      simd.Level
	rows, cols int
	runs       simd.Runs[V]
	windows    []runsStart // and where the last one ends
	sums       []V
	stream     bool
}

// runsStart is where a window begins, and the columns that its pieces reach: least <= i <
// end.
type runsStart struct {
	row        int
	at         simd.RunPosition
	least, end int32
}

const startBytes = 48

func (f *runsForm[V]) Multiply(alpha, beta V, x, y []V) {
	x = x[:f.cols]
	for i, w := range f.windows[:len(f.windows)-1] {
		next := f.windows[i+1]
		simd.MultiplyRuns(f.level, &f.runs, w.at, next.at.Group-w.at.Group, x, f.sums)
		simd.StoreRows(f.level, alpha, beta, f.sums[:next.row-w.row], y[w.row:next.row], f.stream)
	}
	if f.stream {
		simd.Fence(f.level)
	}
}

func (f *runsForm[V]) MultiplyTransposed(alpha V, x []V, to func(lo, hi int) []V) {
	for i, w := range f.windows[:len(f.windows)-1] {
		next := f.windows[i+1]
		if w.least >= w.end {
			continue
		}
		after := scaleTo(f.level, f.sums, alpha, x[w.row:next.row])
		simd.AddRunsTransposed(f.level, &f.runs, w.at, next.at.Group-w.at.Group, after, f.sums[:next.row-w.row], to(int(w.least), int(w.end)), int(w.least))
	}
}

func (f *runsForm[V]) Name() string {
	if f.runs.One {
		return named("runs", simd.Same)
	}
	return "runs"
}

// keep copies pieces, and makes room for their values.
func (f *runsForm[V]) keep(m *Memory, r *simd.Runs[V], end simd.RunPosition) error {
	values, apart := end.Entry, simd.RunRows
	if f.runs.One {
		values, apart = simd.RunRows, 0
	}
	var all []V
	if err := cmp.Or(
		take(m, &f.runs.Groups, int64(end.Group)),
		take(m, &f.runs.First, int64(end.Piece)),
		take(m, &f.runs.Masks, int64(end.Mask)),
		take(m, &all, int64(values+2*apart)),
	); err != nil {
		return err
	}
	f.runs.Val = all[apart : apart+values]
	copy(f.runs.Groups, r.Groups)
	copy(f.runs.First, r.First)
	copy(f.runs.Masks, r.Masks)
	f.bytes = 4*int64(end.Group+end.Piece) + int64(end.Mask) + mem.Size[V]()*int64(len(all)+len(f.sums)) + startBytes*int64(len(f.windows))
	f.stream = beyond(f.bytes + mem.Size[V]()*int64(f.rows+min(f.rows, f.cols)))
	return nil
}

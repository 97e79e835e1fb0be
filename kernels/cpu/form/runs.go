package form

import (
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/sparse"
)

// runsWindow is about how many rows are summed before their results are stored.
const runsWindow = 512

// NewRuns builds runs of successive columns, each with one column index; rows that follow
// each other share them, where they have the same columns or nearly the same. No entry
// is added: this suits dense blocks of any size that lie anywhere (blocks without
// padding: Pinar and Heath, Supercomputing 1999; Bramas and Kus, PeerJ Computer Science
// 4:e151, 2018).
//
// Rows may have their entries in any order, but runs are only seen in rising columns. The
// level may be any, though only AVX-512 is faster than CSR.
//
// It fails with a *sparse.InputError on a column outside x, for sums of a fixed shape, and
// where a row has more than 2^28-1 runs, and with an error that wraps
// kernels.ErrOutOfMemory.
func NewRuns[V sparse.Value](r Rows[V], l simd.Level) (Form[V], error) {
	if err := r.noRuns(); err != nil {
		return nil, err
	}
	if err := checkColumns(r.Idx, r.Cols); err != nil {
		return nil, err
	}
	b := newRunsBuilder(r)
	if err := b.cut(); err != nil {
		return nil, err
	}
	f := &runsForm[V]{level: l, rows: b.rows, cols: r.Cols, windows: b.windows, sums: make([]V, runsWindow+2*simd.RunRows)}
	if err := f.keep(r.Mem, &b.runs, b.end()); err != nil {
		return nil, err
	}
	b.fill(f.runs.Val)
	return f, nil
}

// noRuns fails where sums have a fixed shape: those of runs have another.
func (r *Rows[V]) noRuns() error {
	if r.Fixed {
		return sparse.Inputf("format", "runs are summed in an order of their own: sums of a fixed shape have csr, slices, sell, diagonals, blocks and tiles")
	}
	return nil
}

// runsForm is the Form of NewRuns.
type runsForm[V sparse.Value] struct {
	level      simd.Level
	rows, cols int
	runs       simd.Runs[V]
	windows    []runsStart // and where the last one ends
	sums       []V
	stream     bool
	bytes      int64
}

// runsStart is where a window begins.
type runsStart struct {
	row int
	at  simd.RunPosition
}

func (f *runsForm[V]) Multiply(alpha, beta V, x, y []V) {
	x = x[:f.cols]
	for i, w := range f.windows[:len(f.windows)-1] {
		next := f.windows[i+1]
		simd.MultiplyRuns(f.level, &f.runs, w.at, next.at.Group-w.at.Group, x, f.sums)
		simd.Finish(f.level, alpha, beta, f.sums[:next.row-w.row], y[w.row:next.row], f.stream)
	}
	if f.stream {
		simd.Fence(f.level)
	}
}

func (f *runsForm[V]) Bytes() int64 { return f.bytes }

func (f *runsForm[V]) Padding() int64 { return 0 }

func (f *runsForm[V]) Name() string { return "runs" }

// keep copies pieces, and makes room for their values.
func (f *runsForm[V]) keep(m *Memory, r *simd.Runs[V], end simd.RunPosition) (err error) {
	if f.runs.Groups, err = Make[uint32](m, int64(end.Group)); err != nil {
		return err
	}
	if f.runs.First, err = Make[int32](m, int64(end.Piece)); err != nil {
		return err
	}
	if f.runs.Masks, err = Make[uint8](m, int64(end.Mask)); err != nil {
		return err
	}
	if f.runs.Val, err = Make[V](m, int64(end.Entry)); err != nil {
		return err
	}
	copy(f.runs.Groups, r.Groups)
	copy(f.runs.First, r.First)
	copy(f.runs.Masks, r.Masks)
	f.bytes = 4*int64(end.Group+end.Piece) + int64(end.Mask) + mem.Size[V]()*int64(end.Entry+len(f.sums)) + 40*int64(len(f.windows))
	f.stream = beyond(f.bytes + mem.Size[V]()*int64(f.rows+min(f.rows, f.cols)))
	return nil
}

package factor

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/msrep-go/msrep/internal/given"
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/rescue"
	"github.com/msrep-go/msrep/solver/internal/incomplete"
	"github.com/msrep-go/msrep/sparse"
)

// Incomplete are incomplete triangular factors of a square matrix of n rows: L U ~ A[p][:, q] for permutations p and q
// of its rows and columns. They are a preconditioner: Apply multiplies by the inverse of L U. NewILU0, NewILUT and
// NewIC0 make them. Several goroutines may call all methods but Refactor at once.
type Incomplete struct {
	kind       string
	factorise  func(context.Context, *sparse.CSR[float64]) (*incomplete.Factors, error)
	matching   bool    // rows are matched with columns, and scaled
	order      []int32 // of the columns, and of the rows that are matched with them; nil: the order of A
	factors    *incomplete.Factors
	rows, cols []int32 // p and q; nil: the order of A
	work       sync.Pool
}

// IncompleteInfo describes incomplete factors.
type IncompleteInfo struct {
	Kind      string  // "ilu0", "ilut" or "ic0"
	NNZ       int64   // entries of L and U, without the ones on the diagonal of L
	Dropped   int64   // entries that ILUT has dropped
	Replaced  int     // pivots that were replaced, as they were zero or tiny
	Exchanged int     // column exchanges of ILUT
	Shift     float64 // IC0: multiple of the diagonal of A that was added to it
	Bytes     int64   // memory that the factors take
}

// Info describes the factors.
func (f *Incomplete) Info() IncompleteInfo {
	g := f.factors
	return IncompleteInfo{
		Kind: f.kind, NNZ: g.NNZ(),
		Dropped: g.Dropped, Replaced: g.Replaced, Exchanged: g.Exchanged, Shift: g.Shift,
		Bytes: g.Bytes() + 4*int64(len(f.rows)+len(f.cols)),
	}
}

// Size returns the number of rows of A.
func (f *Incomplete) Size() int { return len(f.factors.Inverse) }

// Apply computes z = M r with M = (L U)^-1 in the orders of A: L U z[q] = r[p]. r and z have Size elements and do not
// overlap.
func (f *Incomplete) Apply(r, z []float64) error {
	return f.solve(r, z, f.rows, f.cols, f.factors.Solve)
}

// ApplyTransposed computes z = M' r; see Apply.
func (f *Incomplete) ApplyTransposed(r, z []float64) error {
	return f.solve(r, z, f.cols, f.rows, f.factors.SolveTransposed)
}

// solve computes z[to] = S r[from] for the function that overwrites y with S y.
func (f *Incomplete) solve(r, z []float64, from, to []int32, overwrite func(y []float64)) error {
	n := f.Size()
	if err := checkApply(n, r, z); err != nil {
		return err
	}
	y := z
	if to != nil {
		got, _ := f.work.Get().(*[]float64)
		if got == nil {
			work := make([]float64, n)
			got = &work
		}
		defer f.work.Put(got)
		y = *got
	}
	if from == nil {
		copy(y, r)
	} else {
		for i, k := range from {
			y[i] = r[k]
		}
	}
	overwrite(y)
	for i, k := range to {
		z[k] = y[i]
	}
	return nil
}

// checkApply checks that r and z have n elements and do not overlap.
func checkApply(n int, r, z []float64) error {
	if len(r) != n {
		return sparse.Inputf("r", "%d elements: the factors have %d rows", len(r), n)
	}
	if len(z) != n {
		return sparse.Inputf("z", "%d elements: the factors have %d rows", len(z), n)
	}
	if mem.Overlap(r, z) {
		return sparse.Inputf("z", "shares memory with r")
	}
	return nil
}

// Lower returns L as a matrix in CSR, with its diagonal of ones.
func (f *Incomplete) Lower() *sparse.CSR[float64] {
	m := &sparse.CSR[float64]{RowPtr: []int64{0}}
	rows := &f.factors.Lower
	for i := range f.Size() {
		lo, hi := rows.Ptr[i], rows.Ptr[i+1]
		m.ColIdx = append(append(m.ColIdx, rows.Col[lo:hi]...), int32(i))
		m.Val = append(append(m.Val, rows.Val[lo:hi]...), 1)
		m.RowPtr = append(m.RowPtr, int64(len(m.Val)))
	}
	m.Rows, m.Cols = f.Size(), f.Size()
	return m
}

// Upper returns U as a matrix in CSR.
func (f *Incomplete) Upper() *sparse.CSR[float64] {
	m := &sparse.CSR[float64]{RowPtr: []int64{0}}
	rows := &f.factors.Upper
	for i, inverse := range f.factors.Inverse {
		d := 1 / inverse
		m.ColIdx, m.Val = append(m.ColIdx, int32(i)), append(m.Val, d)
		for k := rows.Ptr[i]; k < rows.Ptr[i+1]; k++ {
			m.ColIdx, m.Val = append(m.ColIdx, rows.Col[k]), append(m.Val, rows.Val[k]*d)
		}
		m.RowPtr = append(m.RowPtr, int64(len(m.Val)))
	}
	m.Rows, m.Cols = f.Size(), f.Size()
	return m
}

// Rows returns p: row i of L belongs to row p[i] of A. nil is the order of A. The caller must not change it.
func (f *Incomplete) Rows() []int32 { return f.rows }

// Cols returns q: column j of U belongs to column q[j] of A. nil is the order of A. The caller must not change it.
func (f *Incomplete) Cols() []int32 { return f.cols }

// Refactor replaces the factors by those of another matrix of the same size. It keeps the order of the columns, and
// matches rows with them again: a matrix with the same values gets the same factors, bit by bit. If it fails, the
// factors stay as they were. Errors are those of the function that made the factors.
func (f *Incomplete) Refactor(ctx context.Context, a *sparse.CSR[float64]) (err error) {
	defer rescue.To(&err)
	if err := check(ctx, a); err != nil {
		return err
	}
	if a.Rows != f.Size() {
		return sparse.Inputf("matrix", "%d rows: the factors have %d", a.Rows, f.Size())
	}
	m, err := f.match(ctx, a)
	if err != nil {
		return err
	}
	return f.compute(ctx, a, m)
}

// start computes the first factors of a. by orders it after rows have been matched with columns.
func (f *Incomplete) start(ctx context.Context, a *sparse.CSR[float64], by Order) (*Incomplete, error) {
	if err := check(ctx, a); err != nil {
		return nil, err
	}
	m, err := f.match(ctx, a)
	if err != nil {
		return nil, err
	}
	if f.order, err = ordered(a, m.rows, by); err != nil {
		return nil, err
	}
	if err := f.compute(ctx, a, m); err != nil {
		return nil, err
	}
	return f, nil
}

// compute sets the factors to those of a.
func (f *Incomplete) compute(ctx context.Context, a *sparse.CSR[float64], m matching) error {
	need := 2*sparse.EntryBytes*a.NNZ() + 64*int64(a.Rows) // B, factors as large as B, and vectors
	if have, ok := mem.Fits(need); !ok {
		return tooLarge(a, need, have)
	}
	m = m.inOrder(f.order)
	b, err := m.place(a)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	g, err := f.factorise(ctx, b)
	var memory *incomplete.NoMemory
	var pivot *incomplete.NotPositive
	switch {
	case errors.As(err, &memory):
		return tooLarge(a, memory.Need, memory.Have)
	case errors.As(err, &pivot):
		return &sparse.InputError{Subject: "matrix", Msg: fmt.Sprintf("the pivot of row %d is not positive", at(m.rows, pivot.Row)), Err: ErrNotPositiveDefinite}
	case err != nil:
		return err
	}
	cols := m.cols
	if g.Cols != nil {
		cols, m.colScale = through(g.Cols, cols), through(g.Cols, m.colScale)
	}
	if m.rowScale != nil {
		g.Scale(m.rowScale, m.colScale)
	}
	if !g.Finite() {
		return sparse.Inputf("matrix", "its incomplete factors overflow: scale it, or drop less")
	}
	f.factors, f.rows, f.cols = g, m.rows, cols
	return nil
}

// tooLarge is the error of factors of a that take need bytes more than they have, while have are available.
func tooLarge(a *sparse.CSR[float64], need, have int64) error {
	return sparse.Inputf("matrix", "%d rows, %d entries: its incomplete factors take %d bytes more, %d are available", a.Rows, a.NNZ(), need, have)
}

// check checks the arguments of a factorisation.
func check(ctx context.Context, a *sparse.CSR[float64]) error {
	if err := given.Context(ctx); err != nil {
		return err
	}
	if err := given.Check("matrix", a); err != nil {
		return err
	}
	if err := a.Validate(); err != nil {
		return err
	}
	if a.Rows != a.Cols {
		return sparse.Inputf("matrix", "%d x %d: factors need a square one", a.Rows, a.Cols)
	}
	for i := range a.Rows {
		for k := a.RowPtr[i]; k < a.RowPtr[i+1]; k++ {
			if v := a.Val[k]; math.IsNaN(v) || math.IsInf(v, 0) {
				return sparse.Inputf("matrix", "row %d, column %d: %g is not finite", i, a.ColIdx[k], v)
			}
		}
	}
	return ctx.Err()
}

package factor

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"

	"github.com/msrep-go/msrep/internal/rescue"
	"github.com/msrep-go/msrep/solver/internal/multifrontal"
	"github.com/msrep-go/msrep/sparse"
)

// CholeskyOptions are the options of NewCholesky. The zero value is the default.
type CholeskyOptions struct {
	// Order orders rows and columns; nil is order.AMD or order.Dissection. See LUOptions.
	Order Order
	// MaxBytes limits the memory of the factor; 0 is the available memory.
	MaxBytes int64
	// Accept is LUOptions.Accept.
	Accept func(Info) error
}

// Cholesky is the complete factor of a symmetric positive definite matrix: L L' = A[p][:, p] for a permutation p. Several
// goroutines may call all methods but Refactor at once.
type Cholesky struct {
	opt    CholeskyOptions
	rowPtr []int64 // pattern of A, with sorted rows and without duplicates
	colIdx []int32
	front  *multifrontal.CholeskyFactor
	norm   float64 // 1-norm of A
	failed error   // error of the last Refactor, after which the factor is undefined
	work   sync.Pool
}

// NewCholesky returns the factor of a symmetric positive definite matrix. It takes about half the time and memory of
// NewLU. Duplicates are added.
//
// A matrix that is not positive definite in working precision is a *sparse.InputError that wraps ErrNotPositiveDefinite;
// a diagonal without it is found before any work. A matrix that is not valid, not square, not symmetric, or has a value that
// is not finite is a *sparse.InputError, and so is a factor that does not fit in memory, with a *MemoryError in it,
// before the computation. If ctx ends, so does NewCholesky, with its error.
func NewCholesky(ctx context.Context, a *sparse.CSR[float64], opt CholeskyOptions) (f *Cholesky, err error) {
	defer rescue.To(&err)
	if err := check(ctx, a); err != nil {
		return nil, err
	}
	if opt.MaxBytes < 0 {
		return nil, sparse.Inputf("MaxBytes", "%d is negative", opt.MaxBytes)
	}
	b, err := symmetric(a)
	if err != nil {
		return nil, err
	}
	s, err := analyze(ctx, b, opt.Order, nil, multifrontal.Cholesky, opt.MaxBytes, opt.Accept)
	if err != nil {
		return nil, err
	}
	f = &Cholesky{opt: opt, rowPtr: b.RowPtr, colIdx: b.ColIdx}
	if err := f.compute(ctx, s, b); err != nil {
		return nil, err
	}
	return f, nil
}

// compute computes the factor of b, whose analysis is s.
func (f *Cholesky) compute(ctx context.Context, s *multifrontal.Analysis, b *sparse.CSR[float64]) error {
	g, err := s.FactorCholesky(ctx, b.Val, f.front)
	var pivot *multifrontal.NotPositiveError
	if errors.As(err, &pivot) {
		return notPositive(pivot.Row)
	}
	if err != nil {
		return err
	}
	f.front, f.norm = g, normOf(b)
	return nil
}

func notPositive(row int) error {
	return &sparse.InputError{Subject: "matrix", Msg: "the pivot of row " + strconv.Itoa(row) + " is not positive", Err: ErrNotPositiveDefinite}
}

// symmetric returns a with sorted rows and without duplicates. A matrix that is not symmetric, or has an element on the
// diagonal that is not positive, is an error.
func symmetric(a *sparse.CSR[float64]) (*sparse.CSR[float64], error) {
	b, err := new(matching).place(a)
	if err != nil {
		return nil, err
	}
	next := make([]int64, b.Rows) // first entry of a row after its diagonal that no row below has met
	for i := range b.Rows {
		k, end := b.RowPtr[i], b.RowPtr[i+1]
		for ; k < end && int(b.ColIdx[k]) < i; k++ {
			j := b.ColIdx[k]
			at := next[j]
			if at == b.RowPtr[j+1] || int(b.ColIdx[at]) != i || b.Val[at] != b.Val[k] {
				return nil, sparse.Inputf("matrix", "it is not symmetric: compare the entries of row %d, column %d and row %d, column %d", i, j, j, i)
			}
			next[j] = at + 1
		}
		if k == end || int(b.ColIdx[k]) != i || !(b.Val[k] > 0) {
			return nil, notPositive(i)
		}
		next[i] = k + 1
	}
	for i := range b.Rows {
		if next[i] != b.RowPtr[i+1] {
			j := b.ColIdx[next[i]]
			return nil, sparse.Inputf("matrix", "it is not symmetric: compare the entries of row %d, column %d and row %d, column %d", i, j, j, i)
		}
	}
	return b, nil
}

// Size returns the number of rows of A.
func (f *Cholesky) Size() int { return len(f.rowPtr) - 1 }

// Info describes the factor.
func (f *Cholesky) Info() Info { return frontInfo(f.front.Analysis) }

// Refactor replaces the factor by that of a matrix with the same pattern and other values. A matrix with another pattern
// is a *sparse.InputError, and leaves the factor as it was, as does one whose diagonal is not positive. After other
// errors, which are those of NewCholesky, solves return the same error until another Refactor succeeds.
func (f *Cholesky) Refactor(ctx context.Context, a *sparse.CSR[float64]) (err error) {
	defer rescue.To(&err)
	if err := check(ctx, a); err != nil {
		return err
	}
	b, err := symmetric(a)
	if err != nil {
		return err
	}
	if !slices.Equal(b.RowPtr, f.rowPtr) || !slices.Equal(b.ColIdx, f.colIdx) {
		return sparse.Inputf("matrix", "its entries are at other places than those of the matrix that was factored")
	}
	f.failed = f.compute(ctx, f.front.Analysis, b)
	return f.failed
}

// Apply computes x = A^-1 b. b and x have Size elements and do not overlap.
func (f *Cholesky) Apply(b, x []float64) error {
	if err := checkApply(f.Size(), b, x); err != nil {
		return err
	}
	if f.failed != nil {
		return f.failed
	}
	f.solve([][]float64{b}, [][]float64{x})
	return nil
}

// ApplyMany computes x[k] = A^-1 b[k] for each k. It reads the factor once for several right-hand sides, and is faster
// than one Apply after the other.
func (f *Cholesky) ApplyMany(b, x [][]float64) error {
	if err := checkMany(f.Size(), b, x); err != nil {
		return err
	}
	if f.failed != nil {
		return f.failed
	}
	for k := 0; k < len(b); k += maxTogether {
		end := min(k+maxTogether, len(b))
		f.solve(b[k:end], x[k:end])
	}
	return nil
}

func (f *Cholesky) solve(b, x [][]float64) {
	n, p := f.Size(), f.front.Order()
	need := len(b)*n + f.front.Workspace(len(b))
	w, _ := f.work.Get().(*[]float64)
	if w == nil || len(*w) < need {
		fresh := make([]float64, need)
		w = &fresh
	}
	defer f.work.Put(w)
	y := (*w)[:len(b)*n]
	for c := range b {
		for i, k := range p {
			y[c*n+i] = b[c][k]
		}
	}
	f.front.Solve(len(b), y, (*w)[len(y):])
	for c := range x {
		for i, k := range p {
			x[c][k] = y[c*n+i]
		}
	}
}

// Condition returns an estimate of the condition of A in the 1-norm; see LU.Condition.
func (f *Cholesky) Condition() float64 {
	x := make([]float64, f.Size())
	solve := func(v []float64) error {
		err := f.Apply(v, x)
		copy(v, x)
		return err
	}
	return condition(f.Size(), f.norm, solve, solve)
}

package factor

import (
	"context"
	"math"
	"slices"
	"sync"

	"github.com/msrep-go/msrep/internal/dense"
	"github.com/msrep-go/msrep/internal/rescue"
	"github.com/msrep-go/msrep/solver/internal/leftlooking"
	"github.com/msrep-go/msrep/solver/internal/multifrontal"
	"github.com/msrep-go/msrep/sparse"
)

// LUKind is a way to compute complete factors.
type LUKind int

const (
	// Auto takes Multifrontal where the factors are much larger than the matrix, else LeftLooking; and LeftLooking with
	// partial pivoting where solutions with the factors of Multifrontal are inaccurate.
	Auto LUKind = iota
	// Multifrontal computes with dense fronts on several goroutines. Rows are matched with columns before, and exchanged
	// within fronts only; tiny pivots are replaced, and refinement corrects the solutions.
	Multifrontal
	// LeftLooking computes column by column on the block triangular form, with threshold pivoting.
	LeftLooking
)

// String returns the name of the kind.
func (k LUKind) String() string {
	switch k {
	case Auto:
		return "auto"
	case Multifrontal:
		return "multifrontal"
	case LeftLooking:
		return "left-looking"
	}
	return "unknown"
}

// LUOptions are the options of NewLU. The zero value is the default.
type LUOptions struct {
	// Kind is the way to compute the factors.
	Kind LUKind
	// Order orders the columns, and the rows matched with them, for Multifrontal; nil is order.AMD, or order.Dissection
	// where much work makes that pay. A caller who knows the geometry of a problem may have a better order,
	// such as nested dissection.
	Order Order
	// MaxBytes limits the memory of the factors; 0 is the available memory. A caller who has something else to try asks
	// for less than all.
	MaxBytes int64
	// Accept, unless nil, is called with the predicted Kind, NNZ, Work and Bytes when they are known, before the factors are
	// computed. If it returns an error, NewLU ends with this error. It is called again where another order may save work, or
	// where the first factors are inaccurate.
	Accept func(Info) error
}

// LU are complete factors of a square matrix A: L U = R A[p][:, q] C for permutations p and q and diagonal scales R and
// C. Several goroutines may call all methods but Refactor at once.
type LU struct {
	opt   LUOptions
	m     matching
	a     *sparse.CSR[float64] // the matrix that the factors are of: m applied to A
	front *multifrontal.LUFactor
	left  *leftlooking.LU
	norm  float64 // 1-norm of A
	// failed is the error of the last Refactor, after which the factors are undefined.
	failed error
	work   sync.Pool
}

// NewLU returns complete factors of a square matrix. They take much more memory than the matrix, as they have entries
// where it has none; MaxBytes limits it. Duplicates are added.
//
// A matrix that is not valid, not square, or has a value that is not finite is a *sparse.InputError. A matrix that is
// singular, structurally or as a column has no nonzero pivot, is a *SingularError: with Multifrontal only structurally,
// while other singular matrices get a replaced pivot. Factors that do not fit in memory are a *MemoryError in a
// *sparse.InputError; Multifrontal finds that before it computes. If ctx ends, so does NewLU, with its error.
func NewLU(ctx context.Context, a *sparse.CSR[float64], opt LUOptions) (f *LU, err error) {
	defer rescue.To(&err)
	if err := check(ctx, a); err != nil {
		return nil, err
	}
	if opt.MaxBytes < 0 {
		return nil, sparse.Inputf("MaxBytes", "%d is negative", opt.MaxBytes)
	}
	f = &LU{opt: opt, norm: normOf(a)}
	switch opt.Kind {
	case Auto:
		err = f.choose(ctx, a)
	case Multifrontal:
		err = f.multifrontal(ctx, a, diagonalScale(a))
	case LeftLooking:
		err = f.leftLooking(ctx, a, leftlooking.DefaultTolerance)
	default:
		err = sparse.Inputf("Kind", "%d is not a LUKind", int(opt.Kind))
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

// frontWork is the work for each entry of the factors from which Multifrontal is faster for matrices whose pattern is not
// symmetric.
const frontWork = 64

// choose computes the factors of the kind that is likely to be the fastest, and others where it fails.
//
// Multifrontal is faster for matrices with a symmetric pattern, except diagonal ones and those like them. Other matrices
// have more fill in A + A' than LeftLooking has on the block triangular form, unless there is much fill anyway.
func (f *LU) choose(ctx context.Context, a *sparse.CSR[float64]) error {
	scale := diagonalScale(a)
	if a.NNZ() <= 2*int64(a.Rows) || scale == nil && patternSymmetry(a) < 0.5 {
		clean, err := new(matching).place(a)
		if err != nil {
			return err
		}
		s, err := leftlooking.Analyze(ctx, clean, f.leftOptions(leftlooking.DefaultTolerance))
		if err != nil {
			return publicError(err)
		}
		if c := s.Predicted(); 2*c.Work <= frontWork*float64(c.L+c.U) {
			return f.keepLeft(ctx, s, clean)
		}
	}
	if err := f.multifrontal(ctx, a, scale); err != nil {
		return err
	}
	if f.trial() <= accurate {
		return nil
	}
	return f.leftLooking(ctx, a, 1)
}

// patternSymmetry returns the fraction of the entries (i, j) outside the diagonal for which there is an entry (j, i), from
// rows at equal distances.
func patternSymmetry(a *sparse.CSR[float64]) float64 {
	const rows = 500
	step := max(a.Rows/rows, 1)
	all, both := 0, 0
	for i := 0; i < a.Rows; i += step {
		for _, j := range a.ColIdx[a.RowPtr[i]:a.RowPtr[i+1]] {
			if int(j) == i {
				continue
			}
			all++
			if slices.Contains(a.ColIdx[a.RowPtr[j]:a.RowPtr[j+1]], int32(i)) {
				both++
			}
		}
	}
	if all == 0 {
		return 1
	}
	return float64(both) / float64(all)
}

// multifrontal computes factors by fronts of a. scale is diagonalScale(a). Without such a scale it matches rows with
// columns. If the pattern is symmetric, it first tries to keep it so, with less fill.
func (f *LU) multifrontal(ctx context.Context, a *sparse.CSR[float64], scale []float64) error {
	if scale != nil {
		return f.fronts(ctx, a, matching{rowScale: scale, colScale: scale}, nil)
	}
	found, err := fullMatching(ctx, a)
	if err != nil {
		return err
	}
	if f.opt.Order == nil && patternSymmetry(a) == 1 {
		if c := clustersOf(found); c != nil {
			scale := symmetricScale(found)
			err := f.fronts(ctx, a, matching{rowScale: scale, colScale: scale}, c)
			if err != nil || f.trial() <= accurate {
				return err
			}
		}
	}
	return f.fronts(ctx, a, matchedRows(found), nil)
}

// fronts computes factors by fronts of a with the matching m. Clusters are columns to keep together, or nil.
func (f *LU) fronts(ctx context.Context, a *sparse.CSR[float64], m matching, c *clusters) error {
	b, err := m.place(a)
	if err != nil {
		return err
	}
	s, err := analyze(ctx, b, f.opt.Order, c, multifrontal.LU, f.opt.MaxBytes, f.opt.Accept)
	if err != nil {
		return err
	}
	f.m, f.a = m, b
	return f.values(ctx, s, nil)
}

// Thresholds of pivots, relative to the largest entry of the scaled matrix, below which they are replaced. The first one
// keeps small pivots, which are right if the matrix is ill-conditioned; the second one, of Li and Demmel (Making sparse
// Gaussian elimination scalable by static pivoting, Supercomputing 1998), keeps the factors bounded.
var tinyPivots = []float64{0x1p-48, 0x1p-26}

// suspectGrowth is the growth above which a trial shows whether refinement works.
const suspectGrowth = 1e4

// values computes factors by fronts of f.a.
func (f *LU) values(ctx context.Context, s *multifrontal.Analysis, memory *multifrontal.LUFactor) error {
	largest := dense.Largest(0, f.a.Val)
	for _, tiny := range tinyPivots {
		g, err := s.FactorLU(ctx, f.a.Val, 1, math.Max(tiny*largest, math.SmallestNonzeroFloat64), memory)
		if err != nil {
			return err
		}
		f.front, memory = g, g
		if f.trial() <= accurate {
			break
		}
	}
	return nil
}

// trial returns the backward error of the solution of a system, or 0 if there is nothing to suspect.
func (f *LU) trial() float64 {
	if f.front.Replaced() == 0 && f.front.Growth() <= suspectGrowth {
		return 0
	}
	n := f.Size()
	b := make([]float64, n)
	for i := range b {
		b[i] = 1 + float64(i%7)/8
	}
	return f.refined(b, make([]float64, n), false).backward
}

func (f *LU) leftOptions(tolerance float64) leftlooking.Options {
	return leftlooking.Options{Tolerance: tolerance, MaxBytes: f.opt.MaxBytes}
}

// leftLooking computes factors of a column by column.
func (f *LU) leftLooking(ctx context.Context, a *sparse.CSR[float64], tolerance float64) error {
	b, err := new(matching).place(a)
	if err != nil {
		return err
	}
	s, err := leftlooking.Analyze(ctx, b, f.leftOptions(tolerance))
	if err != nil {
		return publicError(err)
	}
	return f.keepLeft(ctx, s, b)
}

// keepLeft computes factors of b, whose analysis is s, column by column.
func (f *LU) keepLeft(ctx context.Context, s *leftlooking.Symbolic, b *sparse.CSR[float64]) error {
	if err := accept(f.opt.Accept, leftInfo(s.Predicted(), b.Rows)); err != nil {
		return err
	}
	g, err := s.Factor(ctx, b)
	if err != nil {
		return publicError(err)
	}
	f.m, f.a, f.left, f.front = matching{}, b, g, nil
	return nil
}

// Size returns the number of rows of A.
func (f *LU) Size() int { return f.a.Rows }

// Info describes the factors.
func (f *LU) Info() Info {
	if f.left != nil {
		i := f.left.Info()
		info := leftInfo(i.Counts, f.Size())
		info.Growth = i.Growth
		return info
	}
	info := frontInfo(f.front.Analysis)
	info.Replaced, info.Growth = f.front.Replaced(), f.front.Growth()
	return info
}

// Refactor replaces the factors by those of a matrix with the same pattern and other values. It keeps the order, the
// scales and the kind, and computes values only. With LeftLooking it keeps the pivots as well; where these do not suit
// the new values, it chooses others. With Auto it takes LeftLooking with partial pivoting where solutions with the new
// factors of Multifrontal are inaccurate.
//
// A matrix with another pattern is a *sparse.InputError, and leaves the factors as they were. After other errors, which
// are those of NewLU, solves return the same error until another Refactor succeeds.
func (f *LU) Refactor(ctx context.Context, a *sparse.CSR[float64]) (err error) {
	defer rescue.To(&err)
	if err := check(ctx, a); err != nil {
		return err
	}
	if a.Rows != f.Size() {
		return sparse.Inputf("matrix", "%d rows: the factors have %d", a.Rows, f.Size())
	}
	b, err := f.m.place(a)
	if err != nil {
		return err
	}
	if !slices.Equal(b.RowPtr, f.a.RowPtr) || !slices.Equal(b.ColIdx, f.a.ColIdx) {
		return sparse.Inputf("matrix", "its entries are at other places than those of the matrix that was factored")
	}
	f.failed = f.refactor(ctx, a, b)
	return f.failed
}

// refactor computes the factors of a, which f.m makes b.
func (f *LU) refactor(ctx context.Context, a, b *sparse.CSR[float64]) error {
	f.a, f.norm = b, normOf(a)
	if f.left != nil {
		return f.refactorLeft(ctx, b)
	}
	if err := f.values(ctx, f.front.Analysis, f.front); err != nil {
		return err
	}
	if f.opt.Kind != Auto || f.trial() <= accurate {
		return nil
	}
	return f.leftLooking(ctx, a, 1)
}

// refactorLeft computes the factors of b column by column, with the pivots of the last factors if they suit.
func (f *LU) refactorLeft(ctx context.Context, b *sparse.CSR[float64]) error {
	const suits = 1e4 // growth
	if err := f.left.Refactor(ctx, b); err == nil && f.left.Info().Growth <= suits {
		return nil
	}
	g, err := leftlooking.Factor(ctx, b, f.leftOptions(leftlooking.DefaultTolerance))
	if err != nil {
		return publicError(err)
	}
	f.left = g
	return nil
}

// normOf returns the 1-norm of a, with duplicates taken for separate entries.
func normOf(a *sparse.CSR[float64]) float64 {
	sums := make([]float64, a.Cols)
	for k, j := range a.ColIdx {
		sums[j] += math.Abs(a.Val[k])
	}
	if len(sums) == 0 {
		return 0
	}
	return slices.Max(sums)
}

package leftlooking

import (
	"context"
	"math"
	"slices"

	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/order"
)

// Symbolic has the block form and the order of the pattern of a matrix. It does not change
// and may factor several matrices at the same time.
type Symbolic struct {
	n   int
	opt Options

	rowPtr []int64 // pattern of the matrix
	colIdx []int32

	// Position k has row rows[k] and column cols[k] of the matrix; column j has position
	// colAt[j]. Entries (rows[k], cols[k]) are in the pattern.
	rows, cols, colAt []int32

	// Scales of rows and columns of the matrix, powers of two; nil: each row is scaled by its
	// largest entry.
	rowScale, colScale []float64

	start []int   // first position of each block, then n
	first []int32 // first position of the block of each position
	entries

	predicted []int64 // entries of L below the diagonal of each block, predicted
	counts    Counts
}

// Counts are the sizes of factors.
type Counts struct {
	Blocks  int // diagonal blocks
	Largest int // rows of the largest block
	// L and U are the entries of the factors, each with its diagonal; F those above the
	// blocks.
	L, U, F int64
	// Work is the number of multiply-add operations that compute L and U.
	Work float64
	// Bytes is the memory for L, U and F that is in use.
	Bytes int64
}

// Predicted returns a bound of the counts for pivots on the diagonal: the pattern of each
// block is taken to be that of A + A'. Other pivots may need more. For blocks that are
// ordered by columns it is a bound for all pivots, and often several times too high.
func (s *Symbolic) Predicted() Counts { return s.counts }

// Analyze finds the block form and the order of a square matrix with sorted rows and no
// duplicates. It matches all rows with columns: by the diagonal if that is strong, or else by
// the largest product. It takes the strongly connected components as blocks, and orders each
// by approximate minimum degree of A + A', or of A'A where that predicts less fill.
//
// A matrix that is structurally singular without its zero entries is a *SingularError.
func Analyze(ctx context.Context, a *sparse.CSR[float64], opt Options) (*Symbolic, error) {
	opt, err := opt.normalized()
	if err != nil {
		return nil, err
	}
	if a.Rows != a.Cols {
		return nil, sparse.Inputf("matrix", "%d rows and %d columns: a factorisation needs a square matrix", a.Rows, a.Cols)
	}
	n := a.Rows
	s := &Symbolic{n: n, opt: opt, rowPtr: slices.Clone(a.RowPtr), colIdx: slices.Clone(a.ColIdx)}
	matched, err := s.match(ctx, a)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	blocks, err := order.BlockTriangular(a, matched)
	if err != nil {
		return nil, err
	}
	s.rows, s.cols, s.start = blocks.Rows, blocks.Cols, blocks.Start
	s.first, s.colAt = make([]int32, n), make([]int32, n)
	s.predicted = make([]int64, len(s.start)-1)
	s.number(0, n)
	for b := range s.predicted {
		lo, hi := s.start[b], s.start[b+1]
		for k := lo; k < hi; k++ {
			s.first[k] = int32(lo)
		}
		if err := ctx.Err(); err != nil && hi-lo > 1 {
			return nil, err
		}
		if err := s.orderBlock(a, b); err != nil {
			return nil, err
		}
	}
	s.permute(a)
	s.count()
	return s, nil
}

// number sets colAt for the positions [lo, hi).
func (s *Symbolic) number(lo, hi int) {
	for k := lo; k < hi; k++ {
		s.colAt[s.cols[k]] = int32(k)
	}
}

// orderBlock orders block b and predicts its factors.
func (s *Symbolic) orderBlock(a *sparse.CSR[float64], b int) error {
	lo, hi := s.start[b], s.start[b+1]
	s.counts.Largest = max(s.counts.Largest, hi-lo)
	switch hi - lo {
	case 1:
		return nil
	case 2: // any order is the same
		s.predicted[b] = 1
		s.counts.Work += 2
		return nil
	}
	block := s.block(a, lo, hi)
	p, entries, work, err := s.bestOrder(block)
	if err != nil {
		return err
	}
	rows, cols := make([]int32, hi-lo), make([]int32, hi-lo)
	for k, old := range p {
		rows[k], cols[k] = s.rows[lo+int(old)], s.cols[lo+int(old)]
	}
	copy(s.rows[lo:hi], rows)
	copy(s.cols[lo:hi], cols)
	s.number(lo, hi)
	s.predicted[b] = entries
	s.counts.Work += work
	return nil
}

const (
	// A column order is tried if the order of A + A' lets expect minWork multiply-add operations
	// for each entry of the block, and at most maxSymmetry of the entries off the diagonal
	// have a mirror image. It takes about as long as 100 operations for each entry.
	minWork, maxSymmetry = 500, 0.6
	// pivoting is by how much partial pivoting is taken to exceed the entries that the order
	// of A + A' predicts. It suits 30 systems of the collection.
	pivoting = 2.2
)

// bestOrder returns the order of a block with the lowest prediction: the entries of L below
// its diagonal and the multiply-add operations.
func (s *Symbolic) bestOrder(block *sparse.CSR[float32]) (p []int32, entries int64, work float64, err error) {
	if p, err = order.AMD(block); err != nil {
		return nil, 0, 0, err
	}
	entries, work = choleskyCounts(block, p)
	expected, expectedWork := float64(entries), work
	if s.opt.Tolerance == 1 {
		expected, expectedWork = pivoting*expected, pivoting*pivoting*expectedWork
	}
	if expectedWork < minWork*float64(block.NNZ()) {
		return p, entries, work, nil
	}
	if symmetry, _, err := order.Symmetry(block); err != nil || symmetry > maxSymmetry {
		return p, entries, work, err
	}
	byColumns, err := order.ColumnAMD(block)
	if err != nil {
		return nil, 0, 0, err
	}
	bound, boundWork := choleskyCounts(rowCliques(block, byColumns), byColumns)
	if float64(bound) < expected {
		return byColumns, bound, boundWork, nil
	}
	return p, entries, work, nil
}

// block returns the entries of the diagonal block at the positions [lo, hi), without their
// values.
func (s *Symbolic) block(a *sparse.CSR[float64], lo, hi int) *sparse.CSR[float32] {
	m := hi - lo
	out := &sparse.CSR[float32]{Rows: m, Cols: m, RowPtr: make([]int64, m+1)}
	count := 0
	for k := lo; k < hi; k++ {
		i := s.rows[k]
		count += int(a.RowPtr[i+1] - a.RowPtr[i])
	}
	out.ColIdx = make([]int32, 0, count)
	for k := lo; k < hi; k++ {
		i := s.rows[k]
		for _, j := range a.ColIdx[a.RowPtr[i]:a.RowPtr[i+1]] {
			if c := int(s.colAt[j]) - lo; c >= 0 && c < m {
				out.ColIdx = append(out.ColIdx, int32(c))
			}
		}
		out.RowPtr[k-lo+1] = int64(len(out.ColIdx))
	}
	out.Val = make([]float32, len(out.ColIdx))
	return out
}

// count sets the counts of all blocks.
func (s *Symbolic) count() {
	s.counts.Blocks = len(s.start) - 1
	for _, l := range s.predicted {
		s.counts.L += l
	}
	s.counts.L += int64(s.n)
	s.counts.U, s.counts.F = s.counts.L, int64(len(s.offRow))
	s.counts.Bytes = factorBytes(s.n, s.counts.L-int64(s.n), s.counts.U-int64(s.n), s.counts.F)
}

// match returns the row of each column in a matching of all, nil for the diagonal, and sets
// the scales. Where the diagonal is not strong it takes the matching with the largest product,
// whose scales make the matched entries the largest ones of their rows and columns. That
// keeps most pivots on the diagonal, and the fill low.
func (s *Symbolic) match(ctx context.Context, a *sparse.CSR[float64]) ([]int32, error) {
	scale := make([]float64, a.Rows)
	for i := range scale {
		var err error
		if scale[i], err = rowScale(a, i); err != nil {
			return nil, err
		}
	}
	if strongDiagonal(a, scale) {
		return nil, nil
	}
	m, err := order.MatchContext(ctx, a)
	if err != nil {
		return nil, err
	}
	if m.Size == a.Rows {
		if s.opt.Tolerance < 1 {
			s.rowScale, s.colScale = powersOfTwo(m.RowScale), powersOfTwo(m.ColScale)
		}
		return m.Rows, nil
	}
	return nil, structurallySingular(m.Rows, m.Size)
}

func structurallySingular(rows []int32, size int) error {
	matched := make([]bool, len(rows))
	e := &SingularError{Structural: true, Rank: size}
	for j, i := range rows {
		if i < 0 {
			e.Columns = append(e.Columns, j)
		} else {
			matched[i] = true
		}
	}
	for i, ok := range matched {
		if !ok {
			e.Rows = append(e.Rows, i)
		}
	}
	return e
}

// maxWeak is the fraction of weak entries on the diagonal from which a matching is sought.
const maxWeak = 0.1

// strongDiagonal reports whether the diagonal has no gap, and few of its entries are so small
// that they cannot become pivots with the default tolerance even before elimination, if the
// rows are scaled as given.
func strongDiagonal(a *sparse.CSR[float64], scale []float64) bool {
	n := a.Rows
	diagonal, largest := make([]float64, n), make([]float64, n) // of each column
	for i, r := range scale {
		lo, hi := a.RowPtr[i], a.RowPtr[i+1]
		idx, val := a.ColIdx[lo:hi], a.Val[lo:hi]
		for p, j := range idx {
			v := r * math.Abs(val[p])
			if int(j) == i {
				diagonal[i] = v
			}
			if v > largest[j] {
				largest[j] = v
			}
		}
		if diagonal[i] == 0 {
			return false
		}
	}
	weak := 0
	for j, v := range diagonal {
		if v < DefaultTolerance*largest[j] {
			weak++
		}
	}
	return float64(weak) <= maxWeak*float64(n)
}

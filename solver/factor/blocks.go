package factor

import (
	"context"
	"fmt"

	"github.com/msrep-go/msrep/internal/given"
	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/internal/rescue"
	"github.com/msrep-go/msrep/sparse"
)

// Preconditioner is an approximate inverse M of a matrix; see solver.Preconditioner.
type Preconditioner interface {
	// Size returns the number of rows and columns of M.
	Size() int
	// Apply computes z = M r. r and z have Size elements and do not overlap.
	Apply(r, z []float64) error
}

// Blocks are preconditioners of the blocks on the diagonal of a matrix: additive Schwarz without overlap, or block
// Jacobi with large blocks. Several goroutines apply them.
type Blocks struct {
	n      int
	starts []int
	blocks []Preconditioner // nil for a block without rows
}

// NewBlocks returns the preconditioner that applies to each block on the diagonal of a square matrix what build makes
// of it. Block k has the rows and columns from starts[k] up to starts[k+1], or to the last: starts begins with 0 and
// never decreases. Several goroutines call build, but not for a block without rows. The result depends on starts, not
// on the number of goroutines.
//
// A matrix that is not valid or not square, wrong starts, and a nil build are a *sparse.InputError. The error of build
// is returned with the rows of its block; of several, that of the first block.
func NewBlocks(ctx context.Context, a *sparse.CSR[float64], starts []int, build func(ctx context.Context, block *sparse.CSR[float64]) (Preconditioner, error)) (b *Blocks, err error) {
	defer rescue.To(&err)
	if err := check(ctx, a); err != nil {
		return nil, err
	}
	if build == nil {
		return nil, sparse.Inputf("build", "is nil")
	}
	if err := checkStarts(starts, a.Rows); err != nil {
		return nil, err
	}
	b = &Blocks{n: a.Rows, starts: append(starts[:len(starts):len(starts)], a.Rows), blocks: make([]Preconditioner, len(starts))}
	err = b.each(func(k, lo, hi int) error {
		m, err := build(ctx, diagonalBlock(a, lo, hi))
		if err != nil {
			return err
		}
		if given.Nothing(m) {
			return sparse.Inputf("build", "returned no preconditioner")
		}
		if m.Size() != hi-lo {
			return sparse.Inputf("build", "returned a preconditioner of %d rows", m.Size())
		}
		b.blocks[k] = m
		return nil
	})
	if err != nil {
		return nil, err
	}
	return b, nil
}

func checkStarts(starts []int, n int) error {
	if len(starts) == 0 || starts[0] != 0 {
		return sparse.Inputf("starts", "%d: the first block begins with row 0", starts)
	}
	for k, s := range starts {
		if s > n || k > 0 && s < starts[k-1] {
			return sparse.Inputf("starts", "block %d begins with row %d: the last one begins with row %d, and there are %d rows", k, s, starts[max(k-1, 0)], n)
		}
	}
	return nil
}

// each calls f for each block with rows, on several goroutines, and returns the error of the first block that has one.
func (b *Blocks) each(f func(k, lo, hi int) error) error {
	errs := make([]error, len(b.blocks))
	par.Range(int64(len(errs)), 1, func(first, end int64) {
		for k := int(first); k < int(end); k++ {
			if lo, hi := b.starts[k], b.starts[k+1]; lo < hi {
				errs[k] = f(k, lo, hi)
			}
		}
	})
	for k, err := range errs {
		if err != nil {
			return fmt.Errorf("block of rows %d to %d: %w", b.starts[k], b.starts[k+1]-1, err)
		}
	}
	return nil
}

// diagonalBlock returns the rows and columns of a from lo up to hi.
func diagonalBlock(a *sparse.CSR[float64], lo, hi int) *sparse.CSR[float64] {
	b := &sparse.CSR[float64]{Rows: hi - lo, Cols: hi - lo, RowPtr: make([]int64, 1, hi-lo+1)}
	for i := lo; i < hi; i++ {
		for k := a.RowPtr[i]; k < a.RowPtr[i+1]; k++ {
			if j := int(a.ColIdx[k]); j >= lo && j < hi {
				b.ColIdx, b.Val = append(b.ColIdx, int32(j-lo)), append(b.Val, a.Val[k])
			}
		}
		b.RowPtr = append(b.RowPtr, int64(len(b.Val)))
	}
	return b
}

// Size returns the number of rows of the matrix.
func (b *Blocks) Size() int { return b.n }

// Apply computes z = M r, block by block. An error is that of the first block that has one.
func (b *Blocks) Apply(r, z []float64) error {
	if err := checkApply(b.n, r, z); err != nil {
		return err
	}
	return b.each(func(k, lo, hi int) error { return b.blocks[k].Apply(r[lo:hi], z[lo:hi]) })
}
